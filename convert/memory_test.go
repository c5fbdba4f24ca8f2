package convert

import (
	"context"
	"errors"
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
