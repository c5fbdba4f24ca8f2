package recording_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// TestTotals counts the same with blocks and without, on one core and on many.
func TestTotals(t *testing.T) {
	f := fake.Random(9, 50, 30, 400)
	want := map[int]int64{}
	for _, m := range f.Want(recording.OrderFile) {
		want[int(m.Topic)]++
	}
	for _, plain := range []bool{false, true} {
		for _, threads := range []int{1, 5} {
			var r storage.Reader = &fake.Reader{Bag: f}
			if plain {
				r = struct{ storage.Reader }{r}
			}
			var last recording.Progress
			res, err := sourceOf(r).Totals(context.Background(), recording.Query{Threads: threads,
				Progress: func(p recording.Progress) { last = p }})
			if err != nil {
				t.Fatal(err)
			}
			all := f.Want(recording.OrderTime)
			if res.Start != all[0].LogTime || res.End != all[len(all)-1].LogTime || res.Messages != int64(len(all)) ||
				last.Messages != res.Messages {
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

// TestTotalsIndex: the index of a recording has the messages and the timeline that reading all of it finds.
func TestTotalsIndex(t *testing.T) {
	byIndex := recording.Query{Pick: &recording.Pick{NoData: true}}
	for _, name := range []string{"demo.bag", "demo.record", "recordings/rosbag2/v9-sqlite",
		"recordings/rosbag2/v9-mcap/run"} {
		open := func() *recording.Source {
			r, err := all.Registry().Open(t.Context(), filepath.Join("..", "..", "..", "testdata", name), storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() })
			return sourceOf(r)
		}
		want, err := open().Totals(t.Context(), recording.Query{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := open().Totals(t.Context(), byIndex)
		if err != nil {
			t.Fatal(name, err)
		}
		if got.Messages != want.Messages || got.Messages == 0 || got.Start != want.Start || got.End != want.End ||
			!reflect.DeepEqual(got.Timeline, want.Timeline) {
			t.Errorf("%s: %d messages, %+v; want %d, %+v", name, got.Messages, got.Timeline, want.Messages, want.Timeline)
		}
	}
	plain := sourceOf(struct{ storage.Reader }{&fake.Reader{Bag: fake.Random(9, 5, 5, 5)}})
	if _, err := plain.Totals(t.Context(), byIndex); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
}

// sourceOf makes a source of a reader.
func sourceOf(r storage.Reader) *recording.Source { return recording.SourceOf(r, recording.Ref{}) }
