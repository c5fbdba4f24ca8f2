package convert

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// TestGate: what does not fit waits until it does, a block that never fits goes
// alone, and a cancelled run does not wait.
func TestGate(t *testing.T) {
	g := newGate(100)
	enter := func(n int64) chan error {
		c := make(chan error, 1)
		go func() { c <- g.enter(context.Background(), n) }()
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
	g.leave(1000)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.enter(ctx, 95); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := g.enter(context.Background(), 90); err != nil || g.used != 100 {
		t.Errorf("%d bytes in use, %v", g.used, err)
	}
}

// TestSpares: a buffer goes to what fits into it, the smallest one that is large
// enough, and those that came first are dropped where they are too many.
func TestSpares(t *testing.T) {
	s := &spares{limit: 100}
	for _, n := range []int{10, 40, 20} {
		s.put(make([]byte, 3, n))
	}
	s.put(nil)
	for _, c := range []struct{ ask, want int }{{41, 0}, {0, 0}, {11, 20}, {11, 40}, {11, 0}, {1, 10}} {
		if b := s.take(int64(c.ask)); cap(b) != c.want || len(b) != 0 {
			t.Errorf("for %d bytes: %d of %d, want 0 of %d", c.ask, len(b), cap(b), c.want)
		}
	}
	for _, n := range []int{60, 30, 50} {
		s.put(make([]byte, n))
	}
	if len(s.list) != 2 || s.bytes != 80 || s.take(55) != nil {
		t.Errorf("%d buffers of %d bytes in all are kept", len(s.list), s.bytes)
	}
}

// TestWorkers: there are no more than memory is for, unless a number is asked for.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	for _, c := range []struct {
		threads int
		memory  int64
		want    int
	}{{0, 0, 16}, {0, 1 << 30, 64}, {0, 64 << 20, 4}, {0, 1, 2}, {40, 1, 40}} {
		if got := workers(c.threads, c.memory); got != c.want {
			t.Errorf("%d threads with %d bytes: %d workers, want %d", c.threads, c.memory, got, c.want)
		}
	}
}
