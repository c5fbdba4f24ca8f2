package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIntervals compares the quantiles with those of the sorted values.
func TestIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 20, maxFew, maxFew + 1, 10_000} {
		var v intervals
		var all []int64
		for range n {
			d := int64(math.Exp(r.Float64() * 43)) // up to 150 years
			if r.IntN(10) == 0 {
				d = int64(r.IntN(3))
			}
			v.add(d)
			all = append(all, d)
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
			want := int64(-1)
			if n > 0 {
				want = all[int(q*float64(n-1))]
			}
			if got := v.quantile(q); math.Abs(float64(got-want)) > float64(want)/32+0.5 && n > 0 || n == 0 && got != want {
				t.Errorf("%d values, quantile %v: %d, want %d", n, q, got, want)
			}
		}
	}
	for _, d := range []int64{0, 1, 63, 64, 65, 1 << 40, math.MaxInt64} {
		if m := middle(bucket(d)); math.Abs(float64(m-d)) > float64(d)/32 {
			t.Errorf("%d becomes %d", d, m)
		}
	}
}

// TestGaps compares the longest gaps of streams in all kinds of disorder with
// those of the sorted times.
func TestGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		n := 2 + r.IntN(60)
		times := make([]int64, n)
		at := int64(0)
		for i := range times {
			at += int64(r.IntN(10))
			if r.IntN(8) == 0 {
				at += 1000 + int64(r.IntN(1000))
			}
			times[i] = at
		}
		sorted := slices.Clone(times)
		switch round % 4 {
		case 1: // runs in another order
			cut := r.IntN(n)
			times = append(slices.Clone(times[cut:]), times[:cut]...)
		case 2:
			slices.Reverse(times)
		case 3:
			r.Shuffle(n, func(i, j int) { times[i], times[j] = times[j], times[i] })
		}
		s := &stream{}
		for i, x := range times {
			s.add(x, 1, int64(i))
		}
		var want []int64
		for i := 1; i < n; i++ {
			if d := sorted[i] - sorted[i-1]; d > 900 {
				want = append(want, d)
			}
		}
		slices.SortFunc(want, func(a, b int64) int { return int(b - a) })
		gaps, known := s.gaps()
		var got []int64
		for _, g := range gaps {
			if g.length() > 900 {
				got = append(got, g.length())
			}
			if times[g.offset] != g.to {
				t.Fatalf("round %d: the gap to %d is reported to end at %d", round, g.to, times[g.offset])
			}
		}
		// In a disorder of many runs, a gap may be covered by a run that only
		// begins before and ends after it: then it is not reported. None is made up.
		if round%4 != 3 && (!known || !slices.Equal(got, want)) {
			t.Fatalf("round %d: %v (known %v), want %v\n%v", round, got, known, want, times)
		}
		for _, g := range got {
			if i := slices.Index(want, g); i < 0 {
				t.Fatalf("round %d: %d is no gap of %v", round, g, times)
			} else {
				want = slices.Delete(want, i, i+1)
			}
		}
	}
	s := &stream{}
	for i := range int64(2 * maxRuns) {
		s.add(-i, 1, i)
	}
	if _, known := s.gaps(); known || s.back.n != 2*maxRuns-1 {
		t.Errorf("%d times back, gaps are known: %v", s.back.n, known)
	}
	s = &stream{}
	s.add(math.MinInt64, 1, 0)
	s.add(math.MaxInt64, 1, 0)
	s.add(math.MinInt64, 1, 0)
	if gaps, _ := s.gaps(); len(gaps) != 1 || gaps[0].length() != math.MaxInt64 || s.back.greatest != math.MaxInt64 {
		t.Errorf("at the ends of time: %v, %v", gaps, s.back)
	}
}
