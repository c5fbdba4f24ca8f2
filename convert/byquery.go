package convert

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"

	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A query is a source's way to a part of its time when its blocks have no times,
// as those of a database: by the index, one message after the other. That is
// slower for each message than blocks are, and reads nothing else.
type query struct {
	next  func() (*storage.Message, error, bool)
	stop  func()
	first *storage.Message // was asked for already
	ended bool
}

// queryPart is the part of a recording's time over which blocks are faster.
const queryPart = 0.25

// worthQuery tells whether a choice is read by a query.
func (s *source) worthQuery(c *selection.Choice) bool {
	if s.blockReader == nil || len(s.blocks) < 2 || s.blocks[0].Timed || storage.ReaderCapabilities(s.reader).Query == nil {
		return false
	}
	whole := float64(s.info.End) - float64(s.info.Start)
	part := float64(min(c.Last, s.info.End)) - float64(max(c.First, s.info.Start))
	return part < queryPart*whole
}

// startQuery makes the source give the messages of a choice by a query, as if it
// had no blocks. It is false when the recording has no index for that.
func (s *source) startQuery(ctx context.Context, c *selection.Choice) (bool, error) {
	q := storage.Query{Start: max(c.First, s.info.Start), End: min(c.Last, s.info.End)}
	if q.Start == 0 && q.End == 0 {
		q.Start = math.MinInt64 // both 0 are all times
	}
	for i, taken := range c.Topics {
		if taken {
			q.Topics = append(q.Topics, storage.TopicID(i))
		}
	}
	x := &query{}
	x.next, x.stop = iter.Pull2(storage.ReaderCapabilities(s.reader).Query.Query(ctx, q))
	m, err, ok := x.next()
	if errors.Is(err, storage.ErrUnsupported) {
		x.stop()
		return false, nil
	}
	if err != nil {
		x.stop()
		return false, err
	}
	x.first, x.ended = m, !ok
	s.query, s.blockReader, s.blocks, s.need = x, nil, nil, nil
	return true, nil
}

// message returns the next message of a source without blocks, or io.EOF.
func (s *source) message() (*storage.Message, error) {
	x := s.query
	switch {
	case x == nil:
		return s.reader.ReadNext()
	case x.first != nil:
		m := x.first
		x.first = nil
		return m, nil
	case x.ended:
		return nil, io.EOF
	}
	m, err, ok := x.next()
	if !ok {
		x.ended = true
		return nil, io.EOF
	}
	return m, err
}

// endQuery lets the query go.
func (s *source) endQuery() {
	if s.query != nil {
		s.query.stop()
		s.query = nil
	}
}
