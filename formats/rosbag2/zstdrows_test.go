package rosbag2

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
	"github.com/klauspost/compress/zstd"
)

// packed returns a frame of n zeros after a CDR header; the frame states its size.
func packed(t *testing.T, n int) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	check(t, err)
	return e.EncodeAll(append([]byte{0, 1, 0, 0}, make([]byte, n)...), nil)
}

// openRows opens a recording of rows with the given data.
func openRows(t *testing.T, rows ...[]byte) *reader {
	t.Helper()
	messages := make([]storage.Message, len(rows))
	for i := range rows {
		messages[i] = storage.Message{LogTime: int64(i), Data: rows[i]}
	}
	path := filepath.Join(t.TempDir(), "bag")
	write(t, path, storage.WriteOptions{}, sampleTopics(), messages)
	r, err := open(t.Context(), path, storage.ReadOptions{})
	check(t, err)
	t.Cleanup(func() { check(t, r.Close()) })
	return r.(*reader)
}

// TestZstdBlocks: blocks of compressed rows are cut by what the rows become, which the
// memory that they state covers.
func TestZstdBlocks(t *testing.T) {
	const large, rows = 4 << 20, 10
	one := packed(t, large)
	r := openRows(t, slices.Repeat([][]byte{one}, rows)...)
	blocks, _, err := r.Blocks(t.Context(), nil)
	check(t, err)
	var b storage.Batch
	total := 0
	for i, block := range blocks {
		check(t, r.ReadBlock(t.Context(), i, &b))
		total += len(b.Messages)
		if len(b.Messages) > 1 || block.RawSize < int64(len(b.Buf)) || block.Size > int64(2*len(one)) {
			t.Errorf("block %d: %d rows of %d bytes, which states %d in memory and %d in the file", i, len(b.Messages),
				len(b.Buf), block.RawSize, block.Size)
		}
	}
	if total != rows {
		t.Errorf("%d of %d rows", total, rows)
	}
	r = openRows(t, slices.Repeat([][]byte{packed(t, 2000)}, 4000)...)
	if blocks, _, err = r.Blocks(t.Context(), nil); err != nil || len(blocks) < 3 || len(blocks) > 6 {
		t.Errorf("4,000 rows of 2,000 bytes are in %d blocks, %v", len(blocks), err)
	}
}

// TestZstdBombs: a row that becomes more than it states is left out, and so are rows of
// a recording without a mark of compression, when they become too large together.
// Both are reported.
func TestZstdBombs(t *testing.T) {
	small, large := packed(t, 100), packed(t, 30<<20)
	for name, rows := range map[string][][]byte{
		"second frame": {small, slices.Concat(small, large), small},
		"mixed":        {{0, 1, 0, 0, 5}, large, large, large, small},
	} {
		r := openRows(t, rows...)
		n := 0
		for m, err := r.ReadNext(); err != io.EOF; m, err = r.ReadNext() {
			check(t, err)
			if n++; len(m.Data) > 30<<20+4 {
				t.Errorf("%s: a row of %d bytes", name, len(m.Data))
			}
		}
		info := storagetest.InfoOf(r)
		damage := 0
		for _, w := range info.Warnings {
			if w.Code == "zstd" && w.Damage {
				damage++
			}
		}
		if n != len(rows)-1 || damage != 1 {
			t.Errorf("%s: %d of %d rows, %+v", name, n, len(rows), info.Warnings)
		}
	}
}
