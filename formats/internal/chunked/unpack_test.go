package chunked

import (
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
)

// TestUnpack: what a chunk states lifts no bound, and records that really are so large are read. A
// record is a length of 8 bytes, not 0, and as many more.
func TestUnpack(t *testing.T) {
	end := func(b []byte) (end int64, ok bool) {
		for end < int64(len(b)) {
			if int64(len(b))-end < 8 {
				return end + 8, true
			}
			n := int64(binary.LittleEndian.Uint64(b[end:]))
			if n == 0 {
				return 0, false
			}
			end += 8 + n
		}
		return end, true
	}
	record := func(n int) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(n)), make([]byte, n)...)
	}
	small := make([]byte, 0, 50<<20)
	for len(small)+1<<20 < cap(small) {
		small = append(small, record(1<<19)...)
	}
	for name, x := range map[string]struct {
		data  []byte
		size  int64
		whole bool
	}{
		"zeros":               {make([]byte, 80<<20), 80 << 20, false},
		"zeros, 2^62":         {make([]byte, 80<<20), 1 << 62, false},
		"a large record":      {record(80 << 20), 80<<20 + 8, true},
		"many records":        {small, int64(len(small)), true},
		"records, then zeros": {append(record(34<<20), make([]byte, 50<<20)...), 90 << 20, false},
		"a record of any length": {append(binary.LittleEndian.AppendUint64(nil, 1<<40), make([]byte, 50<<20)...), 1 << 41,
			false},
	} {
		for _, codec := range []*compress.Codec{compress.LZ4, compress.BZ2, compress.Zstd} {
			src, err := codec.Encode(nil, x.data, 1)
			if err != nil {
				t.Fatal(err)
			}
			before := allocated()
			out, err := Unpack(codec, nil, src, x.size, end)
			if n := allocated() - before; name == "zeros, 2^62" && n > 8*softLeast {
				t.Errorf("%s, %s: %d bytes were allocated", name, codec.Name(), n)
			}
			if (err == nil) != x.whole || !x.whole && !errors.Is(err, compress.ErrLimit) || x.whole && len(out) != len(x.data) {
				t.Errorf("%s, %s: %d bytes, %v", name, codec.Name(), len(out), err)
			}
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
