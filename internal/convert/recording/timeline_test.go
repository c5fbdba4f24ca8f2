package recording

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestTimeline: messages in any order, counted by any number of workers, make the same
// bins; each has the messages of its time, and there are not too many or too few.
func TestTimeline(t *testing.T) {
	const topics = 3
	type message struct {
		topic int
		time  int64
	}
	of := func(workers int, messages []message) *Timeline {
		parts := make([]*Histogram, workers)
		for i := range parts {
			parts[i] = NewHistogram(topics)
		}
		for i, m := range messages {
			parts[i%workers].Add(m.topic, m.time, 1)
		}
		all := NewHistogram(topics)
		for _, p := range parts {
			all.join(p)
		}
		return all.Timeline()
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		start, width := int64(r.Uint64()), int64(1)<<r.IntN(62)
		if round%2 == 0 {
			start = 1_700_000_000_000_000_000
		}
		messages := make([]message, 1+r.IntN(200))
		least, most := int64(math.MaxInt64), int64(math.MinInt64)
		for i := range messages {
			messages[i] = message{r.IntN(topics - 1), start + r.Int64N(width)} // wraps now and then
			least, most = min(least, messages[i].time), max(most, messages[i].time)
		}
		line := of(1, messages)
		if span := uint64(most) - uint64(least); line.Bins < 1 || line.Bins > MaxBins || span >= MaxBins &&
			line.Bins < MaxBins/3 || !slices.Contains(steps, line.Step) {
			t.Fatalf("%d bins of %d ns for %d ns", line.Bins, line.Step, span)
		}
		want := make([][]int64, topics)
		for _, m := range messages {
			if want[m.topic] == nil {
				want[m.topic] = make([]int64, line.Bins)
			}
			bin, ok := line.At(m.time)
			if !ok {
				t.Fatalf("%d is not in the timeline from %d", m.time, line.Start)
			}
			want[m.topic][bin]++
		}
		if !reflect.DeepEqual(line.Counts, want) {
			t.Fatalf("%v, want %v", line.Counts, want)
		}
		r.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		if again := of(1+r.IntN(5), messages); !reflect.DeepEqual(again, line) {
			t.Fatalf("%+v, and in another order %+v", line, again)
		}
	}
}

// TestTimelineBounds: no messages, one, and the longest time of all.
func TestTimelineBounds(t *testing.T) {
	h := NewHistogram(1)
	if line := h.Timeline(); line.Bins != 0 || line.Counts[0] != nil {
		t.Errorf("%+v", line)
	}
	if _, ok := h.Timeline().At(0); ok {
		t.Error("an empty timeline has a bin")
	}
	h.Add(0, math.MaxInt64, 1)
	if line := h.Timeline(); line.Bins != 1 || line.Start != math.MaxInt64 || line.Step != 1 {
		t.Errorf("%+v", line)
	}
	h.Add(0, math.MinInt64, 2)
	line := h.Timeline()
	if line.Bins != 44 || line.Start != math.MinInt64 || line.Counts[0][0] != 2 || line.Counts[0][43] != 1 {
		t.Errorf("%+v", line)
	}
	for i := range len(widths) - 1 {
		if by := widths[i+1] / widths[i]; widths[i+1]%widths[i] != 0 || by > fineBins/MaxBins {
			t.Errorf("widths %d and %d", widths[i], widths[i+1])
		}
	}
	if _, ok := line.At(math.MaxInt64); !ok {
		t.Error("the end is not in the timeline")
	}
}
