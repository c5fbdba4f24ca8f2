package all_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/values"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// A reading is what one message of a topic has.
type reading struct {
	at    int64
	value string
}

// oneByOne reads a topic with ReadNext and a Codec, and sorts it by time.
func oneByOne(t *testing.T, path, topic string) (list []reading) {
	t.Helper()
	r, err := all.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	for m, err := range r.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if info.Topics[m.Topic].Name != topic {
			continue
		}
		codec, err := values.For[map[string]any](&info.Topics[m.Topic].Topic)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := codec.Decode(m.Data, &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, reading{m.LogTime, fmt.Sprint(v)})
	}
	slices.SortStableFunc(list, func(a, b reading) int { return int(a.at - b.at) })
	return list
}

// TestValuesOnAllCores: what is decoded ahead, in any range, is what messages have one by one; in every format, and
// again with the same reader.
func TestValuesOnAllCores(t *testing.T) {
	for path, topic := range map[string]string{"demo.bag": "/imu/data", "demo.record": "/apollo/sensor/gnss/imu",
		"recordings/rosbag2/v9-sqlite": "/imu", "recordings/rosbag2/v9-mcap/run": "/imu"} {
		path := filepath.Join("..", "..", "testdata", path)
		r, err := all.Open(t.Context(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		info := r.Info()
		if !slices.ContainsFunc(info.Topics, func(x storage.TopicInfo) bool { return x.Name == topic }) {
			topic = info.Topics[0].Name
		}
		want := oneByOne(t, path, topic)
		if len(want) == 0 {
			t.Fatalf("%s has no message of %s", path, topic)
		}
		first, last := want[0].at, want[len(want)-1].at
		for _, q := range []values.Query{{}, {FileOrder: true, Threads: 1}, {Start: first, End: last},
			{Start: (first + last) / 2, End: last},
			{Start: first + 1, End: math.MaxInt64}, {Start: first, End: first}, {Start: last + 1, End: last + 2},
			{Start: last, End: first - 1}} {
			var expected, got []reading
			for _, x := range want {
				if q.Start == 0 || x.at >= q.Start && x.at <= q.End {
					expected = append(expected, x)
				}
			}
			for m, err := range values.Read[map[string]any](t.Context(), r, topic, q) {
				if err != nil {
					t.Fatalf("%s %+v: %v", path, q, err)
				}
				got = append(got, reading{m.LogTime, fmt.Sprint(m.Value)})
			}
			if q.FileOrder {
				slices.SortStableFunc(got, func(a, b reading) int { return int(a.at - b.at) })
			}
			if !slices.Equal(got, expected) {
				t.Errorf("%s %s %+v: %d values, want %d", path, topic, q, len(got), len(expected))
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestValuesEnd: a loop that is left, and one whose context ends, leave no goroutine; the reader is read again.
func TestValuesEnd(t *testing.T) {
	r, err := all.Open(t.Context(), "../../testdata/demo.bag", storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := runtime.NumGoroutine()
	for range 20 {
		for _, err := range values.Read[map[string]any](t.Context(), r, "/imu/data", values.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		cancel(enough)
		n := 0
		for _, err := range values.Read[map[string]any](ctx, r, "/imu/data", values.Query{}) {
			if n++; !errors.Is(err, enough) {
				t.Errorf("a cancelled loop: %v", err)
			}
		}
		if n != 1 {
			t.Errorf("a cancelled loop has %d steps", n)
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, and %d before", runtime.NumGoroutine(), before)
}

// A liar is a reader whose index has wrong times of all blocks, from one of them on.
type liar struct {
	storage.Reader
	storage.BlockReader
	from int
}

func (r *liar) Blocks(ctx context.Context, wanted *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	blocks, order, err := r.BlockReader.Blocks(ctx, wanted)
	blocks = slices.Clone(blocks)
	for i := r.from; i < len(blocks); i++ {
		blocks[i].Start, blocks[i].End = blocks[i].Start-1, blocks[i].Start-1
	}
	return blocks, order, err
}

// TestValuesWrongIndex: an index that is wrong is found out. Nothing is out of order, twice or missing, but that the
// loop may end with an error.
func TestValuesWrongIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "many.bag")
	job := convert.Job{Write: storage.WriteOptions{ChunkSize: 4096, NoSync: true}}
	if _, err := convert.File(t.Context(), all.Registry(), "../../testdata/demo.bag", path, job); err != nil {
		t.Fatal(err)
	}
	want := oneByOne(t, path, "/imu/data")
	whole, part := 0, 0
	for from := 0; from < 60; from += 3 {
		r, err := all.Open(t.Context(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []reading
		var failed error
		lie := &liar{r.Reader, storage.ReaderCapabilities(r).Blocks, from}
		for m, err := range values.Read[map[string]any](t.Context(), lie, "/imu/data", values.Query{Threads: 1}) {
			if failed = err; err == nil {
				got = append(got, reading{m.LogTime, fmt.Sprint(m.Value)})
			}
		}
		switch {
		case failed == nil && !slices.Equal(got, want):
			t.Errorf("from block %d: %d values, and no error", from, len(got))
		case failed != nil && (!errors.Is(failed, storage.ErrCorrupt) || !slices.Equal(got, want[:len(got)])):
			t.Errorf("from block %d: %d values, then %v", from, len(got), failed)
		}
		if failed == nil {
			whole++
		} else {
			part++
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if whole == 0 || part == 0 {
		t.Errorf("%d loops were whole, and %d ended with an error: there should be some of both", whole, part)
	}
}
