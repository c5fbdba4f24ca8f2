package storage

import (
	"context"
	"iter"
	"math"
)

// A Querier reads some messages of a recording in the order of time, by its index and without
// reading the rest: the messages of a time range, forwards or backwards.
//
//	for m, err := range querier.Query(ctx, storage.Query{End: at, Reverse: true, Limit: 1}) { // the last one up to at
//
// What is read besides the messages depends on the index of the format:
// docs/library.md describes it for each. The index is trusted: messages that are not
// in it are not found. If it turns out to be wrong there is an error
// that wraps [ErrCorrupt], and [Reader.ReadNext] still reads everything.
type Querier interface {
	// Query returns the messages that q asks for, in the order of LogTime; ties are in
	// the order of the file. q.Reverse reverses both. The message and its Data are valid until the loop's next step or
	// its end. An error comes with a nil message, and ends the loop. A message that
	// the index has and that damage makes unreadable is left out, and reported in
	// Reader.Damage; in a strict reader it is an error.
	//
	// Queries do not move ReadNext. Several may run at once, also concurrently,
	// until the Reader is closed.
	Query(ctx context.Context, q Query) iter.Seq2[*Message, error]
}

// A Query selects messages. The zero value selects all of them, in the order of
// time.
type Query struct {
	Topics []TopicID // of these topics; nil: of all

	// Start and End bound LogTime, ns since 1970. Both are part of the range, as
	// Info.Start and Info.End are. Both 0: all times.
	Start, End int64

	Reverse bool  // the last message comes first
	Limit   int64 // most messages to return; 0: no limit

	// NoData reads no data of messages where the index does without: only Topic and LogTime of the
	// returned messages are set. It counts and dates messages. Messages that damage makes
	// unreadable may be among them.
	NoData bool
}

// Range returns the bounds of LogTime that q asks for.
func (q *Query) Range() (start, end int64) {
	if q.Start == 0 && q.End == 0 {
		return math.MinInt64, math.MaxInt64
	}
	return q.Start, q.End
}
