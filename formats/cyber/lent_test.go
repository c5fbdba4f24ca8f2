package cyber

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// TestLent: the data of a message that is larger than a chunk is written from where it
// lies, and only then: it may change as soon as Write has returned.
func TestLent(t *testing.T) {
	const chunk = 512 << 10
	for _, c := range []struct {
		sizes []int
		lent  []bool // by chunk
	}{
		{[]int{chunk + 1}, []bool{true}},
		{[]int{chunk}, []bool{false}},
		{[]int{10, chunked.MinLent, 10}, []bool{false}},
		{[]int{10, 3 * chunk, 0, 10, 5 * chunk, 5 * chunk}, []bool{false, true, false, true, true}},
	} {
		t.Run(fmt.Sprint(c.sizes), func(t *testing.T) {
			for _, inline := range []bool{true, false} {
				path := filepath.Join(t.TempDir(), "x.record")
				lent := writeLent(t, path, chunk, c.sizes, inline)
				if !inline && fmt.Sprint(lent) != fmt.Sprint(c.lent) {
					t.Errorf("chunks that are lent: %v, want %v", lent, c.lent)
				}
				f := walkFile(t, path)
				if len(f.messages) != len(c.sizes) || len(f.chunks) != len(c.lent) {
					t.Fatalf("%d messages in %d chunks", len(f.messages), len(f.chunks))
				}
				for i, m := range f.messages {
					if !bytes.Equal(m.GetContent(), bytes.Repeat([]byte{byte(i + 1)}, c.sizes[i])) {
						t.Errorf("message %d of %d bytes differs", i, c.sizes[i])
					}
				}
			}
		})
	}
}

// writeLent writes messages from one buffer, and returns which chunks were lent. Chunks
// are appended as late as they may be.
func writeLent(t *testing.T, path string, chunk int64, sizes []int, inline bool) (lent []bool) {
	t.Helper()
	created, err := createWriter(context.Background(), path, storage.WriteOptions{ChunkSize: chunk})
	if err != nil {
		t.Fatal(err)
	}
	w := created.(*writer)
	if _, err := w.CreateTopic(storage.Topic{Name: "/t", Type: "p.T", Encoding: encoding}); err != nil {
		t.Fatal(err)
	}
	var waiting []storage.PendingBlock
	appendAll := func() {
		for _, b := range waiting {
			if err := b.Append(); err != nil {
				t.Fatal(err)
			}
		}
		waiting = nil
	}
	if !inline {
		w.OnBlock(func(b storage.PendingBlock) error {
			waiting, lent = append(waiting, b), append(lent, b.Lent())
			if b.Lent() {
				appendAll()
			}
			return nil
		})
	}
	var buf []byte
	for i, size := range sizes {
		buf = append(buf[:0], bytes.Repeat([]byte{byte(i + 1)}, size)...)
		if err := w.Write(&storage.Message{LogTime: int64(i + 1), Data: buf}); err != nil {
			t.Fatal(err)
		}
		clear(buf)
	}
	if err := w.Flush(false); err != nil {
		t.Fatal(err)
	}
	appendAll()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return lent
}
