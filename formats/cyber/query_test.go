package cyber

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// FuzzQuery asks any bytes for anything.
func FuzzQuery(f *testing.F) {
	f.Add(newRecord(nil).channel("/a", "test.String", testDesc()).channel("/b", "", nil).chunk(three...).chunk(three[1]).b,
		int64(0), int64(0), int64(2), false)
	f.Add(tiny(f)[:6000], int64(0), int64(1)<<62, int64(0), true)
	f.Add(newRecord(nil).channel("/a", "test.String", nil).channel("/a", "other", nil).chunk(three...).section(1,
		[]byte("\x08\x01\x10\x05")).section(2, body(three...)).b, int64(0), int64(0), int64(0), true)
	f.Fuzz(func(t *testing.T, b []byte, start, end, limit int64, reverse bool) {
		if len(b) > maxFuzz {
			return
		}
		r, err := openReader(context.Background(), "x.record", storage.ReadOptions{FS: memFS{b: b}})
		if err != nil {
			return
		}
		defer r.Close()
		ask := storage.Query{Start: start, End: end, Limit: max(limit, 0), Reverse: reverse}
		if info := r.Info(); len(info.Topics) > 1 {
			ask.Topics = []storage.TopicID{1, 0}
		}
		storagetest.CheckQuery(t, r, ask)
	})
}

// TestQueryWithoutIndex: a record without an index is queried all the same.
func TestQueryWithoutIndex(t *testing.T) {
	b := newRecord(nil).channel("/a", "test.String", testDesc()).channel("/b", "test.String", testDesc()).
		chunk(three...).chunk(three[1]).chunk(three[2], three[0]).b
	r, err := openReader(context.Background(), "x.record", storage.ReadOptions{FS: memFS{b: b}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	if info.Messages != 6 {
		t.Fatalf("%+v, %v", info, err)
	}
	storagetest.CheckQueries(t, r, 5, 200)
}

// TestQueryHeaderLies: a chunk whose header, and the index after it, has times
// that its messages do not have ends a query with an error, not with another order.
func TestQueryHeaderLies(t *testing.T) {
	path := t.TempDir() + "/x.record"
	c := storagetest.Config{Format: Format, Encoding: encoding, Type: "test.String",
		Schema: storage.Schema{Encoding: encoding, Data: testSet()}}
	rec := c.Generate(1, storagetest.Spec{Topics: 1, Messages: 100, MaxSize: 100, Step: 1000})
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
		t.Fatal(err)
	}
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.(*reader).files[0].chunks[0].end -= 5000
	n, last := 0, error(nil)
	for _, err := range r.(storage.Querier).Query(context.Background(), storage.Query{}) {
		if last = err; err == nil {
			n++
		}
	}
	if !isOurs(last) || n > 95 {
		t.Errorf("%d messages and %v", n, last)
	}
}
