package mcap

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestTimesBefore1970: they are u64 of the same bits in the file, where bounds are those of
// numbers without a sign, and come back as they were; the index is believed where it can be.
func TestTimesBefore1970(t *testing.T) {
	for _, c := range []struct {
		times      []int64
		start, end uint64
	}{
		{[]int64{-1, 5, -1 << 63, 1<<63 - 1}, 5, 1<<64 - 1},
		{[]int64{-7, -3}, 1<<64 - 7, 1<<64 - 3},
		{[]int64{0, 4}, 0, 4},
	} {
		rec := storagetest.Recording{Topics: []storage.Topic{{Name: "/a", Type: "x", Encoding: "cdr",
			Metadata: map[string]string{}}}}
		for _, at := range c.times {
			rec.Messages = append(rec.Messages, storage.Message{LogTime: at, PublishTime: at, Data: []byte("x")})
		}
		path := filepath.Join(t.TempDir(), "x.mcap")
		if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true, CheckIndexes: true})
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := r.(*reader).readSummary()
		if err != nil || len(s.chunks) != 1 || s.chunks[0].start != c.start || s.chunks[0].end != c.end {
			t.Errorf("%v: the index is %+v, %v; %d bytes", c.times, s, err, len(b))
		}
		info := r.Info()
		if info.Start != slices.Min(c.times) || info.End != slices.Max(c.times) {
			t.Errorf("%v: from %d to %d, %v", c.times, info.Start, info.End, err)
		}
		got, err := storagetest.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if d := storagetest.Diff(got, rec.Messages); d != "" {
			t.Errorf("%v: %s", c.times, d)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
