package ordered

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestOrder: work is done at the same time and in any order, and finished in the order of
// the jobs, one at a time; jobs that do not fit into memory together are not begun together.
func TestOrder(t *testing.T) {
	for _, workers := range []int{1, 3, 16} {
		var got []int
		var finishing atomic.Int32
		var bytes, most atomic.Int64
		next := 0
		err := Line[int]{Workers: workers, Limit: 30,
			Next: func() (int, int64, bool) { next++; return next - 1, 10, next <= 200 },
			Work: func(_, k int) error {
				if n := bytes.Add(10); n > most.Load() {
					most.Store(n)
				}
				if k%7 == 0 {
					time.Sleep(100 * time.Microsecond) // so that they do not end as they began
				}
				return nil
			},
			Finish: func(_, k int) error {
				if finishing.Add(1) != 1 {
					return errors.New("two at a time")
				}
				got = append(got, k)
				bytes.Add(-10)
				finishing.Add(-1)
				return nil
			},
		}.Run(context.Background())
		if err != nil || len(got) != 200 || !slices.IsSorted(got) || most.Load() > 30 {
			t.Errorf("%d workers: %d jobs, sorted %v, %d bytes at once, %v", workers, len(got), slices.IsSorted(got),
				most.Load(), err)
		}
	}
}

// TestFirstError: the error of the first job in order wins, whichever came first, with all
// jobs before it finished and none after it.
func TestFirstError(t *testing.T) {
	for range 50 {
		for _, inWork := range []bool{true, false} {
			fail := func(k int) error {
				if k == 20 {
					time.Sleep(time.Millisecond) // until others have failed
				}
				if k >= 20 {
					return fmt.Errorf("job %d", k)
				}
				return nil
			}
			next, finished := 0, 0
			err := Line[int]{Workers: 8,
				Next: func() (int, int64, bool) { next++; return next - 1, 1, true },
				Work: func(_, k int) error {
					if inWork {
						return fail(k)
					}
					return nil
				},
				Finish: func(_, k int) error {
					if !inWork {
						if err := fail(k); err != nil {
							return err
						}
					}
					finished++
					return nil
				},
				Limit: 1000,
			}.Run(context.Background())
			if err == nil || err.Error() != "job 20" || finished != 20 {
				t.Fatalf("in work %v: %v, %d finished", inWork, err, finished)
			}
		}
	}
}

// TestCancelled: when the context ends no further job is begun, and Run returns its error.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := Line[int]{Workers: 4,
		Next: func() (int, int64, bool) { n++; return n, 0, true },
		Work: func(_, k int) error { return nil },
		Finish: func(_, k int) error {
			if k == 10 {
				cancel()
			}
			return nil
		},
	}.Run(ctx)
	if !errors.Is(err, context.Canceled) || n > 20 {
		t.Errorf("%v after %d jobs", err, n)
	}
}

// TestGate: what does not fit waits until it does, a block that never fits goes
// alone, and a cancelled run does not wait.
func TestGate(t *testing.T) {
	g := NewGate(100)
	enter := func(n int64) chan error {
		c := make(chan error, 1)
		go func() { c <- g.Enter(context.Background(), n) }()
		return c
	}
	if err := <-enter(1000); err != nil {
		t.Fatal(err)
	}
	second := enter(10)
	select {
	case <-second:
		t.Fatal("two blocks of 1000 and 10 bytes are in a gate of 100")
	case <-time.After(10 * time.Millisecond):
	}
	g.Leave(1000)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.Enter(ctx, 95); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := g.Enter(context.Background(), 90); err != nil || g.used != 100 {
		t.Errorf("%d bytes in use, %v", g.used, err)
	}
}

// TestEach: each number is done once, no more at a time than were allowed, and none is begun after an error.
func TestEach(t *testing.T) {
	var at, most, sum atomic.Int64
	do := func(i int) error {
		for now := at.Add(1); ; {
			if was := most.Load(); now <= was || most.CompareAndSwap(was, now) {
				break
			}
		}
		runtime.Gosched()
		sum.Add(int64(i))
		at.Add(-1)
		return nil
	}
	if err := Each(t.Context(), 3, 100, do); err != nil || sum.Load() != 4950 || most.Load() > 3 {
		t.Errorf("sum %d, at most %d at a time, %v", sum.Load(), most.Load(), err)
	}
	if err := Each(t.Context(), 3, 0, do); err != nil {
		t.Error(err)
	}
	var begun atomic.Int64
	err := Each(t.Context(), 1, 100, func(i int) error {
		if begun.Add(1); i == 7 {
			return io.ErrNoProgress
		}
		return nil
	})
	if err != io.ErrNoProgress || begun.Load() != 8 {
		t.Errorf("%d begun, %v", begun.Load(), err)
	}
}
