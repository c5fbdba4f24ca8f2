// Package timeorder answers a storage.Query from an index: it merges the heads
// of messages (when, where) of the parts of a recording by time, and reads only
// the messages that are asked for.
//
//	parts, by their first time     |--- 0 ---|
//	                                    |--- 1 ---|
//	                                                 |- 2 -|
//	                                                          |- 3 -|
//
// A part is opened when the merge has come to its first time. Parts that lie
// wholly within what a query skips are not opened, if their index counts the
// messages: above, a query that skips as many messages as 0 and 1 have begins
// with 2. If only the whole recording is counted, one message that is nearer to
// the end than to the start is looked for from there. If neither is known, the
// parts that are skipped are opened ahead, several at once. Memory is for the
// cursors of parts that overlap in time, and of parts that are opened ahead.
//
// An index is trusted until it contradicts itself: a head
// outside its part's times, or earlier than the head before it, ends the query with an
// error that wraps storage.ErrCorrupt.
//
// Nothing here is safe for concurrent use; each query has a merge of its own.
package timeorder

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/bagconv/bagconv/storage"
)

// A Part is a piece of a recording with an index of its own.
type Part struct {
	Start, End int64 // least and greatest LogTime, when Timed
	Timed      bool  // false: its messages may be at any time
}

// A Head is what an index knows of a message.
type Head struct {
	Time  int64
	Pos   int64 // grows in the order of the file within a part; otherwise defined by the source
	Topic storage.TopicID
}

// A Source has the parts of a recording, in the order of the file.
type Source interface {
	// Count is the number of messages of a part that the query's topics have, or
	// -1 if that is not known without looking at their heads.
	Count(part int) (int64, error)

	// Total is the number for all parts, -1 if Count is enough.
	Total() int64

	// Open returns the heads of a part's messages that the query asks for: of its
	// topics, in its range of time, in the order of time or in reverse.
	Open(part int, reverse bool) (Cursor, error)

	// Ahead is how many goroutines, beside the query's own, may open parts before the
	// merge comes to them. Above 0, Open is called concurrently, with itself and with the
	// cursors' methods.
	Ahead() int
}

// A Cursor goes over heads.
type Cursor interface {
	// Next returns the next head, or io.EOF.
	Next() (Head, error)

	// Read returns the message of the head that Next returned last. It is valid until
	// any cursor of the source is called again. Nil without an error: damage
	// makes it unreadable, which a warning has reported.
	Read() (*storage.Message, error)

	// Close frees what the cursor holds.
	Close() error
}

// Wanted checks q against a recording of n topics, and returns for each whether it
// is asked for. all is true when every one is.
func Wanted(q *storage.Query, n int) (selected []bool, all bool, err error) {
	if q.Skip < 0 || q.Limit < 0 {
		return nil, false, fmt.Errorf("a query that skips %d messages and returns %d", q.Skip, q.Limit)
	}
	selected = make([]bool, n)
	if q.Topics == nil {
		for i := range selected {
			selected[i] = true
		}
		return selected, true, nil
	}
	distinct := 0
	for _, id := range q.Topics {
		if int64(id) >= int64(n) {
			return nil, false, fmt.Errorf("a query for topic %d of %d", id, n)
		}
		if !selected[id] {
			selected[id] = true
			distinct++
		}
	}
	return selected, distinct == n, nil
}

var errIndex = fmt.Errorf("the index has times that the messages do not have: %w", storage.ErrCorrupt)
var errCount = fmt.Errorf("the index counts more messages than there are: %w", storage.ErrCorrupt)

// Run returns what q asks for. Errors go through fail, as Fail makes it; it is not called
// with nil.
func Run(ctx context.Context, q storage.Query, parts []Part, src Source,
	fail func(error) error) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		give := func(msg *storage.Message) bool { return yield(msg, nil) }
		err := errUnread
		if t, ok := countFromEnd(q, src.Total()); ok {
			err = newMerge(ctx, t, src, true).all(parts, 1, give)
		}
		if errors.Is(err, errUnread) {
			err = newMerge(ctx, q, src, false).all(parts, q.Limit, give)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, fail(err))
		}
	}
}

// Fail returns a function that makes an error of a query on a recording a *storage.Error,
// unless it is one or the context has ended.
func Fail(format, path string) func(error) error {
	return func(err error) error {
		var e *storage.Error
		if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		e = &storage.Error{Format: format, Path: path, Offset: -1, What: "query", Err: err}
		if errors.Is(err, storage.ErrCorrupt) {
			e.Hint = "read all of it in the order of the file"
		}
		return e
	}
}

// countFromEnd turns a query for one of total messages, the n-th from the start, into a query
// for the same message counted from the end; ok is false if the end is no nearer.
func countFromEnd(q storage.Query, total int64) (t storage.Query, ok bool) {
	if q.Start != 0 || q.End != 0 || q.Limit != 1 || q.Skip >= total || q.Skip < total-q.Skip {
		return q, false
	}
	q.Skip, q.Reverse = total-1-q.Skip, !q.Reverse
	return q, true
}

// errStopped is the error if the caller has left its loop; errUnread, if a turned query
// has come to a message that damage makes unreadable: the caller then gets the message
// after it, in the order that was asked for.
var (
	errStopped = errors.New("stopped")
	errUnread  = errors.New("unreadable")
)

// maxAhead is how many parts are opened ahead at most.
const maxAhead = 64
