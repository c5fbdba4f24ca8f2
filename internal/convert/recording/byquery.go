package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A sourceQuery is a source's way to a few of its messages: by the index, one after the other.
// That is slower for each message than blocks are, and reads nothing else.
type sourceQuery struct {
	next  func() (*storage.Message, error, bool)
	stop  func()
	first *storage.Message // was asked for already
	ended bool
}

// Up to here a query reads less than blocks do, or is as fast.
const (
	queryPart  = 0.25     // of the recording's time, if its blocks have no times
	queryLimit = 1000     // messages that are wanted
	queryShare = 0.01     // of the messages, if blocks have no topics, and there are
	queryLarge = 16 << 10 // bytes for each of all messages
)

// worthQuery reports whether a choice is read by a query, if so many of its messages are
// wanted, 0 for all.
func (s *Source) worthQuery(c *selection.Choice, limit int64) bool {
	if s.blockReader == nil || len(s.blocks) == 0 || storage.ReaderCapabilities(s.Reader).Query == nil {
		return false
	}
	if limit > 0 && limit <= queryLimit {
		return true
	}
	if s.order != storage.OrderBlocks && len(s.blocks) > 1 {
		whole := float64(s.Info.End) - float64(s.Info.Start)
		part := float64(min(c.Last, s.Info.End)) - float64(max(c.First, s.Info.Start))
		if part < queryPart*whole {
			return true
		}
	}
	chosen := int64(0)
	for i, taken := range c.Topics {
		if taken {
			chosen += s.Info.Topics[i].Messages
		}
	}
	return len(s.blocks[0].Topics) == 0 && !s.Info.Estimated && s.Info.Messages*queryLarge <= s.Info.Size &&
		float64(chosen) < queryShare*float64(s.Info.Messages)
}

// startQuery makes the source return the messages of a choice by a query, as if it
// had no blocks. It is false when the recording has no index for that.
func (s *Source) startQuery(ctx context.Context, c *selection.Choice, limit int64) (bool, error) {
	q := storage.Query{Start: max(c.First, s.Info.Start), End: min(c.Last, s.Info.End)}
	if q.Start == 0 && q.End == 0 {
		q.Start = math.MinInt64 // both 0 are all times
	}
	for i, taken := range c.Topics {
		if taken {
			q.Topics = append(q.Topics, storage.TopicID(i))
		}
	}
	x := &sourceQuery{}
	x.next, x.stop = iter.Pull2(storage.ReaderCapabilities(s.Reader).Query.Query(ctx, q))
	m, err, ok := x.next()
	if errors.Is(err, storage.ErrUnsupported) {
		x.stop()
		return false, nil
	}
	if err != nil {
		x.stop()
		return false, wrongIndex(err)
	}
	x.first, x.ended = m, !ok
	s.query, s.blockReader, s.blocks, s.need, s.limit, s.notAtStart = x, nil, nil, nil, limit, true
	return true, nil
}

// message returns the next message of a source without blocks, or io.EOF.
func (s *Source) message() (*storage.Message, error) {
	x := s.query
	switch {
	case x == nil:
		return s.Reader.ReadNext()
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
	return m, wrongIndex(err)
}

// wrongIndex turns the error of a query into one about its index, if the index is damaged:
// the messages are there all the same.
func wrongIndex(err error) error {
	if errors.Is(err, storage.ErrCorrupt) {
		return fmt.Errorf("%w: %w", errIndex, err)
	}
	return err
}

// endQuery lets the query go.
func (s *Source) endQuery() {
	if s.query != nil {
		s.query.stop()
		s.query = nil
	}
}
