package align

import "testing"

// TestChoose: which messages belong to a tick, for each method and at both ends.
func TestChoose(t *testing.T) {
	times := []int64{10, 20, 40}
	for _, c := range []struct {
		method string
		gap    int64
		tick   int64
		i, k   int
		share  float64
	}{
		{Last, 0, 5, -1, -1, 0}, {Last, 0, 10, 0, 0, 0}, {Last, 0, 39, 1, 1, 0}, {Last, 0, 1000, 2, 2, 0}, {Last, 10, 31, -1,
			-1, 0}, {Last, 19, 39, 1, 1, 0},
		{Nearest, 0, 5, 0, 0, 0}, {Nearest, 0, 15, 0, 0, 0}, {Nearest, 0, 16, 1, 1, 0}, {Nearest, 3, 5, -1, -1, 0}, {Nearest,
			0, 99, 2, 2, 0},
		{Linear, 0, 25, 1, 2, 0.25}, {Linear, 0, 20, 1, 1, 0}, {Linear, 0, 41, -1, -1, 0}, {Linear, 10, 25, -1, -1,
			0}, {Linear, 15, 25, 1, 2, 0.25},
	} {
		before := -1
		for before+1 < len(times) && times[before+1] <= c.tick {
			before++
		}
		r := Rule{Method: c.method, MaxGap: c.gap}
		if i, k, share := r.Choose(times, before, c.tick); i != c.i || k != c.k || share != c.share {
			t.Errorf("%+v: %d, %d, %v", c, i, k, share)
		}
	}
}

// TestSettled: a tick is settled when nothing that comes later can belong to it.
func TestSettled(t *testing.T) {
	last, nearest := Rule{Method: Last}, Rule{Method: Nearest, MaxGap: 5}
	if last.Settled(10, 10) || !last.Settled(10, 11) || nearest.Settled(10, 15) || !nearest.Settled(10, 16) {
		t.Error("settled at another time")
	}
	linear := Rule{Method: Linear}
	if linear.Settled(0, Idle) || !linear.Settled(0, Idle+1) || !linear.Awaits([]int64{3}, 4) ||
		linear.Awaits([]int64{4}, 4) || !linear.Awaits(nil, 4) {
		t.Error("awaits another message")
	}
}
