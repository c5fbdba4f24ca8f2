package engine

import (
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// An index is a hint: it decides which blocks are read, and in which order, and it may be
// wrong all the same, if the recording is damaged. Each block that is read is compared with
// it, so a run finds out. Then what it has delivered is void, and it begins again, with the
// times and topics that the messages themselves have.

// errIndex is the error of a run whose index turns out to be wrong.
var errIndex = errors.New("the index has wrong times or topics")

// An indexError is errIndex, with the source whose index it is.
type indexError struct {
	source *Source
	err    error
}

func (e *indexError) Error() string { return e.err.Error() }
func (e *indexError) Unwrap() error { return e.err }

// blame adds the source to an error about its index.
func (s *Source) blame(err error) error {
	if errors.Is(err, errIndex) || errors.Is(err, storage.ErrIndex) && s.index == storage.IndexTested {
		return &indexError{s, err}
	}
	return err
}

// Retry calls read, which reads one or several sources from their start. When an index turns
// out to be wrong on the way, read is called again: it must forget whatever was delivered
// before. The times and topics of that source are then those of its messages, which are
// read once for them. If the index has other definitions than the data, the source is opened again without it, and has
// another description. Each happens once for a source at most.
func Retry(read func() error) error {
	for {
		err := read()
		var e *indexError
		switch {
		case !errors.As(err, &e):
			return err
		case errors.Is(err, storage.ErrIndex):
			if err := e.source.forgetIndex(); err != nil {
				return err
			}
		case e.source.wrong:
			return err
		default:
			e.source.wrong = true
		}
	}
}
