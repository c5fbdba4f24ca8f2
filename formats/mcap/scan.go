package mcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// runSize is when a run of records outside of chunks is cut into another block.
const runSize = 1 << 20

// A scanner goes over the data section, record header by record header. A chunk that the summary
// has as it is becomes a block unread; any other chunk is read for what is in it. Without a sound
// summary it goes on to the end of the file.
type scanner struct {
	r   *reader
	w   window
	end int64 // of what is scanned

	known  []chunkIndex   // chunks to come, by offset
	rescue []chunkIndex   // by offset: what a chunk with a damaged header may be read by
	spare  *summary       // a summary that is wrong somewhere; nil: there is no such summary
	look   chunked.Sample // chunks that are compared with their index

	run         bool  // the last block is a run that may grow
	cutEnd      int64 // end of the cut last chunk, by its header; 0: no chunk is cut
	batch       storage.Batch
	first       bool        // no record was met since the last magic
	closed      bool        // the last record was a Footer
	summary     bool        // the data of the present file has ended
	stats       *statistics // of the only file, if its end was found
	files       int
	sum         *summary        // nil: no summary is used
	proved      map[uint16]bool // channels of sum that were compared with the data
	damagedData *bool           // whether the checksum of the data section differs; nil: not looked at
	notes       []note
	damaged     []int // blocks in which something is wrong
	private     int64

	// visit, unless it is nil, is called after each record at p, and after bytes that are not
	// records, if skipped is set; next is where reading goes on. Then chunks are not read for what
	// they hold.
	visit   func(p, next int64) error
	skipped bool
}

// scan fills in definitions, blocks, attachments and metadata: by the summary, if it can be used
// and the data do not contradict it, else without. s is nil if the file has no summary, and why is
// the reason why it cannot be used.
func (r *reader) scan(s *summary, why string) error {
	if s != nil && why == "" {
		var unsound *unsoundError
		if err := r.scanBy(s, ""); !errors.As(err, &unsound) {
			return err
		}
		why = unsound.what
		r.header, r.defs, r.blocks, r.codecs = header{}, newDefinitions(), nil, map[string]int64{}
		r.attachments, r.metadata, r.own, r.summed = nil, nil, ownRecords{}, false
	}
	return r.scanBy(s, why)
}

func (r *reader) scanBy(s *summary, why string) error {
	k := &scanner{r: r, w: r.window(), end: r.src.Size, first: true, files: 1}
	if s != nil {
		k.rescue = s.chunks
	}
	if s != nil && why != "" {
		k.spare = s
	}
	if s != nil && why == "" {
		k.end, k.known = s.dataEnd, s.chunks
		k.look = chunked.SampleOf(len(s.chunks), chunked.Verifies(r.src.File, verifyChunks))
		k.look.Prefetch(r.src.File, func(i int) []iox.Span { return s.chunks[i].heads() })
		for i := range s.schemas {
			r.defs.addSchema(&s.schemas[i])
		}
		for i := range s.channels {
			r.defs.addChannel(&s.channels[i], position{})
		}
		k.stats, k.sum = s.statistics, s
		r.summed = s.footer.crc != 0
	}
	if err := k.walk(); err != nil {
		return err
	}
	if k.sum != nil {
		for _, t := range r.defs.list {
			if t.schema == nil && t.channel.schema != 0 && t.messages > 0 {
				return unsound("the summary has no schema %d", t.channel.schema) // it may be in a chunk
			}
		}
	}
	return k.finish(s, why)
}

// walk goes over all records up to the end of what is scanned.
func (s *scanner) walk() error {
	for p := int64(len(magic)); p < s.end; {
		if err := s.r.src.Ctx.Err(); err != nil {
			return err
		}
		next, err := s.at(p)
		if chunked.IsIO(err) {
			err = s.r.src.Fail(p, "record", err)
		}
		if err == nil && s.visit != nil {
			err = s.visit(p, next)
		}
		if err != nil {
			return err
		}
		p = next
	}
	return nil
}

// at handles what is at p and returns where the next record should be.
func (s *scanner) at(p int64) (int64, error) {
	if len(s.known) > 0 && s.known[0].offset < uint64(p) {
		return 0, unsound("the index has a chunk at byte %d, where another record is", s.known[0].offset)
	}
	if len(s.known) > 0 && s.known[0].offset == uint64(p) {
		x := &s.known[0]
		bl, wrong, err := s.verify(x, s.look.Has(s.look.N-len(s.known)))
		if err != nil {
			return 0, err
		}
		if bl != nil {
			if err := s.prove(bl); err != nil {
				return 0, err
			}
			s.known = s.known[1:]
			s.run, s.first = false, false
			s.r.blocks = append(s.r.blocks, *bl)
			s.r.codecs[codecOf(x.compression).Name()]++
			for _, c := range bl.counts {
				s.r.defs.count(c.channel, c.n)
			}
			return bl.index.at + bl.index.size, nil
		}
		s.known = s.known[1:]
		if wrong {
			s.note("chunk-index", p, 0, true, "the index describes the chunk here differently")
			if next, err := s.bySummary(x); next > 0 || err != nil {
				return next, err
			}
		}
	}
	h, err := s.w.head(p)
	switch {
	case chunked.IsIO(err):
		return 0, err
	case errors.Is(err, errZero) || err != nil && h.op != opChunk:
		if next, err := s.rescued(p); next > 0 || err != nil {
			return next, err
		}
		return s.odd(p, h, err)
	}
	if h.op != opMessage && h.op != opSchema && h.op != opChannel {
		s.run = false
	}
	next, err := s.record(p, h)
	if err != nil && !chunked.IsIO(err) && !isFatal(err) {
		if next, err := s.rescued(p); next > 0 || err != nil {
			return next, err
		}
		return s.skip(p, err)
	}
	s.first = false
	return next, err
}

// isFatal reports whether an error ends the scan.
func isFatal(err error) bool {
	var e *storage.Error
	var u *unsoundError
	return errors.As(err, &e) || errors.As(err, &u)
}

// record handles the record at p. An error that is not from the disk or from strict reading means
// that the record makes no sense.
func (s *scanner) record(p int64, h recordHeader) (int64, error) {
	if h.op == opChunk {
		return s.chunk(p, h)
	}
	end := p + recordHead + int64(h.length)
	if h.op == opMessage {
		if s.summary {
			s.note("record", p, 0, false, "a message after the end of the data, where none may be, is read")
		}
		return end, s.message(p, end)
	}
	if h.op == opFooter {
		s.closed = true
	}
	if h.op == opAttachment {
		return end, s.attachment(p, h)
	}
	most := int64(maxRecord)
	if h.op == opMessageIndex || h.op > opDataEnd {
		most = messageFixed
	}
	b, err := s.w.body(p, h, most)
	if err != nil {
		return 0, err
	}
	var size uint64
	if h.op == opMessageIndex {
		f := fields{b: b}
		f.u16()
		n := uint64(f.u32())
		if f.bad || n%indexEntry != 0 || n+indexFixed > h.length {
			err = errShort
		}
		size = n + indexFixed
	} else {
		size, err = knownFields(h.op, h.length, b)
	}
	if err == nil && size+recordHead <= h.length {
		// Another record after the fields is not padding.
		q := p + recordHead + int64(size)
		if next, e := s.w.head(q); e == nil && next.op <= opDataEnd {
			ok, e := s.w.plausible(q, next)
			if e != nil {
				return 0, e
			}
			if ok {
				end, h.length = q, size
			}
		}
	}
	if (err != nil || h.op > opDataEnd) && s.w.isChunk(p, h) {
		return s.chunk(p, h)
	}
	ok, e := s.w.followed(end)
	if e != nil || !ok && (err != nil || h.op > opDataEnd) {
		return 0, errors.Join(e, err, errLength)
	}
	if b, e = s.w.body(p, h, most); e != nil { // to look after it may have moved the window
		return 0, e
	}
	if !ok { // it is believed, but for bytes after its fields
		q, e := s.w.find(p+recordHead, end, allOps)
		if e != nil {
			return 0, e
		}
		if n := q - p - recordHead; q < end && n <= int64(len(b)) && checkBody(h.op, uint64(n), b[:n]) == nil {
			end, h.length, b = q, uint64(n), b[:n]
		}
	}
	if err != nil {
		s.note("record", p, end-p, false, "%s cannot be read: %v", aRecord(h.op), err)
		return end, nil
	}
	return end, s.small(p, h, b)
}

// small handles a record that is not a chunk, message or attachment, and whose fields
// are in their bounds.
func (s *scanner) small(p int64, h recordHeader, b []byte) error {
	switch h.op {
	case opHeader:
		if !s.first {
			s.note("record", p, 0, true, "a header that is not the first record")
			return nil
		}
		if s.files == 1 {
			return s.r.header.parse(b)
		}
	case opSchema, opChannel:
		at := position{len(s.r.blocks), -1}
		if s.run {
			bl := &s.r.blocks[len(s.r.blocks)-1]
			at = position{len(s.r.blocks) - 1, p - bl.Offset}
			bl.Size = p + recordHead + int64(h.length) - bl.Offset
			bl.RawSize = bl.Size
		}
		wrong, err := s.outvoted(h.op, b)
		if err != nil {
			return err
		}
		if wrong {
			s.note("definition", p, int64(h.length), false,
				"a %s is damaged: the summary has another, and the checksum of the data differs; the summary is used", opName(h.op))
			return nil
		}
		if err := s.define(h.op, b, at); err != nil {
			s.note("record", p, int64(h.length), false, "%s cannot be read: %v", aRecord(h.op), err)
		}
	case opMetadata:
		var m metadata
		if err := m.parse(b); err != nil {
			s.note("record", p, int64(h.length), false, "a metadata record cannot be read: %v", err)
			return nil
		}
		s.r.own.add(p, &m)
		s.r.metadata = append(s.r.metadata, placed{p, recordHead + int64(h.length)})
	case opStatistics:
		s.stats = &statistics{}
		return s.stats.parse(b)
	case opDataEnd:
		s.summary = true
	default:
		if h.op > opDataEnd {
			s.private++
		}
	}
	return nil
}

// define adds a definition.
func (s *scanner) define(op byte, b []byte, at position) error {
	if op == opSchema {
		var k schema
		err := k.parse(b)
		if err == nil {
			s.r.defs.addSchema(&k)
		}
		return err
	}
	var c channel
	if err := c.parse(b); err != nil {
		return err
	}
	unused := s.spare != nil && s.r.defs.pending[c.id] == 0 && len(s.damaged) == 0
	if _, defined := s.r.defs.current[c.id]; s.summary && (defined || unused) {
		return nil // the data has shown what the channel is, or does not use it
	}
	if len(s.r.defs.list) >= maxTopics {
		return fmt.Errorf("the file has more than %d definitions of channels", maxTopics)
	}
	if s.r.defs.addChannel(&c, at) {
		s.note("redefined", s.place(at), 0, true, "channel %d is defined differently from here on: topic %.80q", c.id,
			c.topic)
	}
	return nil
}

// place is where in the file a position is, about.
func (s *scanner) place(at position) int64 {
	if at.block >= len(s.r.blocks) {
		return s.w.At()
	}
	return s.r.blocks[at.block].Offset
}

// message adds a message that stands outside of chunks to a run.
func (s *scanner) message(p, end int64) error {
	b, err := s.w.Data(p+recordHead, min(messageFixed, end-p-recordHead))
	if err != nil {
		return err
	}
	if len(b) < messageFixed {
		return errShort
	}
	if s.isIndex(b, end-p-recordHead) {
		s.note("record", p, 0, true, "the opcode of a message index is damaged")
		return nil
	}
	id, log := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint64(b[6:])
	ok, err := s.w.followed(end)
	if err != nil {
		return err
	}
	if !ok {
		return errLength
	}
	if n := len(s.r.blocks) - 1; !s.run || s.r.blocks[n].Size > runSize {
		s.run = true
		s.r.codecs["none"]++
		s.r.blocks = append(s.r.blocks, block{run: true, scanned: true, counted: -1, Block: storage.Block{Offset: p}})
	}
	bl := &s.r.blocks[len(s.r.blocks)-1]
	bl.Size = end - bl.Offset
	bl.RawSize = bl.Size
	s.take(bl, id, log)
	return nil
}

// maxListed is how many channels of a block are listed that the index does not have.
const maxListed = 100

// take counts a message of a block that is being scanned.
func (s *scanner) take(bl *block, id uint16, log uint64) {
	s.r.defs.count(id, 1)
	if n := len(bl.channels); !bl.many && (n == 0 || bl.channels[n-1] != id) && !slices.Contains(bl.channels, id) {
		bl.channels = append(bl.channels, id)
		bl.many = n == maxListed
	}
	if !bl.Timed {
		bl.Start, bl.End, bl.Timed = int64(log), int64(log), true
	}
	bl.Messages++
	bl.Start, bl.End = min(bl.Start, int64(log)), max(bl.End, int64(log))
}

// A note is something wrong between the records. What it costs is known when all of
// the file is.
type note struct {
	code      string
	at, bytes int64
	repaired  bool // nothing is missing
	what      string
}

// note keeps what is wrong. Of very many the last ones are one.
func (s *scanner) note(code string, at, bytes int64, repaired bool, format string, args ...any) {
	if n := len(s.notes) - 1; n >= warnings.Max {
		s.notes[n].bytes += bytes
		s.notes[n].repaired = s.notes[n].repaired && repaired
		return
	}
	s.notes = append(s.notes, note{code, at, bytes, repaired, fmt.Sprintf(format, args...)})
}
