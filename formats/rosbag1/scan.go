package rosbag1

import (
	"bytes"
	"errors"
	"math"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// runSize is when a run of records in the open is cut into another block.
const runSize = 1 << 20

// A scanner finds the blocks and connections of a bag without its index, from
// the records in the order of the file. Chunks are passed over where their index
// records tell what they hold, and read where not.
type scanner struct {
	r      *Reader
	w      window
	counts map[uint32]int64 // messages by connection
	batch  storage.Batch

	run     bool // the last block is a run that may grow
	unnamed bool // the last block is a chunk whose index records are still to come
	index   []indexed
	last    struct {
		start, end int64
		conn       uint32
	} // message of the run
	open bool // the last chunk header was that of a plain chunk without end
}

// indexed is one INDEX_DATA record.
type indexed struct {
	conn       uint32
	count      int64
	start, end int64
}

// scan fills in connections and blocks.
func (r *Reader) scan() error {
	r.conns, r.blocks, r.codecs = newConnections(), nil, map[string]int64{}
	s := scanner{r: r, w: window{r: r.file, size: r.size}, counts: map[uint32]int64{}}
	var h header
	for p := r.first; p < r.size; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		err := s.w.header(&h, p)
		var next int64
		if err == nil {
			next, err = s.record(p, &h)
		}
		var fatal *storage.Error
		if err != nil && !isIO(err) && !errors.As(err, &fatal) {
			next, err = s.skip(p, err)
		}
		if isIO(err) {
			err = r.fail(p, "record", err)
		}
		if err != nil {
			return err
		}
		p = next
	}
	s.index = nil // the file may be cut after some of them
	if err := s.endChunk(); err != nil {
		return err
	}
	if s.open {
		if err := s.unclosed(r.size); err != nil {
			return err
		}
	}
	var unknown bool
	for id, n := range s.counts {
		if c := r.conns.byID[id]; c != nil {
			c.count = n
		} else {
			unknown = true
		}
	}
	for i := range r.blocks {
		if unknown { // in some of them
			r.blocks[i].Messages = -1
		}
	}
	return nil
}

// skip passes over bytes that are no record, up to the next that are.
func (s *scanner) skip(p int64, cause error) (int64, error) {
	const all = 1<<opMessage | 1<<opIndex | 1<<opChunk | 1<<opChunkInfo | 1<<opConnection
	next := p
	var err error
	if m := &s.last; s.run && m.end == p {
		// When a record begins within the message before p, it is that
		// message's length that is damaged.
		if next, err = s.r.find(m.start+messageFixed, p, all); err != nil {
			return 0, err
		}
		if next < p {
			b := &s.r.blocks[len(s.r.blocks)-1]
			b.Size -= m.end - m.start
			b.Messages--
			s.counts[m.conn]--
			p = m.start
		}
	}
	if next >= p {
		if next, err = s.r.find(p+1, s.r.size, all); err != nil {
			return 0, err
		}
	}
	if s.unnamed {
		s.index = nil // may not be complete
		if err := s.endChunk(); err != nil {
			return 0, err
		}
	}
	s.run = false
	if next == s.r.size {
		return next, s.r.warnLost(storage.Lost{Bytes: next - p}, "truncated", p, true, "the last %d bytes of the file cannot be read as records: %v", next-p, cause)
	}
	return next, s.r.warnLost(storage.Lost{Bytes: next - p}, "gap", p, true, "%d bytes cannot be read as records: %v", next-p, cause)
}

// record takes in the record at p and returns where the next one is. An error
// that is not from the disk or from strict reading means that the record makes
// no sense.
func (s *scanner) record(p int64, h *header) (int64, error) {
	data := p + int64(h.headLen)
	end := data + h.dataSize()
	if h.op != opChunk && end > s.r.size {
		return 0, storage.ErrTruncated
	}
	if h.guessed {
		if err := s.r.warn("op", p, true, "%v", errOp); err != nil {
			return 0, err
		}
	}
	if h.op != opIndex {
		if err := s.endChunk(); err != nil {
			return 0, err
		}
	}
	if h.op != opMessage && h.op != opConnection {
		s.run, s.open = false, false
	}
	switch h.op {
	case opChunk:
		return s.chunk(p, h)
	case opIndex:
		return end, s.indexData(h.conn, data, end)
	case opMessage:
		return end, s.message(p, end, h)
	case opConnection:
		if s.run {
			s.r.blocks[len(s.r.blocks)-1].Size += end - p
		}
		b, err := s.w.record(h, p)
		if err != nil {
			return 0, err
		}
		return end, s.define(p, h, b)
	}
	return end, nil
}

// message adds a message record that stands in the open to a run.
func (s *scanner) message(p, end int64, h *header) error {
	if s.open {
		s.open = false
		if err := s.unclosed(p); err != nil {
			return err
		}
	}
	blocks := s.r.blocks
	if !s.run || blocks[len(blocks)-1].Size > runSize {
		s.run = true
		s.r.codecs["none"]++
		s.r.blocks = append(blocks, block{run: true, Block: storage.Block{Offset: p, Timed: true, Start: h.time, End: h.time}})
	}
	b := &s.r.blocks[len(s.r.blocks)-1]
	b.Size += end - p
	b.RawSize = b.Size
	b.Messages++
	b.Start, b.End = min(b.Start, h.time), max(b.End, h.time)
	s.counts[h.conn]++
	s.last.start, s.last.end, s.last.conn = p, end, h.conn
	return nil
}

// unclosed warns of a chunk that was never ended.
func (s *scanner) unclosed(p int64) error {
	return s.r.warn("unclosed", p, true, "the recorder stopped within the chunk that begins here; what the file has of it is read")
}

// define takes in a connection.
func (s *scanner) define(at int64, h *header, data []byte) error {
	if old := s.r.conns.byID[h.conn]; old != nil {
		return s.r.checkSame(old, h, data, at)
	}
	c, err := parseConnection(h, data)
	if err != nil {
		return s.r.warn("connection", at, true, "connection %d cannot be read: %v", h.conn, err)
	}
	s.r.conns.add(c)
	return nil
}

// indexData takes in an INDEX_DATA record: how many messages, and their times.
func (s *scanner) indexData(conn uint32, data, end int64) error {
	x := indexed{conn: conn, count: (end - data) / indexEntry, start: math.MaxInt64}
	for at := data; at < end; {
		b, err := s.w.data(at, int(min(end-at, 1000*indexEntry)))
		if err != nil {
			return err
		}
		at += int64(len(b))
		for ; len(b) >= indexEntry; b = b[indexEntry:] {
			t := parseTime(b)
			x.start, x.end = min(x.start, t), max(x.end, t)
		}
	}
	if s.unnamed {
		s.index = append(s.index, x)
	}
	return nil
}

// chunk takes in a CHUNK record.
func (s *scanner) chunk(p int64, h *header) (int64, error) {
	h.compression = bytes.Clone(h.compression) // the window may move
	magic, err := s.w.data(p+int64(h.headLen), 4)
	if err != nil {
		return 0, err
	}
	c := newChunk(p, h, magic)
	if c.renamed {
		err := s.r.warn("compression", p, true, "a chunk has the compression %.20q; it is read as %s", c.compression, c.codec.Name())
		if err != nil {
			return 0, err
		}
	}
	if c.codec == nil {
		if c.data+c.stored > s.r.size {
			return 0, storage.ErrCorrupt
		}
		s.r.lostOf(p)
		return c.data + c.stored, s.r.warnLost(storage.Lost{Bytes: c.stored}, "compression", p, true, "a chunk has the compression %.20q, which bags do not have; it is not read", c.compression)
	}
	end := c.data + c.stored
	if c.codec == compress.None {
		var err error
		switch {
		case c.open:
			s.open = true
			return c.data, nil
		case end > s.r.size:
			s.r.lostOf(p)
			s.r.lostOf(p)
			err = s.r.warn("truncated", p, true, "the file ends %d bytes before the end of its last chunk", end-s.r.size)
		case c.stored != c.size:
			err = s.r.warn("chunk-header", p, true, "a plain chunk has two lengths, %d and %d; its records are read one by one", c.stored, c.size)
		}
		if err != nil || end > s.r.size || c.stored != c.size {
			return c.data, err
		}
	}
	dirty := false
	if c.codec != compress.None {
		var err error
		if end, dirty, err = s.compressedEnd(p, &c); err != nil || end == c.data {
			return end, err
		}
	}
	s.unnamed = true
	s.r.codecs[c.codec.Name()]++
	s.r.blocks = append(s.r.blocks, block{dirty: dirty, Block: storage.Block{Offset: p, Size: end - p, RawSize: c.rawSize(), Messages: -1}})
	return end, nil
}

// compressedEnd returns where the data of a compressed chunk ends. When it is
// not where the header says, dirty is true and a warning was given.
func (s *scanner) compressedEnd(p int64, c *chunk) (end int64, dirty bool, err error) {
	const after = 1<<opIndex | 1<<opChunk | 1<<opChunkInfo
	end = c.data + c.stored
	if end <= s.r.size {
		follows, err := s.w.follows(end)
		if err == nil && c.open && end == s.r.size {
			err = s.unclosed(p)
		}
		if err != nil || follows {
			return end, false, err
		}
	}
	to := min(end, s.r.size)
	if c.open {
		to = s.r.size
	}
	found, err := s.r.find(c.data, to, after)
	if err != nil || found == end {
		return end, false, err
	}
	switch {
	case c.open:
		err = s.unclosed(p)
	case end > s.r.size && found == s.r.size:
		s.r.lostOf(p)
		err = s.r.warn("truncated", p, true, "the file ends %d bytes before the end of its last chunk", end-s.r.size)
	default:
		err = s.r.warn("chunk-header", p, true, "a chunk says that it has %d bytes, but it ends after %d", c.stored, found-c.data)
	}
	return found, true, err
}

// endChunk settles what the last chunk holds: by its index records where all of
// them are there and their connections known, by reading it otherwise.
func (s *scanner) endChunk() error {
	if !s.unnamed {
		return nil
	}
	s.unnamed = false
	index := s.index
	s.index = s.index[:0]
	b := &s.r.blocks[len(s.r.blocks)-1]
	known := len(index) > 0 && !b.dirty
	for _, x := range index {
		known = known && s.r.conns.byID[x.conn] != nil
	}
	if !known {
		return s.readChunk(b)
	}
	b.Messages = 0
	for _, x := range index {
		if x.count == 0 {
			continue
		}
		if b.Messages == 0 {
			b.Start, b.End, b.Timed = x.start, x.end, true
		}
		b.Messages += x.count
		b.Start, b.End = min(b.Start, x.start), max(b.End, x.end)
		s.counts[x.conn] += x.count
	}
	return nil
}

// readChunk reads a chunk to see what it holds.
func (s *scanner) readChunk(b *block) error {
	var failed error
	w := walk{messages: s.batch.Messages[:0]}
	w.connection = func(at int, h *header, data []byte) {
		if err := s.define(b.Offset, h, data); err != nil && failed == nil {
			failed = err
		}
	}
	err := s.r.load(b, &s.batch, &w)
	if err == nil {
		err = failed
	}
	s.batch.Messages = w.messages
	b.Messages = int64(len(w.messages))
	b.RawSize = max(b.RawSize, int64(len(s.batch.Buf)))
	for i := range w.messages {
		m := &w.messages[i]
		s.counts[uint32(m.Topic)]++
		if i == 0 {
			b.Start, b.End, b.Timed = m.LogTime, m.LogTime, true
		}
		b.Start, b.End = min(b.Start, m.LogTime), max(b.End, m.LogTime)
	}
	return err
}
