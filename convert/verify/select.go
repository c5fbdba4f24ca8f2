package verify

import (
	"errors"
	"math"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// explain adds the path of the side to a selection error.
func (s *Side) explain(err error) error {
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	if errors.As(err, &unknown) || errors.As(err, &empty) {
		return &storage.Error{Path: s.Path, Offset: -1, Err: err}
	}
	return err
}

// times returns the times that the selection of a side takes of its recording.
func (s *Side) times(info *storage.Info) selection.Window {
	timed := selection.Selection{Start: s.Select.Start, End: s.Select.End, Duration: s.Select.Duration}
	choice, err := timed.Resolve(info)
	if err != nil { // the stream has reported it already
		return selection.Window{First: math.MinInt64, Last: math.MaxInt64}
	}
	return selection.Window{First: choice.First, Last: choice.Last}
}

// selected describes what was taken of a side whose description has the names of
// the recording; nil when that is everything.
func (c *comparison) selected(side int) *convert.Selection {
	if c.side(side).Select.All() {
		return nil
	}
	t := c.times[side]
	return convert.SelectionOf(t.First, t.Last, c.chosen[side], c.info[side])
}

// indexed returns how many messages each topic of a recording has by its index, nil
// when that is not known or when not all of them are read.
func (s *Side) indexed(info *storage.Info) []int64 {
	e := &s.Edit
	if !s.Select.All() || info.Estimated || e.Offset != 0 || len(e.Rates) > 0 {
		return nil
	}
	counts := make([]int64, len(info.Topics))
	for i := range counts {
		counts[i] = info.Topics[i].Messages
	}
	return counts
}
