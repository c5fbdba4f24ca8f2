package ros2bag

import (
	"bytes"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
)

// TestPackMessage: what is written is read: a message that becomes ten thousand times smaller, too.
func TestPackMessage(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 20, 90 << 20} {
		data := make([]byte, n)
		if n > 0 {
			data[n/2] = 1
		}
		frame, err := PackMessage([]byte("before"), data, 0)
		if err != nil {
			t.Fatal(err)
		}
		frame = frame[len("before"):]
		got, err := compress.Zstd.Decode(nil, frame, UnpackedSize(frame, len(frame)))
		if size, ok := compress.ZstdSize(frame); err != nil || !bytes.Equal(got, data) || !ok || size != int64(n) {
			t.Errorf("%d bytes: %d came back of a frame of %d, %v", n, len(got), len(frame), err)
		}
	}
}
