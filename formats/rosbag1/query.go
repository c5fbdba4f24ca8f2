package rosbag1

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the index: CHUNK_INFO tells in which chunks to look and how many
// messages of a connection each has, INDEX_DATA where in a chunk they are. Of a
// chunk that is not compressed only the messages are read. A chunk without a
// sound INDEX_DATA, or of a bag without an index, is read as a whole. See
// storage.Querier.
func (r *Reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		buf := messages.Get().(*[]byte)
		x := &query{r: r, ctx: ctx, q: q, infos: r.window(), index: r.window(), data: r.window(), buf: *buf}
		defer func() { *buf = x.buf; messages.Put(buf) }()
		x.start, x.end = q.Range()
		var err error
		if x.wanted, x.all, err = timeorder.Wanted(&q, len(r.conns.list)); err != nil {
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

// messages has the memory of large messages, for other queries.
var messages = sync.Pool{New: func() any { return new([]byte) }}

// queryError makes an error of a query a *storage.Error.
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

func (r *Reader) window() window { return window{r: r.file, size: r.size} }

// A query is one that runs.
type query struct {
	r          *Reader
	ctx        context.Context
	q          storage.Query
	start, end int64
	wanted     []bool // index = TopicID
	all        bool

	infos  window            // on CHUNK_INFO records
	index  window            // on INDEX_DATA records
	data   window            // on messages
	counts map[uint32]uint32 // of the wanted connections in a chunk, by its CHUNK_INFO
	cache  []cached          // chunks that were read as a whole, the last used at the end
	size   int64             // of their buffers
	buf    []byte            // of a message that is larger than what a window reads
	msg    storage.Message
}

// cacheBytes is how much of chunks that overlap in time is kept. There is always
// one, whatever its size.
const cacheBytes = 64 << 20

// A cached is a block that was read.
type cached struct {
	block int
	batch *storage.Batch
}

// Count adds up the counts of a CHUNK_INFO. See timeorder.Source.
func (x *query) Count(i int) (int64, error) {
	b := &x.r.blocks[i]
	if x.all {
		return b.Messages, nil
	}
	if b.info == 0 {
		return -1, nil
	}
	if err := x.readInfo(b); err != nil {
		return 0, err
	}
	n := int64(0)
	for _, c := range x.counts {
		n += int64(c)
	}
	return n, nil
}

// Total is not needed: chunks are counted. See timeorder.Source.
func (x *query) Total() int64 { return -1 }

// readInfo fills in counts.
func (x *query) readInfo(b *block) error {
	var h header
	err := x.infos.header(&h, b.info)
	var data []byte
	if err == nil && h.op == opChunkInfo && h.dataSize() <= x.r.size-b.info-int64(h.headLen) {
		data, err = x.infos.record(&h, b.info)
	}
	if err != nil {
		return x.r.fail(b.info, "chunk info", err)
	}
	if x.counts == nil {
		x.counts = map[uint32]uint32{}
	}
	clear(x.counts)
	for ; len(data) >= 8; data = data[8:] {
		id, n := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		if topic, ok := x.r.conns.lookup(id); ok && n > 0 && x.wanted[topic] {
			x.counts[id] += n
		}
	}
	return nil
}

// Ahead is 0: what is passed over is counted by CHUNK_INFO. See timeorder.Source.
func (x *query) Ahead() int { return 0 }

// Open returns the heads of a block. See timeorder.Source.
func (x *query) Open(i int, reverse bool) (timeorder.Cursor, error) {
	if err := x.r.ctx.Err(); err != nil {
		return nil, err
	}
	b := &x.r.blocks[i]
	c := &cursor{x: x, block: i}
	if b.info > 0 {
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

// A cursor goes over the heads of a block. Pos is where in the chunk a message's
// record is, when indexed, else its number in the block.
type cursor struct {
	timeorder.Heads
	x       *query
	block   int
	indexed bool
	chunk   chunk
}

// byIndex takes the heads from INDEX_DATA. ok is false when that does not hold
// what CHUNK_INFO has.
func (c *cursor) byIndex(b *block) (ok bool, err error) {
	x := c.x
	if err := x.readInfo(b); err != nil {
		return false, err
	}
	c.indexed = true
	if len(x.counts) == 0 {
		return true, nil
	}
	if c.chunk, err = x.r.chunkHeader(b); err != nil || c.chunk.codec == nil || c.chunk.renamed || c.chunk.open {
		return false, ioError(err)
	}
	var h header
	for at := c.chunk.data + c.chunk.stored; len(x.counts) > 0 && at < x.r.size; {
		err := x.index.header(&h, at)
		size := h.dataSize()
		next := at + int64(h.headLen) + size
		if err != nil || h.op != opIndex || next > x.r.size {
			return false, ioError(err)
		}
		if want, ok := x.counts[h.conn]; ok {
			if h.count > want {
				return false, nil
			}
			data, err := x.index.record(&h, at)
			if err != nil {
				return false, ioError(err)
			}
			if x.counts[h.conn] -= h.count; h.count == want {
				delete(x.counts, h.conn)
			}
			for ; len(data) >= indexEntry; data = data[indexEntry:] {
				t := parseTime(data)
				if t < b.Start || t > b.End {
					return false, nil
				}
				if t >= x.start && t <= x.end {
					c.Add(timeorder.Head{Time: t, Pos: int64(binary.LittleEndian.Uint32(data[8:]))})
				}
			}
		}
		at = next
	}
	return len(x.counts) == 0, nil
}

// ioError keeps errors of the disk, and drops those that say what is damaged.
func ioError(err error) error {
	if isIO(err) {
		return err
	}
	return nil
}

// Read returns the message of the current head. See timeorder.Cursor.
func (c *cursor) Read() (*storage.Message, error) {
	x, head := c.x, c.Current()
	if c.indexed && c.chunk.codec == compress.None {
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
	var h header
	if head.Pos >= int64(len(batch.Buf)) {
		return nil, c.missing(head)
	}
	b := batch.Buf[head.Pos:]
	if h.parseRecord(b) != nil || int64(h.headLen)+h.dataSize() > int64(len(b)) {
		return nil, c.missing(head)
	}
	return c.message(&h, head, b[h.headLen:h.headLen+int(h.dataSize())])
}

// direct reads a message from where it lies in the file.
func (c *cursor) direct(head timeorder.Head) (*storage.Message, error) {
	w := &c.x.data
	at, end := c.chunk.data+head.Pos, c.chunk.data+c.chunk.stored
	if at >= end {
		return nil, c.missing(head)
	}
	var h header
	err := w.header(&h, at)
	if err == nil && int64(h.headLen)+h.dataSize() > end-at {
		err = storage.ErrTruncated
	}
	if isIO(err) {
		return nil, c.x.r.fail(at, "message", err)
	}
	if err != nil {
		return nil, c.missing(head)
	}
	from, size := at+int64(h.headLen), h.dataSize()
	if in := from - w.at; in+size <= int64(len(w.buf)) {
		return c.message(&h, head, w.buf[in:in+size])
	}
	c.x.buf = storage.Grow(c.x.buf, int(size))
	if err := iox.ReadFull(c.x.r.file, c.x.buf, from); err != nil {
		return nil, c.x.r.fail(from, "message", err)
	}
	return c.message(&h, head, c.x.buf)
}

// message makes a message of a record that must be what the index has.
func (c *cursor) message(h *header, head timeorder.Head, data []byte) (*storage.Message, error) {
	topic, ok := c.x.r.conns.lookup(h.conn)
	if h.op != opMessage || h.time != head.Time || !ok || !c.x.wanted[topic] {
		return nil, c.missing(head)
	}
	c.x.msg = storage.Message{Topic: topic, LogTime: h.time, PublishTime: h.time, Data: data[:len(data):len(data)]}
	return &c.x.msg, nil
}

// missing warns that a message is not where the index has it.
func (c *cursor) missing(head timeorder.Head) error {
	at := c.x.r.blocks[c.block].Offset
	c.x.r.lostOf(at)
	return c.x.r.warnLost(storage.Lost{Messages: 1}, "index-entry", at, true,
		"the index has a message %d bytes into a chunk that cannot be read there", head.Pos)
}

// Close does nothing: what a cursor has belongs to its query.
func (c *cursor) Close() error { return nil }

var (
	_ storage.Querier  = (*Reader)(nil)
	_ timeorder.Source = (*query)(nil)
	_ timeorder.Cursor = (*cursor)(nil)
)
