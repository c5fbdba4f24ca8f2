package convert

import (
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// ErrNothing is the error of a run whose selection turned out to hold no message.
var ErrNothing error = &storage.Error{Offset: -1,
	What: "nothing is selected: the selected topics have no message in that time",
	Hint: "bagconv info shows its topics and times"}

// describe returns what the report has about the selection.
func (o *output) describe(info *storage.Info) *Selection {
	if o.job.Select.All() {
		return nil
	}
	return SelectionOf(o.Choice.First, o.Choice.Last, o.Choice.Topics, info)
}

// SelectionOf describes what was taken of a recording: the log times, and which of
// its topics.
func SelectionOf(first, last int64, topics []bool, info *storage.Info) *Selection {
	s := &Selection{LeftOut: []string{}}
	if first != math.MinInt64 {
		s.Start = &first
	}
	if last != math.MaxInt64 {
		last++
		s.End = &last
	}
	for i, chosen := range topics {
		if !chosen {
			s.LeftOut = append(s.LeftOut, info.Topics[i].Name)
		}
	}
	slices.Sort(s.LeftOut)
	s.LeftOut = slices.Compact(s.LeftOut)
	return s
}

func allEmpty(counts []recording.Count) bool {
	for _, c := range counts {
		if c.Read+c.Repeated-c.Filtered > 0 {
			return false
		}
	}
	return true
}
