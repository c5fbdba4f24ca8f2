package rosbag1

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// The data of a large message that ends a chunk is written from where it lies, and
// only then: it may change as soon as Write has returned.
func TestLent(t *testing.T) {
	const chunk = 512 << 10
	for _, c := range []struct {
		codec *compress.Codec
		sizes []int
		lent  []bool // by chunk
	}{
		{compress.None, []int{chunk + 1}, []bool{true}},
		{compress.None, []int{10, chunked.MinLent, chunked.MinLent, 10}, []bool{true, false}},
		{compress.None, []int{chunked.MinLent - 1, chunked.MinLent, 3 * chunk, 0, 5 * chunk}, []bool{true, true, true}},
		{compress.None, []int{2 * chunked.MinLent, 20, chunked.MinLent - 1, 20, chunked.MinLent - 1}, []bool{true, false}},
		{codecOf([]byte("lz4")), []int{chunk + 1, 10}, []bool{false, false}},
	} {
		t.Run(fmt.Sprint(c.codec.Name(), c.sizes), func(t *testing.T) {
			var messages []storage.Message
			for i, size := range c.sizes {
				at := int64(1_700_000_000_000_000_000 + i)
				messages = append(messages, storage.Message{Topic: storage.TopicID(i % 2), LogTime: at, PublishTime: at,
					Data: bytes.Repeat([]byte{byte(i + 1)}, size)})
			}
			for _, inline := range []bool{true, false} {
				path := filepath.Join(t.TempDir(), "x.bag")
				lent := writeLent(t, path, storage.WriteOptions{Compression: c.codec.Name(), ChunkSize: chunk}, messages, inline)
				if !inline && fmt.Sprint(lent) != fmt.Sprint(c.lent) {
					t.Errorf("chunks that are lent: %v, want %v", lent, c.lent)
				}
				sameBag(t, path, messages, testNames)
			}
		})
	}
}

// writeLent writes messages from one buffer, and returns which chunks were lent.
// Chunks are appended as late as they may be.
func writeLent(t *testing.T, path string, o storage.WriteOptions, messages []storage.Message,
	inline bool) (lent []bool) {
	t.Helper()
	w, err := createWriter(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range testTopics[:2] {
		if _, err := w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	var waiting []storage.PendingBlock
	appendAll := func() {
		for _, b := range waiting {
			if err := b.Encode(); err != nil {
				t.Fatal(err)
			}
			if err := b.Append(); err != nil {
				t.Fatal(err)
			}
		}
		waiting = nil
	}
	if !inline {
		w.(*writer).OnBlock(func(b storage.PendingBlock) error {
			waiting = append(waiting, b)
			lent = append(lent, b.Lent())
			if b.Lent() {
				appendAll()
			}
			return nil
		})
	}
	var buf []byte
	for _, m := range messages {
		buf = append(buf[:0], m.Data...)
		m.Data = buf
		if err := w.Write(&m); err != nil {
			t.Fatal(err)
		}
		clear(buf)
	}
	if err := w.(*writer).Flush(false); err != nil {
		t.Fatal(err)
	}
	appendAll()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return lent
}
