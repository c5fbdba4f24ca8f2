package storage

import (
	"context"
	"errors"
	"io"
	"testing"
)

// blocks is a reader whose block i has i messages, but for one that is broken.
type blocks struct {
	BlockReader
	broken int
}

var errBroken = errors.New("broken")

func (b blocks) ReadBlock(_ context.Context, i int, batch *Batch) error {
	if i == b.broken {
		return errBroken
	}
	batch.Messages = batch.Messages[:0]
	for k := range i {
		batch.Messages = append(batch.Messages, Message{LogTime: int64(i), Sequence: uint32(k)})
	}
	return nil
}

// TestSequence: all messages in the order of blocks, and the first error from then on.
func TestSequence(t *testing.T) {
	for broken, want := range map[int]struct {
		n   int
		err error
	}{-1: {10, io.EOF}, 0: {0, errBroken}, 3: {3, errBroken}} {
		var s Sequence
		n := 0
		for {
			m, err := s.Next(t.Context(), blocks{broken: broken}, 5)
			if err != nil {
				if _, again := s.Next(t.Context(), blocks{broken: -1}, 5); err != want.err || again != err || n != want.n {
					t.Errorf("block %d is broken: %d messages, %v, %v", broken, n, err, again)
				}
				break
			}
			if n++; m.LogTime == 0 || int64(m.Sequence) >= m.LogTime {
				t.Errorf("message %d: %+v", n, m)
			}
		}
		s.Stop(errors.New("later"))
		if _, err := s.Next(t.Context(), blocks{broken: -1}, 5); err != want.err {
			t.Error(err)
		}
	}
	var s Sequence
	s.Stop(errBroken)
	if _, err := s.Next(t.Context(), blocks{broken: -1}, 5); err != errBroken {
		t.Error(err)
	}
}
