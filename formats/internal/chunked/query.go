package chunked

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// An Index is what a format knows of the messages in the chunks of a file.
type Index interface {
	// Find calls q.Add for each message of block i that q asks for. plain is where in the
	// file the records of the chunk are, if they are not compressed. If ok is false, the
	// index does not fit the chunk, and all of it is read.
	Find(q *Query, i int) (plain Extent, ok bool, err error)

	// Parse reads the head of a message's record from the first bytes of it. need is how many bytes
	// that takes, if b has too few. If ok is false and need is not above len(b), it is not a
	// message, or a message of no topic.
	Parse(b []byte) (rec Record, need int, ok bool)
}

// An Extent is a part of a file, in bytes.
type Extent struct{ At, Size int64 }

// A Record is the head of a message's record.
type Record struct {
	Head    int             // bytes in front of the data
	Size    int64           // bytes of the data
	Message storage.Message // without its data
}

// A Query is a query that runs on a file.
type Query struct {
	Start, End int64  // range of log times that is asked for, ns, both included
	Wanted     []bool // topics that are asked for, by TopicID

	ctx    context.Context
	src    *Source
	reader storage.BlockReader
	block  func(i int) *storage.Block
	index  Index

	heads  *timeorder.Heads // of the block that is looked up
	data   Window           // on messages
	cache  []cachedBlock    // blocks that were read as a whole, the last used at the end
	size   int64            // of their buffers, bytes
	buf    []byte           // of a message that is larger than what a window reads
	pooled *[]byte          // buf, when the query is over
	msg    storage.Message
}

// A cachedBlock is a block that was read.
type cachedBlock struct {
	block int
	batch *storage.Batch
}

// cacheBytes is how much of blocks that overlap in time is kept. One block is always kept, whatever
// its size.
const cacheBytes = 64 << 20

// messages has the memory of large messages, for other queries.
var messages = sync.Pool{New: func() any { return new([]byte) }}

// NewQuery begins a query of no topics yet, on a file whose blocks reader reads and block
// describes. It must be released. Without an index, blocks that have a wanted topic are read whole.
func NewQuery(ctx context.Context, q storage.Query, src *Source, reader storage.BlockReader,
	block func(i int) *storage.Block, index Index) *Query {
	x := &Query{ctx: ctx, src: src, reader: reader, block: block, index: index, data: src.Window(),
		pooled: messages.Get().(*[]byte)}
	x.buf = *x.pooled
	x.Start, x.End = q.Range()
	return x
}

// Release returns the memory of the query.
func (x *Query) Release() {
	*x.pooled = x.buf
	messages.Put(x.pooled)
}

// Run answers q from a file with a number of topics and blocks, and releases x. See
// storage.Querier.
func (x *Query) Run(q storage.Query, topics, blocks int) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		defer x.Release()
		fail := timeorder.Fail(x.src.Format, x.src.Path)
		var err error
		if x.Wanted, err = timeorder.Wanted(&q, topics); err != nil {
			yield(nil, fail(err))
			return
		}
		timeorder.Run(x.ctx, q, x.Parts(make([]timeorder.Part, 0, blocks), blocks), x, fail)(yield)
	}
}

// Parts appends the times of the first n blocks.
func (x *Query) Parts(parts []timeorder.Part, n int) []timeorder.Part {
	for i := range n {
		b := x.block(i)
		parts = append(parts, timeorder.Part{Start: b.Start, End: b.End, Timed: b.Timed})
	}
	return parts
}

// Add adds a message of the block that is looked up: its topic, its log time, and where in the
// chunk its record is. It is false if the time is not in the block's range.
func (x *Query) Add(i int, topic storage.TopicID, log, at int64) bool {
	if b := x.block(i); log < b.Start || log > b.End {
		return false
	}
	if log >= x.Start && log <= x.End {
		x.heads.Add(timeorder.Head{Time: log, Pos: at, Topic: topic})
	}
	return true
}

// Open returns the heads of a block. See timeorder.Source.
func (x *Query) Open(i int, reverse bool) (timeorder.Cursor, error) {
	if err := x.src.Ctx.Err(); err != nil {
		return nil, err
	}
	c := &chunkCursor{x: x, block: i}
	x.heads = &c.Heads
	var err error
	if x.index != nil {
		c.plain, c.indexed, err = x.index.Find(x, i)
	} else if !slices.ContainsFunc(x.block(i).Topics, func(id storage.TopicID) bool { return x.Wanted[id] }) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if !c.indexed {
		c.Heads = timeorder.Heads{}
		batch, err := x.read(i)
		if err != nil {
			return nil, err
		}
		for k := range batch.Messages {
			if m := &batch.Messages[k]; x.Wanted[m.Topic] && m.LogTime >= x.Start && m.LogTime <= x.End {
				c.Add(timeorder.Head{Time: m.LogTime, Pos: int64(k), Topic: m.Topic})
			}
		}
	}
	c.Sort(reverse)
	return c, nil
}

// read reads a block as a whole, unless that was done lately. The batch is valid until
// the next call.
func (x *Query) read(i int) (*storage.Batch, error) {
	if k := slices.IndexFunc(x.cache, func(c cachedBlock) bool { return c.block == i }); k >= 0 {
		c := x.cache[k]
		x.cache = append(slices.Delete(x.cache, k, k+1), c)
		return c.batch, nil
	}
	var batch *storage.Batch
	need := x.block(i).RawSize
	for len(x.cache) > 0 && x.size+need > cacheBytes {
		batch = x.cache[0].batch
		x.size -= batchSize(batch)
		x.cache = slices.Delete(x.cache, 0, 1)
	}
	if batch == nil {
		batch = &storage.Batch{}
	}
	if err := x.reader.ReadBlock(x.ctx, i, batch); err != nil {
		return nil, err
	}
	x.size += batchSize(batch)
	x.cache = append(x.cache, cachedBlock{i, batch})
	return batch, nil
}

func batchSize(b *storage.Batch) int64 { return int64(cap(b.Buf) + cap(b.Scratch)) }

// A chunkCursor goes over the heads of a block. Pos is where in the chunk a message's record is if
// the heads are from the index, else its number in the block.
type chunkCursor struct {
	timeorder.Heads
	x       *Query
	block   int
	indexed bool
	plain   Extent // the records in the file, if they are not compressed
}

// Read returns the message of the current head. See timeorder.Cursor.
func (c *chunkCursor) Read() (*storage.Message, error) {
	x, head := c.x, c.Current()
	if c.indexed && c.plain.At > 0 {
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
	rec, _, ok := x.index.Parse(b)
	if !ok || rec.Size < 0 || rec.Size > int64(len(b)-rec.Head) || !c.fits(&rec, head) {
		return nil, c.missing(head)
	}
	return c.message(&rec, b[rec.Head:][:rec.Size]), nil
}

// recordHead is how many bytes of a record are enough for the head of almost every message.
const recordHead = 512

// direct reads a message from where it is in the file.
func (c *chunkCursor) direct(head timeorder.Head) (*storage.Message, error) {
	x, left := c.x, c.plain.Size-head.Pos
	if left <= 0 {
		return nil, c.missing(head)
	}
	at := c.plain.At + head.Pos
	rec, ok, err := x.src.head(&x.data, at, left, x.index.Parse)
	if err != nil {
		return nil, err
	}
	if !ok || !c.fits(&rec, head) {
		return nil, c.missing(head)
	}
	from := at + int64(rec.Head)
	if b, ok := x.data.cached(from, rec.Size); ok {
		return c.message(&rec, b), nil
	}
	x.buf = storage.Grow(x.buf, int(rec.Size))
	if err := iox.ReadFull(x.src.File, x.buf, from); err != nil {
		return nil, x.src.Fail(from, "message", err)
	}
	return c.message(&rec, x.buf), nil
}

// fits reports whether a record is what the index has.
func (c *chunkCursor) fits(rec *Record, head timeorder.Head) bool {
	return rec.Message.LogTime == head.Time && c.x.Wanted[rec.Message.Topic]
}

func (c *chunkCursor) message(rec *Record, data []byte) *storage.Message {
	m := &c.x.msg
	*m = rec.Message
	m.Data = data[:len(data):len(data)]
	return m
}

// missing warns that a message is not where the index has it.
func (c *chunkCursor) missing(head timeorder.Head) error {
	at := c.x.block(c.block).Offset
	c.x.src.Lose(at)
	return c.x.src.WarnLost(storage.Lost{Messages: 1}, "index-entry", at, true,
		"the index has a message %d bytes into a chunk, but none can be read there", head.Pos)
}

// Close does nothing: what a cursor has belongs to its query.
func (c *chunkCursor) Close() error { return nil }

var (
	_ timeorder.Source = (*Query)(nil)
	_ timeorder.Cursor = (*chunkCursor)(nil)
)
