package cyber

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the chunks' headers, which have times and a count of all
// messages, and by the heads of messages in the chunks that it comes to: a record
// has no index of messages. Contents are passed over unless they are asked for.
// See storage.Querier.
func (r *Reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		x := &query{r: r, ctx: ctx, q: q}
		x.start, x.end = q.Range()
		var err error
		if x.wanted, x.all, err = timeorder.Wanted(&q, len(r.topics.list)); err != nil {
			yield(nil, r.queryError(err))
			return
		}
		var parts []timeorder.Part
		for _, f := range r.files {
			for _, c := range f.chunks {
				x.chunks = append(x.chunks, c)
				parts = append(parts, timeorder.Part{Start: c.begin, End: c.end, Timed: (c.said || c.measured) && c.count > 0})
			}
		}
		timeorder.Run(ctx, q, parts, x, r.queryError)(yield)
	}
}

// queryError says where an error of a query is from.
func (r *Reader) queryError(err error) error {
	var e *storage.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e = &storage.Error{Format: formatName, Path: r.path, Offset: -1, What: "query", Err: err}
	if errors.Is(err, storage.ErrCorrupt) {
		e.Hint = "read all of it in the order of the file"
	}
	return e
}

// A query is one that runs.
type query struct {
	r          *Reader
	ctx        context.Context
	q          storage.Query
	start, end int64
	wanted     []bool // index = TopicID
	all        bool
	chunks     []*chunk
	file       *file // that the window is on
	window     window
	msg        storage.Message
}

// on gives the query's one window, on a file.
func (x *query) on(f *file) *window {
	if x.file != f {
		x.file, x.window = f, window{r: f.file, size: f.size, buf: x.window.buf[:0]}
	}
	return &x.window
}

// Count tells what a chunk's header says, when all topics are asked for. See
// timeorder.Source.
func (x *query) Count(i int) (int64, error) {
	if c := x.chunks[i]; x.all && (c.measured || c.said) {
		return c.count, nil
	}
	return -1, nil
}

// Open goes over the heads of a chunk. See timeorder.Source.
func (x *query) Open(i int) (timeorder.Cursor, error) {
	if err := x.r.ctx.Err(); err != nil {
		return nil, err
	}
	c := x.chunks[i]
	k := &cursor{x: x, chunk: c, walker: walker{w: x.on(c.file), end: c.body + c.size}}
	var ch *channel
	var topic storage.TopicID
	n := 0
	for at := c.body; at < k.walker.end; n++ {
		if err := x.ctx.Err(); n&0xfff == 0 && err != nil {
			return nil, err
		}
		next, ok, err := c.step(&k.walker, at)
		if err != nil {
			return nil, err
		}
		if m := &k.walker.m; ok {
			if ch == nil || string(m.name) != ch.name {
				if ch = c.file.channels[string(m.name)]; ch == nil {
					if err := c.undeclared(m.name); err != nil {
						return nil, err
					}
					at = next
					continue
				}
				topic = ch.at(c.body)
			}
			if t := clamp(m.time); x.wanted[topic] && t >= x.start && t <= x.end {
				k.Add(timeorder.Head{Time: t, Pos: at})
			}
		}
		at = next
	}
	k.Sort(x.q.Reverse)
	return k, nil
}

// A cursor goes over the heads of a chunk. Pos is the offset of a message.
type cursor struct {
	timeorder.Heads
	x      *query
	chunk  *chunk
	walker walker
	topic  storage.TopicID
	name   string // of the channel whose topic that is
}

// Read gives the message of the current head. See timeorder.Cursor.
func (k *cursor) Read() (*storage.Message, error) {
	at, c := k.Current().Pos, k.chunk
	w := k.x.on(c.file)
	st, err := k.walker.next(at)
	if err != nil {
		return nil, c.file.fail(at, "message", err)
	}
	m := &k.walker.m
	if st != whole || clamp(m.time) != k.Current().Time {
		return nil, c.file.fail(at, "message: the file has changed", storage.ErrCorrupt)
	}
	if string(m.name) != k.name || k.name == "" {
		ch := c.file.channels[string(m.name)]
		if ch == nil {
			return nil, c.file.fail(at, "message: the file has changed", storage.ErrCorrupt)
		}
		k.name, k.topic = ch.name, ch.at(c.body)
	}
	t := clamp(m.time)
	if m.time > math.MaxInt64 {
		if err := c.hugeTime(m.time); err != nil {
			return nil, err
		}
	}
	length := m.length
	data, err := w.peek(at+int64(m.content), length)
	if err != nil {
		return nil, c.file.fail(at, "message", err)
	}
	k.x.msg = storage.Message{Topic: k.topic, LogTime: t, PublishTime: t, Data: data[:len(data):len(data)]}
	return &k.x.msg, nil
}

// Close does nothing: the cursor has memory only.
func (k *cursor) Close() error { return nil }

var (
	_ storage.Querier  = (*Reader)(nil)
	_ timeorder.Source = (*query)(nil)
	_ timeorder.Cursor = (*cursor)(nil)
)
