package chunked

import (
	"context"
	"os"

	"github.com/bagconv/bagconv/storage"
)

// A State is the state of a storage.Writer: open, stopped by its first error, finished, closed.
type State struct {
	Ctx context.Context // of Create

	// Fail returns an error about the output.
	Fail func(what string, err error) error

	OnBlock func(storage.PendingBlock) error // takes full chunks; nil: they are written at once
	Handed  int                              // chunks that were passed on

	err      error // the first one, kept
	finished bool  // only Commit and Close may follow
	closed   bool
}

// Usable returns the error that stopped the writer, or that it is closed.
func (s *State) Usable() error {
	if s.err == nil && !s.Ready() {
		return s.Fail("the writer is closed", os.ErrClosed)
	}
	return s.err
}

// Stop keeps the first error, and returns it.
func (s *State) Stop(err error) error {
	if s.err == nil {
		s.err = err
	}
	return s.err
}

// Finished reports whether Finish was called, or Close.
func (s *State) Finished() bool { return s.finished }

// Ready reports whether Usable returns no error.
func (s *State) Ready() bool { return s.err == nil && !s.finished && !s.closed }

// Hand passes a full chunk on, or encodes and appends it here.
func (s *State) Hand(k storage.PendingBlock) error {
	if err := s.Ctx.Err(); err != nil {
		return s.Stop(err)
	}
	s.Handed++
	hand := s.OnBlock
	if hand == nil {
		hand = write
	}
	if err := hand(k); err != nil {
		return s.Stop(err)
	}
	return nil
}

func write(k storage.PendingBlock) error {
	if err := k.Encode(); err != nil {
		return err
	}
	return k.Append()
}

// Finish calls finish, after which only Commit and Close may follow. temp is the name that the output has until
// then. See storage.Writer.
func (s *State) Finish(finish func() error, temp string) (out storage.Output, err error) {
	if err := s.Usable(); err != nil {
		return out, err
	}
	if err := finish(); err != nil {
		return out, s.Stop(err)
	}
	s.finished = true
	return storage.Output{Path: temp}, nil
}

// Commit calls finish, unless Finish was called, and commit. See storage.Writer.
func (s *State) Commit(finish func() (storage.Output, error), commit func() error) error {
	if s.err != nil || s.closed {
		return s.Usable()
	}
	if !s.finished {
		if _, err := finish(); err != nil {
			return err
		}
	}
	if err := commit(); err != nil {
		return s.Stop(s.Fail("output", err))
	}
	s.closed = true // a second time is an error
	return nil
}

// Close ends all writing.
func (s *State) Close() { s.finished, s.closed = true, true }
