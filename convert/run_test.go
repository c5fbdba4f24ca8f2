package convert

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/fake"
)

func fakeJob(t *testing.T, f *fake.Bag, s *fake.Sink) Job {
	j := Job{SinkFormat: s.Target(), Sink: filepath.Join(t.TempDir(), "sink"), Threads: 4}
	j.Source, j.SourceFormat = f.Source(t)
	return j
}

// TestOrder compares the merge with a stable sort, whatever the source knows of
// its times.
func TestOrder(t *testing.T) {
	lie := func(f *fake.Bag) func(int) (int64, int64) {
		return func(i int) (int64, int64) { return int64(len(f.Blocks) - i), int64(len(f.Blocks) - i) }
	}
	for name, setup := range map[string]func(f *fake.Bag){
		"true index":  func(f *fake.Bag) { f.Timed = f.Honest() },
		"lying index": func(f *fake.Bag) { f.Timed = lie(f) },
		"zero index":  func(f *fake.Bag) { f.Timed = func(int) (int64, int64) { return 0, 0 } },
		"parts":       func(f *fake.Bag) { f.Grouped = 4 },
		"no index":    func(f *fake.Bag) {},
		"no blocks":   func(f *fake.Bag) { f.Plain = true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(30) {
				jitter := []int64{0, 5, 300, 100_000}[seed%4]
				for _, order := range []Order{OrderTime, OrderFile} {
					for _, threads := range []int{1, 8} {
						f, s := fake.Random(seed, 40, 20, jitter), &fake.Sink{}
						setup(f)
						j := fakeJob(t, f, s)
						j.Order, j.Threads = order, threads
						r, err := Run(context.Background(), j)
						if err != nil {
							t.Fatal(err)
						}
						fake.SameMessages(t, s.Messages, f.Want(order))
						attempts := 1
						if order == OrderTime && (name == "lying index" || name == "zero index") {
							attempts = 2 // at most: it may not matter
						}
						if n := int64(len(s.Messages)); r.Source.Messages != n || r.Sink.Messages != n || !s.Closed ||
							s.Attempts > attempts {
							t.Fatalf("report %+v, closed %v after %d attempts", r, s.Closed, s.Attempts)
						}
					}
				}
			}
		})
	}
}

// TestSpill merges with hardly any memory: everything goes through the file.
func TestSpill(t *testing.T) {
	f, s := fake.Random(7, 3000, 10, 1<<40), &fake.Sink{}
	f.Timed = f.Honest()
	j := fakeJob(t, f, s)
	j.Threads, j.MaxMemory = 3, 1
	if _, err := Run(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	fake.SameMessages(t, s.Messages, f.Want(OrderTime))
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(j.Sink), "*")); len(left) != 1 {
		t.Fatalf("left behind: %v", left)
	}
}

// TestErrors: the first error in the order of blocks wins, the output is thrown
// away, and nothing hangs.
func TestErrors(t *testing.T) {
	early, late := errors.New("early"), errors.New("late")
	t.Run("read", func(t *testing.T) {
		for range 20 {
			f, s := fake.Random(3, 60, 20, 5), &fake.Sink{}
			f.Timed = f.Honest()
			f.Fail = map[int]error{30: early, 31: late, 59: late}
			_, err := Run(context.Background(), fakeJob(t, f, s))
			if !errors.Is(err, early) || !s.Aborted || s.Closed {
				t.Fatalf("%v, aborted %v, closed %v", err, s.Aborted, s.Closed)
			}
		}
	})
	t.Run("read without blocks", func(t *testing.T) {
		f, s := fake.Random(3, 60, 20, 5), &fake.Sink{}
		f.Plain, f.Fail = true, map[int]error{30: early}
		if _, err := Run(context.Background(), fakeJob(t, f, s)); !errors.Is(err, early) || s.Attempts > 0 {
			t.Fatalf("%v, %d outputs begun", err, s.Attempts)
		}
	})
	t.Run("write", func(t *testing.T) {
		for n := 1; n < 200; n += 13 {
			f, s := fake.Random(3, 60, 20, 5), &fake.Sink{FailAt: n}
			if _, err := Run(context.Background(), fakeJob(t, f, s)); !errors.Is(err, fake.ErrDisk) || !s.Aborted || s.Closed {
				t.Fatalf("%v, aborted %v, closed %v", err, s.Aborted, s.Closed)
			}
		}
	})
	t.Run("cancel", func(t *testing.T) {
		f, s := fake.Random(3, 60, 20, 5), &fake.Sink{}
		j := fakeJob(t, f, s)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Run(ctx, j); !errors.Is(err, context.Canceled) || s.Closed {
			t.Fatalf("%v, closed %v", err, s.Closed)
		}
	})
}
