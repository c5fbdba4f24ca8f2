// Package timeorder answers a storage.Query from an index: it merges the heads
// of messages (when, where) of the parts of a recording by time, and reads only
// the messages that are asked for.
//
//	parts, by their first time     |--- 0 ---|
//	                                    |--- 1 ---|
//	                                                 |- 2 -|
//	                                                          |- 3 -|
//
// A part is opened when the merge has come to its first time. Memory is for the
// cursors of parts that overlap in time.
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
	// Open returns the heads of a part's messages that the query asks for: of its
	// topics, in its range of time, in the order of time or in reverse.
	Open(part int, reverse bool) (Cursor, error)
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
// is asked for.
func Wanted(q *storage.Query, n int) (selected []bool, err error) {
	if q.Limit < 0 {
		return nil, fmt.Errorf("a query that returns %d messages", q.Limit)
	}
	selected = make([]bool, n)
	if q.Topics == nil {
		for i := range selected {
			selected[i] = true
		}
		return selected, nil
	}
	for _, id := range q.Topics {
		if int64(id) >= int64(n) {
			return nil, fmt.Errorf("a query for topic %d of %d", id, n)
		}
		selected[id] = true
	}
	return selected, nil
}

var errIndex = fmt.Errorf("the index has times that the messages do not have: %w", storage.ErrCorrupt)

// Run returns what q asks for. Errors go through fail, as Fail makes it; it is not called
// with nil.
func Run(ctx context.Context, q storage.Query, parts []Part, src Source,
	fail func(error) error) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		give := func(msg *storage.Message) bool { return yield(msg, nil) }
		err := newMerge(ctx, q, src).all(parts, q.Limit, give)
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

// errStopped is the error if the caller has left its loop.
var errStopped = errors.New("stopped")
