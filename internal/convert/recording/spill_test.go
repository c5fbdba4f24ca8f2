package recording

import (
	"math"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestRunHeader: what the header of a message in a run has comes back, also a length of
// over 4 GiB and the block of repeated messages.
func TestRunHeader(t *testing.T) {
	want := storage.Message{Topic: math.MaxUint32, Sequence: 7, LogTime: math.MinInt64, PublishTime: math.MaxInt64}
	for _, n := range []uint64{0, 1 << 31, 1<<32 + 5, 1 << 40} {
		var head [runHeader]byte
		putRunHeader(&head, repeatedBlock, &want, n)
		if block, m, length := parseRunHeader(&head); block != repeatedBlock || length != n || !reflect.DeepEqual(m, want) {
			t.Errorf("block %d, %d bytes, %+v; want %d bytes, %+v", block, length, m, n, want)
		}
	}
}
