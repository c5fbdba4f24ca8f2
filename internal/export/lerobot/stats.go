package lerobot

import (
	"bytes"
	"image/jpeg"
	"math"
	"slices"
)

// Stats are the statistics of a feature, a number for each of its elements, or for each channel of
// pictures.
type Stats struct {
	Min   []float64 `json:"min"`
	Max   []float64 `json:"max"`
	Mean  []float64 `json:"mean"`
	Std   []float64 `json:"std"`
	Count []int64   `json:"count"`
	Q01   []float64 `json:"q01"`
	Q10   []float64 `json:"q10"`
	Q50   []float64 `json:"q50"`
	Q90   []float64 `json:"q90"`
	Q99   []float64 `json:"q99"`
}

// quantiles are the quantiles that Stats have.
var quantiles = []float64{0.01, 0.1, 0.5, 0.9, 0.99}

// numbers lists the statistics that are numbers, in the order of lerobot.
func (s *Stats) numbers() []*[]float64 {
	return []*[]float64{&s.Min, &s.Max, &s.Mean, &s.Std, &s.Q01, &s.Q10, &s.Q50, &s.Q90, &s.Q99}
}

// statNames are their names.
var statNames = []string{"min", "max", "mean", "std", "q01", "q10", "q50", "q90", "q99"}

// tally makes the Stats of vectors in one pass. For quantiles it keeps each step-th value, and twice the step when
// these are too many: of an episode of up to keepValues frames they are exact.
type tally struct {
	n        int64
	min, max []float64
	mean, m2 []float64 // by Welford
	kept     [][]float64
	step     int64
}

const keepValues = 1 << 16

func newTally(width int) *tally {
	t := &tally{min: make([]float64, width), max: make([]float64, width), mean: make([]float64, width),
		m2:   make([]float64, width),
		kept: make([][]float64, width), step: 1}
	return t
}

// add adds a row.
func (t *tally) add(row []float64) {
	keep := t.n%t.step == 0
	t.n++
	for i, v := range row {
		if t.n == 1 {
			t.min[i], t.max[i] = v, v
		}
		t.min[i], t.max[i] = min(t.min[i], v), max(t.max[i], v)
		d := v - t.mean[i]
		t.mean[i] += d / float64(t.n)
		t.m2[i] += d * (v - t.mean[i])
		if keep {
			t.kept[i] = append(t.kept[i], v)
		}
	}
	if keep && len(row) > 0 && len(t.kept[0]) > keepValues {
		t.thin()
	}
}

// thin drops every second value that is kept.
func (t *tally) thin() {
	t.step *= 2
	for i, list := range t.kept {
		n := 0
		for k := 0; k < len(list); k += 2 {
			list[n] = list[k]
			n++
		}
		t.kept[i] = list[:n]
	}
}

// stats returns the Stats so far.
func (t *tally) stats() Stats {
	s := Stats{Min: t.min, Max: t.max, Mean: t.mean, Count: []int64{t.n}}
	for i := range t.mean {
		s.Std = append(s.Std, math.Sqrt(t.m2[i]/float64(max(t.n, 1))))
		slices.Sort(t.kept[i])
		for k, q := range quantiles {
			list := s.numbers()[4+k]
			*list = append(*list, quantile(t.kept[i], q))
		}
	}
	return s
}

// quantile returns a quantile of sorted values, linear between two of them.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// series returns the Stats of n numbers from first on, step apart.
func series(first, step float64, n int64) Stats {
	last := first + step*float64(n-1)
	s := Stats{Min: []float64{first}, Max: []float64{last}, Mean: []float64{(first + last) / 2}, Count: []int64{n}}
	s.Std = []float64{step * math.Sqrt((float64(n)*float64(n)-1)/12)}
	for k, q := range quantiles {
		*s.numbers()[4+k] = []float64{first + q*(last-first)}
	}
	return s
}

// sum returns the Stats of all episodes from theirs, as lerobot does it: quantiles are the mean of
// the quantiles of the episodes, by their counts.
func sum(list []Stats) (all Stats) {
	if len(list) == 0 {
		return all
	}
	n := 0.0
	for i := range list {
		n += float64(list[i].Count[0])
	}
	width := len(list[0].Mean)
	for _, p := range all.numbers() {
		*p = make([]float64, width)
	}
	for i := range width {
		all.Min[i], all.Max[i] = list[0].Min[i], list[0].Max[i]
		for k := range list {
			s, share := &list[k], float64(list[k].Count[0])/max(n, 1)
			all.Min[i], all.Max[i] = min(all.Min[i], s.Min[i]), max(all.Max[i], s.Max[i])
			all.Mean[i] += s.Mean[i] * share
			for x, p := range all.numbers()[4:] {
				(*p)[i] += (*s.numbers()[4+x])[i] * share
			}
		}
		variance := 0.0
		for k := range list {
			s, share := &list[k], float64(list[k].Count[0])/max(n, 1)
			d := s.Mean[i] - all.Mean[i]
			variance += (s.Std[i]*s.Std[i] + d*d) * share
		}
		all.Std[i] = math.Sqrt(variance)
	}
	all.Count = []int64{int64(n)}
	return all
}

// A palette counts the values of pixels for each channel, so that the Stats of pictures are exact
// for the pixels it has seen.
type palette struct {
	counts [3][256]int64
	frames int64
}

// sampled reports whether picture n of an episode counts in its Stats: of n pictures 4 times the root of n do.
func sampled(n int64) bool { return int64(4*math.Sqrt(float64(n+1))) > int64(4*math.Sqrt(float64(n))) }

// thinning returns each which pixel of a picture counts: lerobot leaves pictures of less than 300 pixels as they are,
// and makes others about 150 pixels large.
func thinning(width, height int) int {
	if max(width, height) < 300 {
		return 1
	}
	return max(1, max(width, height)/150)
}

// addRGB adds a picture.
func (p *palette) addRGB(data []byte, width, height int) {
	p.frames++
	step := thinning(width, height)
	for y := 0; y < height; y += step {
		for x := 0; x < width; x += step {
			at := 3 * (y*width + x)
			p.counts[0][data[at]]++
			p.counts[1][data[at+1]]++
			p.counts[2][data[at+2]]++
		}
	}
}

// addJPEG adds a picture, and reports whether it could be decoded.
func (p *palette) addJPEG(data []byte) bool {
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	p.frames++
	width, height := m.Bounds().Dx(), m.Bounds().Dy()
	step := thinning(width, height)
	for y := 0; y < height; y += step {
		for x := 0; x < width; x += step {
			r, g, b := pixel(m, x, y)
			p.counts[0][r]++
			p.counts[1][g]++
			p.counts[2][b]++
		}
	}
	return true
}

// imageNet returns Stats for pictures that nobody could decode: the Stats of ImageNet, as if its
// colors had a normal distribution.
func imageNet() (s Stats) {
	mean, std := []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
	s = Stats{Min: []float64{0, 0, 0}, Max: []float64{1, 1, 1}, Mean: mean, Std: std, Count: []int64{1}}
	for k, z := range []float64{-2.326, -1.282, 0, 1.282, 2.326} {
		for c := range mean {
			q := s.numbers()[4+k]
			*q = append(*q, min(1, max(0, mean[c]+z*std[c])))
		}
	}
	return s
}

// stats returns the Stats of the pictures, from 0 to 1; false without pictures.
func (p *palette) stats() (s Stats, ok bool) {
	if p.frames == 0 {
		return imageNet(), false
	}
	for c := range p.counts {
		t := histogram(&p.counts[c])
		for i, to := range s.numbers() {
			*to = append(*to, t[i])
		}
	}
	s.Count = []int64{p.frames}
	return s, true
}

// histogram returns the statistics of a channel in the order of Stats.numbers.
func histogram(counts *[256]int64) (out [9]float64) {
	n, total, squares := int64(0), 0.0, 0.0
	lowest, highest := -1, 0
	for v, k := range counts {
		if k == 0 {
			continue
		}
		if lowest < 0 {
			lowest = v
		}
		highest = v
		n += k
		x := float64(v) / 255
		total += x * float64(k)
		squares += x * x * float64(k)
	}
	mean := total / float64(n)
	out[0], out[1], out[2] = float64(lowest)/255, float64(highest)/255, mean
	out[3] = math.Sqrt(max(0, squares/float64(n)-mean*mean))
	for i, q := range quantiles {
		rank, at := int64(q*float64(n-1)), int64(0)
		for v, k := range counts {
			if at += k; at > rank {
				out[4+i] = float64(v) / 255
				break
			}
		}
	}
	return out
}
