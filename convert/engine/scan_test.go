package engine_test

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/internal/fake"
	"github.com/bagconv/bagconv/storage"
)

// TestScan counts the same with blocks and without, on one core and on many.
func TestScan(t *testing.T) {
	f := fake.Random(9, 50, 30, 400)
	want := map[int]int64{}
	for _, m := range f.Want(engine.OrderFile) {
		want[int(m.Topic)]++
	}
	for _, plain := range []bool{false, true} {
		for _, threads := range []int{1, 5} {
			var r storage.Reader = &fake.Reader{Bag: f}
			if plain {
				r = struct{ storage.Reader }{r}
			}
			var last engine.Progress
			res, err := engine.Scan(context.Background(), r, threads, func(p engine.Progress) { last = p })
			if err != nil {
				t.Fatal(err)
			}
			all := f.Want(engine.OrderTime)
			if res.Start != all[0].LogTime || res.End != all[len(all)-1].LogTime || res.Messages != int64(len(all)) || last.Messages != res.Messages {
				t.Fatalf("%+v, last progress %+v", res, last)
			}
			for i, st := range res.Topics {
				if st.Messages != want[i] {
					t.Fatalf("topic %d: %d messages, want %d", i, st.Messages, want[i])
				}
			}
		}
	}
}
