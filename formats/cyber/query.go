package cyber

import (
	"context"
	"iter"
	"slices"

	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the chunks' headers, which have times and a count of all
// messages, and by the heads of messages in the chunks that it comes to: a record
// has no index of messages. Contents are skipped unless they are asked for.
// See storage.Querier.
func (r *reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		x := &query{r: r, ctx: ctx}
		fail := timeorder.Fail(formatName, r.path)
		defer x.close()
		x.start, x.end = q.Range()
		var err error
		if x.wanted, err = timeorder.Wanted(&q, len(r.topics.list)); err != nil {
			yield(nil, fail(err))
			return
		}
		var parts []timeorder.Part
		for _, f := range r.files {
			for _, c := range f.chunks {
				x.chunks = append(x.chunks, c)
				parts = append(parts, timeorder.Part{Start: c.begin, End: c.end, Timed: (c.bounded || c.measured) && c.count > 0})
			}
		}
		timeorder.Run(ctx, q, parts, x, fail)(yield)
	}
}

// A query is a running query.
type query struct {
	r          *reader
	ctx        context.Context
	start, end int64
	wanted     []bool // index = TopicID
	chunks     []*chunk
	heads      view
	msgs       view // on the messages that are returned
	msg        storage.Message
}

// A view is a window on one file after the other, with what the messages so far show of the next
// ones: sensors keep their pace. Slices are by the numbers of channels; 0 is the start of a chunk.
type view struct {
	file   *file
	window *window    // of windows
	leaps  []int      // bytes of small messages after a large one
	after  []*channel // channel of the message that came after one
}

// on puts the window on a file.
func (v *view) on(f *file) *window {
	if v.file != f {
		v.close()
		v.file, v.window = f, f.window()
		v.leaps, v.after = make([]int, len(f.channels)+1), make([]*channel, len(f.channels)+1)
	}
	return v.window
}

func (v *view) close() {
	if v.window != nil {
		windows.Put(v.window)
	}
}

// close leaves the memory of messages and heads to other queries.
func (x *query) close() {
	x.heads.close()
	x.msgs.close()
}

// Open goes over the heads of a chunk. See timeorder.Source.
func (x *query) Open(i int, reverse bool) (timeorder.Cursor, error) {
	if err := x.r.ctx.Err(); err != nil {
		return nil, err
	}
	c, v := x.chunks[i], &x.heads
	w := v.on(c.file)
	k := &cursor{x: x, chunk: c, walker: walker{w: w, end: c.body + c.size}}
	m := &k.walker.m
	from, large, last := c.body, 0, 0 // end and channel of the last large message; channel of the last message
	w.leap = v.leaps[large]
	for n, at := 0, c.body; at < k.walker.end; n++ {
		if err := x.ctx.Err(); n&0xfff == 0 && err != nil {
			return nil, err
		}
		next, ch, err := c.stepTo(&k.walker, at, v.after[last])
		if err != nil {
			return nil, err
		}
		if ch != nil {
			if t, topic := int64(m.time), ch.at(c.body); t >= x.start && t <= x.end && x.wanted[topic] {
				k.Add(timeorder.Head{Time: t, Pos: at, Topic: topic})
			}
			if v.after[last] != ch {
				v.after[last] = ch
			}
			last = ch.number
			if m.length > largeMessage {
				run := min(int(at-from)+headBytes, maxLeap)
				v.leaps[large] = max(run, (7*v.leaps[large]+run)/8)
				from, large = next, ch.number
				w.leap = v.leaps[large]
			}
		}
		at = next
	}
	k.Sort(reverse)
	k.leaps = slices.Clone(v.leaps) // another chunk has the view next
	return k, nil
}

// maxLeap bounds what is read at once after a large message, in bytes: as much as lately lay
// between a message of its channel and the next large message. Sensors keep their pace, so that is
// mostly one read of what is needed.
const maxLeap = 64 << 10

// largeMessage is from how many bytes on a message is leapt over.
const largeMessage = 4 << 10

// stepTo goes over the message at an offset of the body, and returns its channel, probably guess.
// The channel is nil if there is no message, or a message of no channel: a warning reports it.
func (c *chunk) stepTo(k *walker, at int64, guess *channel) (next int64, ch *channel, err error) {
	st, err := k.next(at)
	if err != nil {
		return 0, nil, c.file.fail(at, "chunk", err)
	}
	if st == whole {
		if guess != nil && guess.name == string(k.m.name) {
			return at + int64(k.m.size), guess, nil
		}
		if ch = c.file.channels[string(k.m.name)]; ch != nil {
			return at + int64(k.m.size), ch, nil
		}
	}
	next, ok, err := c.step(k, at)
	if err == nil && ok {
		err = c.undeclared(k.m.name)
	}
	return next, nil, err
}

// A cursor goes over the heads of a chunk. Pos is the offset of a message.
type cursor struct {
	timeorder.Heads
	x      *query
	chunk  *chunk
	walker walker
	leaps  []int // of the view that has seen the chunk
	topic  storage.TopicID
	ch     *channel // the channel of topic
}

// Read returns the message of the current head. See timeorder.Cursor.
func (k *cursor) Read() (*storage.Message, error) {
	at, c := k.Current().Pos, k.chunk
	w := k.x.msgs.on(c.file)
	k.walker.w = w
	st, err := k.walker.next(at)
	if err != nil {
		return nil, c.file.fail(at, "message", err)
	}
	m := &k.walker.m
	if st != whole || int64(m.time) != k.Current().Time {
		return nil, c.file.fail(at, "message: the file has changed", storage.ErrCorrupt)
	}
	if k.ch == nil || string(m.name) != k.ch.name {
		if k.ch = c.file.channels[string(m.name)]; k.ch == nil {
			return nil, c.file.fail(at, "message: the file has changed", storage.ErrCorrupt)
		}
		k.topic = k.ch.at(c.body)
	}
	if m.length > largeMessage {
		w.leap = k.leaps[k.ch.number]
	}
	t := int64(m.time)
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
	_ storage.Querier  = (*reader)(nil)
	_ timeorder.Source = (*query)(nil)
	_ timeorder.Cursor = (*cursor)(nil)
)
