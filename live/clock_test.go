package live

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestClock: messages are due at their times, by the rate.
func TestClock(t *testing.T) {
	c := NewClock(4, false)
	began := time.Now()
	for _, at := range []int64{1e9, 1e9 + 100e6, 1e9 + 400e6} {
		if err := c.Wait(t.Context(), "/a", at); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("400 ms at rate 4 took %v", took)
	}
	if now, ok := c.Now(); !ok || now < 1e9+400e6 {
		t.Errorf("%d, %v", now, ok)
	}
	if all := c.Played(map[string]int64{"/a": 1}); all.P99 > all.Most || len(all.Topics) != 1 ||
		all.Topics[0].Messages != 3 || all.Topics[0].Early != 1 {
		t.Errorf("%+v", all)
	}
	c.Restart(5)
	if now, ok := c.Now(); now != 5 || !ok {
		t.Errorf("%d, %v", now, ok)
	}
	if err := c.Wait(t.Context(), "/a", 5); err != nil {
		t.Fatal(err)
	}
}

// TestPause: a clock that is paused sends one message for each step, and stands.
func TestPause(t *testing.T) {
	c := NewClock(1, true)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := c.Wait(ctx, "/a", 100); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("paused: %v", err)
	}
	c.Step()
	if err := c.Wait(t.Context(), "/a", 100); err != nil {
		t.Fatal(err)
	}
	if now, _ := c.Now(); now != 100 {
		t.Errorf("now %d", now)
	}
	time.AfterFunc(10*time.Millisecond, func() { c.Toggle() })
	if err := c.Wait(t.Context(), "/a", 1000); err != nil {
		t.Fatal(err)
	}
	if c.Speed(0.5) != 0.5 || c.Rate() != 0.5 || !c.Toggle() {
		t.Error("the rate or the pause is wrong")
	}
}
