package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHistogram counts random times in random order, and compares the bins with what a loop counts.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		most := int64(48 + rng.IntN(500))
		h := newHistogram(2, most, rng.Int64N(1000))
		var times []int64
		for range 1 + rng.IntN(300) {
			times = append(times, rng.Int64N(1<<uint(1+rng.IntN(60)))-rng.Int64N(1<<20))
		}
		if round%10 == 0 {
			times = append(times, math.MinInt64, math.MaxInt64)
		}
		for i, x := range times {
			h.add(i%2, x)
		}
		if n := h.last - h.first + 1; n > most {
			t.Fatalf("%d bins, over %d", n, most)
		}
		for row := range 2 {
			want := make([]uint32, h.last-h.first+1)
			for i, x := range times {
				if i%2 == row {
					want[h.key(x)-h.first]++
				}
			}
			if got := h.bins(row); !slices.Equal(got, want) {
				t.Fatalf("row %d of %d times: %v, want %v", row, len(times), got, want)
			}
		}
	}
}

// TestCurve: a curve of many values has the least and the greatest of them, no more points than it may, and only points
// that came. It is the same in any order.
func TestCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 1 + rng.IntN(5000)
		var list []point
		for i := range n {
			v := math.Sin(float64(i)/100) + rng.Float64()
			if rng.IntN(50) == 0 {
				v = math.NaN()
			}
			list = append(list, point{int64(i)*1000 + 7, v})
		}
		made := func() []point {
			c := newCurve(300, 0)
			for _, p := range list {
				c.add(p.t, p.v)
			}
			if c.isThinned != (n > 300) {
				t.Fatalf("%d values: thinned is %v", n, c.isThinned)
			}
			points := c.points()
			slices.SortFunc(points, func(a, b point) int { return int(a.t - b.t) })
			return points
		}
		got := made()
		if len(got) > 300 || n <= 300 && len(got) != n || n > 300 && len(got) < 75 {
			t.Fatalf("%d points of %d values", len(got), n)
		}
		least, most := math.Inf(1), math.Inf(-1)
		for _, p := range list {
			if !math.IsNaN(p.v) {
				least, most = min(least, p.v), max(most, p.v)
			}
		}
		has := func(v float64) bool { return slices.ContainsFunc(got, func(p point) bool { return p.v == v }) }
		if !math.IsInf(least, 0) && (!has(least) || !has(most)) {
			t.Errorf("the least and greatest of %d values are not in the curve", n)
		}
		same := func(a, b point) bool { return a.t == b.t && (a.v == b.v || math.IsNaN(a.v) && math.IsNaN(b.v)) }
		for _, p := range got {
			if i := int(p.t / 1000); !same(list[i], p) {
				t.Fatalf("%v did not come", p)
			}
		}
		slices.Reverse(list)
		if again := made(); !slices.EqualFunc(got, again, same) {
			t.Error("the curve depends on the order of messages")
		}
	}
}

// TestTrail: a long way keeps its length, its ends and its gaps.
func TestTrail(t *testing.T) {
	x := &trail{limit: 100}
	for i := range 10_001 {
		v := []float64{float64(i), 0}
		if i >= 3000 && i < 6000 {
			v[1] = math.NaN()
		}
		x.add(int64(i), v)
	}
	if x.length != 2999+4000 || x.dropped != 3000 {
		t.Errorf("%v m, %d without a position", x.length, x.dropped)
	}
	if len(x.spots) > 100 || len(x.spots) < 50 || x.latest.x != 10_000 {
		t.Errorf("%d spots, the last at %v", len(x.spots), x.latest.x)
	}
	// a degree of latitude at 45 degrees has 111,132 m, one of longitude 78,847 m
	if d := degree(45); math.Abs(d[0]-78_847) > 1 || math.Abs(d[1]-111_132) > 1 {
		t.Error(d)
	}
}
