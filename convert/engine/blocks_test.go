package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/internal/fake"
	"github.com/bagconv/bagconv/storage"
)

// seen is a engine.BlockWorker that notes what it is shown.
type seen struct {
	times *[]int64
	busy  *atomic.Int32
	fail  func(at storage.Block) error
}

func (s seen) Work(b *storage.Batch) error {
	if len(b.Messages)%2 == 1 {
		time.Sleep(time.Millisecond) // so that blocks do not end as they began
	}
	return nil
}

func (s seen) InOrder(at storage.Block, b *storage.Batch) error {
	if s.busy.Add(1) != 1 {
		return errors.New("two at a time")
	}
	defer s.busy.Add(-1)
	for _, m := range b.Messages {
		*s.times = append(*s.times, m.LogTime)
	}
	return s.fail(at)
}

// TestEachBlock: all messages in the order of the file, for formats with and
// without blocks, and the same error in every run.
func TestEachBlock(t *testing.T) {
	var busy atomic.Int32
	run := func(f *fake.Bag, threads int, fail func(storage.Block) error) ([]int64, error) {
		var got []int64
		var r storage.Reader = &fake.Reader{Bag: f}
		if f.Plain {
			r = struct{ storage.Reader }{r}
		}
		err := engine.EachBlock(context.Background(), r, threads, nil, func() engine.BlockWorker { return seen{&got, &busy, fail} })
		return got, err
	}
	good := func(storage.Block) error { return nil }
	f := fake.Random(1, 60, 31, 5)
	var want []int64
	for _, b := range f.Blocks {
		for _, m := range b {
			want = append(want, m.LogTime)
		}
	}
	for _, f.Plain = range []bool{false, true} {
		for _, threads := range []int{0, 1, 2, 7} {
			if got, err := run(f, threads, good); err != nil || !slices.Equal(got, want) {
				t.Fatalf("plain %v, %d threads: %v, %d of %d messages", f.Plain, threads, err, len(got), len(want))
			}
		}
	}
	f.Plain = false
	late, early := errors.New("late"), errors.New("early")
	for range 20 {
		_, err := run(f, 4, func(at storage.Block) error {
			if at.Offset == 9 {
				return early
			}
			return nil
		})
		if err != early {
			t.Fatalf("InOrder: %v", err)
		}
		f.Fail = map[int]error{13: late, 8: early}
		if _, err := run(f, 4, good); err != early {
			t.Fatalf("ReadBlock: %v", err)
		}
		f.Fail = nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := engine.EachBlock(ctx, &fake.Reader{Bag: f}, 2, nil, func() engine.BlockWorker { return seen{new([]int64), &busy, good} })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
