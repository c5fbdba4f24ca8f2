package mp4

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

// BenchmarkFrame measures writing frames as they are; bytes are those of the frames.
func BenchmarkFrame(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	noise := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(1 + random.IntN(255)) // no start codes
		}
		return out
	}
	key := tiny(b, H264)[0]
	frames := map[string]struct {
		codec Codec
		data  []byte
	}{
		"jpeg-100k": {JPEG, append(jpegFrame(b, 8, 8, 0), noise(100<<10)...)},
		"jpeg-1m":   {JPEG, append(jpegFrame(b, 8, 8, 0), noise(1<<20)...)},
		"h264-20k":  {H264, append(bytes.Clone(key), noise(20<<10)...)},
		"h264-200k": {H264, append(bytes.Clone(key), noise(200<<10)...)},
		"lengths":   {H264, withLengths(b, append(bytes.Clone(key), noise(200<<10)...))},
	}
	for _, name := range []string{"jpeg-100k", "jpeg-1m", "h264-20k", "h264-200k", "lengths"} {
		b.Run(name, func(b *testing.B) {
			f := frames[name]
			w, err := NewWriter(io.Discard, f.codec)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(f.data)))
			b.ReportAllocs()
			at := int64(0)
			for b.Loop() {
				if err := w.Frame(f.data, at); err != nil {
					b.Fatal(err)
				}
				at += 33e6
			}
		})
	}
}
