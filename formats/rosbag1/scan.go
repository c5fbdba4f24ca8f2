package rosbag1

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// runSize is when a run of records in the open is cut into another block.
const runSize = 1 << 20

// A scanner finds the blocks and connections of a bag without its index, from
// the records in the order of the file. Chunks are skipped if their index
// records show what they hold, and read if not.
type scanner struct {
	r      *reader
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
	open bool // the last chunk header is the header of a plain chunk without end

	chunks    int64 // that have a header
	inside    int64 // where the data of the last chunk ends by its header
	damaged   []int // blocks in which something is wrong
	notes     []note
	infos     []chunkInfo
	ownerless int64 // messages of connections that the file does not define
	trailer   bool  // the last records were index records
	settled   int   // notes that were there at the last chunk or message

	// visit, unless it is nil, is called after each record at p, and after bytes that are not
	// records, for the reason cause; next is where reading goes on. Then chunks are not read for
	// what they hold.
	visit func(p, next int64, h *header, cause error) error
}

// A note is something wrong between the records. What it means is known when all
// of the file is: see account.
type note struct {
	code      string
	at, bytes int64
	repaired  bool // nothing was skipped
	inside    bool // a chunk: there may have been messages
	what      string
}

// note keeps what is wrong. If there is very much, the last note counts all the rest.
func (s *scanner) note(code string, at, bytes int64, repaired bool, format string, args ...any) {
	if len(s.notes) > warnings.Max {
		s.notes[len(s.notes)-1].bytes += bytes
		return
	}
	s.notes = append(s.notes, note{code, at, bytes, repaired, at < s.inside, fmt.Sprintf(format, args...)})
}

// indexed is one INDEX_DATA record.
type indexed struct {
	conn       uint32
	count      int64
	start, end int64
}

// scan fills in connections and blocks. why is what keeps the index from being used.
func (r *reader) scan(why reason) error {
	r.conns, r.blocks, r.codecs, r.topicSets, r.trailerEnd = newConnections(), nil, map[string]int64{}, nil, 0
	s := scanner{r: r, w: r.window(), counts: map[uint32]int64{}}
	if err := s.walk(); err != nil {
		return err
	}
	for id, n := range s.counts {
		if c := r.conns.byID[id]; c != nil {
			c.count = n
		} else {
			s.ownerless += n
		}
	}
	r.ownerless = s.ownerless > 0
	for i := range r.blocks {
		if r.ownerless { // in some of them
			r.blocks[i].Messages = -1
		}
	}
	r.conns.freeze()
	return s.account(why)
}

// walk goes over all records of the file.
func (s *scanner) walk() error {
	r := s.r
	var h header
	for p := r.first; p < r.src.Size; {
		if err := r.src.Ctx.Err(); err != nil {
			return err
		}
		err := s.w.header(&h, p)
		var next int64
		if err == nil {
			next, err = s.record(p, &h)
		}
		var fatal *storage.Error
		var cause error
		if err != nil && !chunked.IsIO(err) && !errors.As(err, &fatal) {
			if c, end, sealed := s.sealedConnection(p); sealed {
				h = header{op: opConnection, conn: c.id, headLen: 8, dataLen: uint32(end - p - 8)}
				next, err = end, s.sealed(p, c)
			} else {
				cause = err
				next, err = s.skip(p, err)
			}
		}
		if chunked.IsIO(err) {
			err = r.src.Fail(p, "record", err)
		}
		if err == nil && s.visit != nil {
			err = s.visit(p, next, &h, cause)
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
		s.unclosed(r.src.Size)
	}
	return nil
}

// skip goes past bytes that are not records, up to the next that are.
func (s *scanner) skip(p int64, cause error) (int64, error) {
	const all = 1<<opMessage | 1<<opIndex | 1<<opChunk | 1<<opChunkInfo | 1<<opConnection
	next := p
	var err error
	if m := &s.last; s.run && m.end == p {
		// If a record begins within the message before p, the length of that message is damaged.
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
		if next, err = s.r.find(p+1, s.r.src.Size, all); err != nil {
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
	if next == s.r.src.Size {
		s.note("truncated", p, next-p, s.trailer, "the last %d bytes of the file cannot be read as records: %v", next-p,
			cause)
	} else {
		s.note("gap", p, next-p, false, "%d bytes cannot be read as records: %v", next-p, cause)
	}
	return next, nil
}

// record handles the record at p and returns where the next one is. An error
// that is not from the disk or from strict reading means that the record makes
// no sense.
func (s *scanner) record(p int64, h *header) (int64, error) {
	data := p + int64(h.headLen)
	end := data + h.dataSize()
	if h.op != opChunk && end > s.r.src.Size {
		return 0, storage.ErrTruncated
	}
	if h.guessed {
		s.note("op", p, 0, true, "%v", errOp)
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
	case opFileHeader:
		s.note("record", p, 0, true, "a second file header")
	case opChunkInfo:
		b, err := s.w.record(h, p)
		if err != nil {
			return 0, err
		}
		s.chunkInfo(h, b)
		s.trailer = true
	case opConnection:
		if s.run {
			s.r.blocks[len(s.r.blocks)-1].Size += end - p
		}
		s.trailer = s.trailer || !s.run && !s.open
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
		s.unclosed(p)
	}
	s.settled, s.trailer = len(s.notes), false
	blocks := s.r.blocks
	if !s.run || blocks[len(blocks)-1].Size > runSize {
		s.run = true
		s.r.codecs["none"]++
		s.r.blocks = append(blocks, block{run: true, counted: -1, Block: storage.Block{Offset: p, Timed: true, Start: h.time,
			End: h.time}})
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

// unclosed notes a chunk that was never ended.
func (s *scanner) unclosed(p int64) {
	s.r.src.Lose(p)
	s.note("unclosed", p, 0, false, "the recorder stopped within the chunk that begins here; the part in the file is read")
}

// define adds a connection.
func (s *scanner) define(at int64, h *header, data []byte) error {
	if old := s.r.conns.byID[h.conn]; old != nil {
		return s.r.checkSame(old, h, data, at)
	}
	c, err := parseConnection(h, data)
	if err != nil {
		return s.r.src.Warn("connection", at, false, "connection %d cannot be read: %v", h.conn, err)
	}
	if c.at = at; s.r.records {
		c.data = bytes.Clone(data)
	}
	s.r.conns.add(c)
	return s.r.checkFields(c, at)
}

// indexData adds up an INDEX_DATA record: how many messages, and their times.
func (s *scanner) indexData(conn uint32, data, end int64) error {
	if s.visit != nil {
		return nil
	}
	x := indexed{conn: conn, count: (end - data) / indexEntry, start: math.MaxInt64}
	for at := data; at < end; {
		b, err := s.w.Data(at, min(end-at, 1000*indexEntry))
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
