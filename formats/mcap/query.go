package mcap

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the index: the Chunk Index tells in which chunks to look and how many
// messages of a channel each has, the Message Index where in a chunk they are. Of a
// chunk that is not compressed only the messages are read. A chunk without a sound
// Message Index, and messages outside of chunks, are read as a whole. See
// storage.Querier.
func (r *Reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		x := r.query(ctx, q)
		defer x.release()
		var err error
		if x.wanted, x.all, err = timeorder.Wanted(&q, len(r.defs.list)); err != nil {
			yield(nil, r.queryError(err))
			return
		}
		parts := make([]timeorder.Part, len(r.blocks))
		for i := range r.blocks {
			b := &r.blocks[i]
			parts[i] = timeorder.Part{Start: b.Start, End: b.End, Timed: b.Timed}
		}
		timeorder.Run(ctx, q, parts, x, r.queryError)(yield)
	}
}

// query begins a query, of no topics yet.
func (r *Reader) query(ctx context.Context, q storage.Query) *query {
	x := &query{r: r, ctx: ctx, q: q, index: r.window(), data: r.window(), pooled: messages.Get().(*[]byte)}
	x.buf = *x.pooled
	x.start, x.end = q.Range()
	return x
}

// release returns the memory of the query.
func (x *query) release() {
	*x.pooled = x.buf
	messages.Put(x.pooled)
}

// messages has the memory of large messages, for other queries.
var messages = sync.Pool{New: func() any { return new([]byte) }}

// queryError says where an error of a query is from.
func (r *Reader) queryError(err error) error {
	var e *storage.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e = r.fail(-1, "query", err)
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

	index  window   // on Message Index records
	data   window   // on messages
	cache  []cached // blocks that were read as a whole, the last used at the end
	size   int64    // of their buffers
	buf    []byte   // of a message that is larger than what a window reads
	pooled *[]byte  // buf, when the query is over
	msg    storage.Message
}

// cacheBytes is how much of blocks that overlap in time is kept. There is always one,
// whatever its size.
const cacheBytes = 64 << 20

// A cached is a block that was read.
type cached struct {
	block int
	batch *storage.Batch
}

// want tells whether a channel is asked for. It is for files in which an id means one
// topic.
func (x *query) want(channel uint16) bool {
	topic, ok := x.r.defs.lookup(channel)
	return ok && x.wanted[topic]
}

// Count adds up the counts of a Chunk Index. See timeorder.Source.
func (x *query) Count(i int) (int64, error) {
	b := &x.r.blocks[i]
	if x.all {
		return b.Messages, nil
	}
	if len(b.counts) == 0 || len(x.r.defs.changes) > 0 {
		return -1, nil
	}
	n := int64(0)
	for _, c := range b.counts {
		if x.want(c.channel) {
			n += c.n
		}
	}
	return n, nil
}

// Total is not needed: chunks are counted. See timeorder.Source.
func (x *query) Total() int64 { return -1 }

// Ahead is 0: what is passed over is counted. See timeorder.Source.
func (x *query) Ahead() int { return 0 }

// Open returns the heads of a block. See timeorder.Source.
func (x *query) Open(i int, reverse bool) (timeorder.Cursor, error) {
	if err := x.r.ctx.Err(); err != nil {
		return nil, err
	}
	b := &x.r.blocks[i]
	c := &heads{x: x, block: i}
	if len(b.counts) > 0 && len(x.r.defs.changes) == 0 {
		ok, err := c.byIndex(b)
		if err != nil {
			return nil, err
		}
		if ok {
			c.Sort(reverse)
			return c, nil
		}
	}
	c.indexed, c.Heads = false, timeorder.Heads{}
	batch, err := x.read(i)
	if err != nil {
		return nil, err
	}
	for k := range batch.Messages {
		if m := &batch.Messages[k]; x.wanted[m.Topic] && m.LogTime >= x.start && m.LogTime <= x.end {
			c.Add(timeorder.Head{Time: m.LogTime, Pos: int64(k)})
		}
	}
	c.Sort(reverse)
	return c, nil
}

// read reads a block as a whole, unless that was done lately. The batch is valid
// until the next call.
func (x *query) read(i int) (*storage.Batch, error) {
	if k := slices.IndexFunc(x.cache, func(c cached) bool { return c.block == i }); k >= 0 {
		c := x.cache[k]
		x.cache = append(slices.Delete(x.cache, k, k+1), c)
		return c.batch, nil
	}
	var batch *storage.Batch
	need := x.r.blocks[i].RawSize
	for len(x.cache) > 0 && x.size+need > cacheBytes {
		batch = x.cache[0].batch
		x.size -= batchSize(batch)
		x.cache = slices.Delete(x.cache, 0, 1)
	}
	if batch == nil {
		batch = &storage.Batch{}
	}
	if err := x.r.ReadBlock(x.ctx, i, batch); err != nil {
		return nil, err
	}
	x.size += batchSize(batch)
	x.cache = append(x.cache, cached{i, batch})
	return batch, nil
}

func batchSize(b *storage.Batch) int64 { return int64(cap(b.Buf) + cap(b.Scratch)) }

// heads goes over the heads of a block. Pos is where in the chunk a message's record
// is, when indexed, else its number in the block.
type heads struct {
	timeorder.Heads
	x       *query
	block   int
	indexed bool
	plain   extent // the records, where they are not compressed
}

// byIndex takes the heads from the Message Index. ok is false when that does not fit
// what the Chunk Index says.
func (c *heads) byIndex(b *block) (ok bool, err error) {
	x := c.x
	c.indexed = true
	k, err := x.r.chunkHeader(b)
	if err != nil {
		return false, ioError(err)
	}
	if codec, sure := k.codec(); !sure {
		return false, nil
	} else if codec == compress.None {
		c.plain = extent{b.Offset + recordHead + int64(k.head), int64(k.n)}
	}
	for _, n := range b.counts {
		if n.n == 0 || !x.want(n.channel) {
			continue
		}
		h, err := x.index.head(n.at)
		if err != nil || h.op != opMessageIndex {
			return false, ioError(err)
		}
		body, err := x.index.body(n.at, h, math.MaxInt64)
		if err != nil {
			return false, err
		}
		var m messageIndex
		if m.parse(body) != nil || m.channel != n.channel || int64(len(m.entries)) != n.n*indexEntry {
			return false, nil
		}
		for i := range int(n.n) {
			log, at := m.entry(i)
			t := int64(log)
			if t < b.Start || t > b.End || at > math.MaxInt64 {
				return false, nil
			}
			if t >= x.start && t <= x.end {
				c.Add(timeorder.Head{Time: t, Pos: int64(at)})
			}
		}
	}
	return true, nil
}

// Read returns the message of the current head. See timeorder.Cursor.
func (c *heads) Read() (*storage.Message, error) {
	x, head := c.x, c.Current()
	if c.indexed && c.plain.at > 0 {
		return c.direct(head)
	}
	batch, err := x.read(c.block)
	if err != nil {
		return nil, err
	}
	if !c.indexed {
		if head.Pos >= int64(len(batch.Messages)) {
			return nil, c.missing(head)
		}
		x.msg = batch.Messages[head.Pos]
		return &x.msg, nil
	}
	if head.Pos >= int64(len(batch.Buf)) {
		return nil, c.missing(head)
	}
	b := batch.Buf[head.Pos:]
	h, err := parseHead(b)
	if err != nil || h.length > uint64(len(b)-recordHead) {
		return nil, c.missing(head)
	}
	return c.message(h, head, b[recordHead:recordHead+h.length])
}

// direct reads a message from where it lies in the file.
func (c *heads) direct(head timeorder.Head) (*storage.Message, error) {
	w := &c.x.data
	if head.Pos >= c.plain.size-recordHead {
		return nil, c.missing(head)
	}
	at := c.plain.at + head.Pos
	h, err := w.head(at)
	if err == nil && h.length > uint64(c.plain.at+c.plain.size-at-recordHead) {
		err = errCut
	}
	if isIO(err) {
		return nil, c.x.r.fail(at, "message", err)
	}
	if err != nil {
		return nil, c.missing(head)
	}
	from, size := at+recordHead, int64(h.length)
	if in := from - w.at; in+size <= int64(len(w.buf)) {
		return c.message(h, head, w.buf[in:in+size])
	}
	c.x.buf = storage.Grow(c.x.buf, int(size))
	if err := iox.ReadFull(c.x.r.file, c.x.buf, from); err != nil {
		return nil, c.x.r.fail(from, "message", err)
	}
	return c.message(h, head, c.x.buf)
}

// message makes a message of a record that must be what the index says.
func (c *heads) message(h recordHeader, head timeorder.Head, body []byte) (*storage.Message, error) {
	if h.op != opMessage || len(body) < messageFixed {
		return nil, c.missing(head)
	}
	topic, ok := c.x.r.defs.lookup(binary.LittleEndian.Uint16(body))
	if int64(binary.LittleEndian.Uint64(body[6:])) != head.Time || !ok || !c.x.wanted[topic] {
		return nil, c.missing(head)
	}
	c.x.msg = storage.Message{
		Topic: topic, LogTime: head.Time,
		PublishTime: int64(binary.LittleEndian.Uint64(body[14:])),
		Sequence:    binary.LittleEndian.Uint32(body[2:]),
		Data:        body[messageFixed:len(body):len(body)],
	}
	return &c.x.msg, nil
}

// missing warns that a message is not where the index has it.
func (c *heads) missing(head timeorder.Head) error {
	at := c.x.r.blocks[c.block].Offset
	c.x.r.lostOf(at)
	return c.x.r.warnLost(storage.Lost{Messages: 1}, "index-entry", at, true,
		"the index has a message %d bytes into a chunk that cannot be read there", head.Pos)
}

// Close does nothing: what a cursor has belongs to its query.
func (c *heads) Close() error { return nil }

var (
	_ timeorder.Source = (*query)(nil)
	_ timeorder.Cursor = (*heads)(nil)
)
