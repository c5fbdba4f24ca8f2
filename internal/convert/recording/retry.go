package recording

import (
	"cmp"
	"context"
	"errors"
	"sync"

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
	if errors.Is(err, errIndex) || errors.Is(err, storage.ErrIndex) && s.Index() == storage.IndexTested {
		return &indexError{s, err}
	}
	return err
}

// Use opens recordings at the same time, has read read them from their start, and closes them. When an index turns out
// to be wrong on the way, read is called again: it must forget whatever was delivered before. The times and topics of
// that source then come from its messages, which are read once for this. If the index has other definitions than the
// data, the source is opened again without it, and has another description. Each happens once for a source at most.
func Use(ctx context.Context, refs []Ref, read func(sources []*Source) error) (err error) {
	sources, errs := make([]*Source, len(refs)), make([]error, len(refs))
	defer func() {
		for _, s := range sources {
			if s == nil {
				continue
			}
			if e := s.Close(); err != nil && e != nil { // without err everything was read, and e would contradict that
				err = errors.Join(err, e)
			}
		}
	}()
	var wg sync.WaitGroup
	for i, ref := range refs {
		ref.Read.Index = storage.IndexTested
		wg.Go(func() {
			s, err := Open(ctx, ref)
			if errs[i] = err; err == nil {
				s.files = lookAt(ref.Read.FS, s.Info.Files)
				sources[i] = s
			}
		})
	}
	wg.Wait()
	if err = cmp.Or(errs...); err != nil {
		return err
	}
	for {
		err = read(sources)
		var e *indexError
		switch {
		case !errors.As(err, &e):
			return err
		case errors.Is(err, storage.ErrIndex):
			if err = e.source.forgetIndex(ctx); err != nil {
				return err
			}
		case !e.source.Again(err):
			return err
		}
	}
}

// Again reports whether err is about the times and topics of the source's index, for the first time: then the source
// may be read once more, with times and topics of its messages, and what was delivered is void. Use asks by itself.
func (s *Source) Again(err error) bool {
	var e *indexError
	if !errors.As(err, &e) || errors.Is(err, storage.ErrIndex) || s.indexWrong {
		return false
	}
	s.indexWrong = true
	return true
}
