package rosbag1

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// FuzzQuery asks any bytes for anything.
func FuzzQuery(f *testing.F) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		whole, _ := smallBag(f, codec)
		f.Add(whole, int64(0), int64(0), int64(5), false)
		f.Add(whole[:len(whole)*2/3], int64(0), int64(1)<<62, int64(0), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, start, end, limit int64, reverse bool) {
		r, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
		if err != nil {
			return
		}
		defer r.Close()
		ask := storage.Query{Start: start, End: end, Limit: max(limit, 0), Reverse: reverse}
		if i := info(t, r); len(i.Topics) > 1 {
			ask.Topics = []storage.TopicID{1, 0}
		}
		storagetest.CheckQuery(t, r, ask)
	})
}

// TestQueryWithoutIndex: a bag that was not closed, and one with other records in
// the place of INDEX_DATA, are queried all the same.
func TestQueryWithoutIndex(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		whole, messages := smallBag(t, codec)
		open := append([]byte(nil), whole...)
		copy(open[13:], (&writer{}).fileHeader(0)[13:])
		none := bytes.ReplaceAll(whole, []byte("op=\x04"), []byte("op=\x63"))
		if bytes.Equal(none, whole) {
			t.Fatal("no INDEX_DATA")
		}
		for name, b := range map[string][]byte{"not closed": open, "no INDEX_DATA": none} {
			r, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
			if err != nil {
				t.Fatal(err)
			}
			if i := info(t, r.(*reader)); i.Messages != int64(len(messages)) {
				t.Errorf("%s: %d messages", name, i.Messages)
			}
			storagetest.CheckQueries(t, r, 3, 50)
			r.Close()
		}
	}
}

// TestQueryCache: chunks that overlap in time are more than the cache holds.
func TestQueryCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	w, err := createWriter(context.Background(), path, storage.WriteOptions{Compression: "lz4", ChunkSize: 20 << 20,
		NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	topic, err := w.CreateTopic(storage.Topic{Name: "/a", Type: "a/A", Encoding: encoding})
	if err != nil {
		t.Fatal(err)
	}
	const chunks = 6
	data := make([]byte, 10<<20)
	for i := range int64(2 * chunks) { // two in each chunk, the second of them late
		at := i/2 + i%2*chunks
		data[0] = byte(at)
		if err := w.Write(&storage.Message{Topic: topic, LogTime: at, PublishTime: at, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	r := open(t, path, storage.ReadOptions{})
	at := int64(0)
	for m, err := range r.Query(context.Background(), storage.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if m.LogTime != at || m.Data[0] != byte(at) {
			t.Errorf("message %d is at %d with %d", at, m.LogTime, m.Data[0])
		}
		at++
	}
	if at != 2*chunks {
		t.Errorf("%d messages", at)
	}
}

// BenchmarkQueryLast opens a bag of 64 MB and reads one message of it.
func BenchmarkQueryLast(b *testing.B) {
	for _, codec := range Format.Options.Choices(storage.NameCompression)[:2] {
		b.Run(codec, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.bag")
			b.SetBytes(writeBench(b, path, codec, 1<<16, 1000))
			b.ReportAllocs()
			for b.Loop() {
				r, err := openReader(context.Background(), path, storage.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for _, err := range r.(storage.Querier).Query(context.Background(), storage.Query{Reverse: true, Limit: 1}) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
				if n != 1 {
					b.Fatal(n)
				}
				r.Close()
			}
		})
	}
}
