package verify

import (
	"errors"
	"math"
	"slices"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// explain says of errors about the selection of a side whose it is.
func (s *Side) explain(err error) error {
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	if errors.As(err, &unknown) || errors.As(err, &empty) {
		return &SelectionError{s.Path, err}
	}
	return err
}

// times returns the times that the selection of a side takes of its recording.
func (s *Side) times(info *storage.Info) selection.Window {
	timed := selection.Selection{Start: s.Select.Start, End: s.Select.End, Duration: s.Select.Duration}
	choice, err := timed.Resolve(info)
	if err != nil { // the stream has told already
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
	s := &convert.Selection{First: c.times[side].First, Last: c.times[side].Last}
	for i, taken := range c.taken[side] {
		if !taken {
			s.LeftOut = append(s.LeftOut, c.info[side].Topics[i].Name)
		}
	}
	slices.Sort(s.LeftOut)
	s.LeftOut = slices.Compact(s.LeftOut)
	return s
}
