package mcap

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

const allOps = 1<<(opDataEnd+1) - 1

// dataOps are records that stand between chunks.
const dataOps = 1<<opSchema | 1<<opChannel | 1<<opChunk | 1<<opMessageIndex |
	1<<opAttachment | 1<<opMetadata | 1<<opDataEnd

// chunk adds the Chunk record at p, whose length need not fit.
func (s *scanner) chunk(p int64, h recordHeader) (int64, error) {
	b, err := s.w.Data(p+recordHead, chunkHead)
	if err != nil {
		return 0, err
	}
	var c chunk
	_ = c.parse(b, h.length)
	if c.head == 0 || c.start > c.end && !c.open() && c.size > 0 && len(c.compression) > 16 {
		return 0, errShort
	}
	codec, _ := c.codec()
	data := p + recordHead + int64(c.head)
	end, whole, err := s.chunkEnd(p, data, h, &c)
	if err != nil {
		return 0, err
	}
	s.run = false
	if !whole && codec == compress.None {
		// Its records follow as if they were in the open.
		if !c.open() && c.n < math.MaxInt64-uint64(data) {
			s.cutEnd = data + int64(c.n)
		}
		return data, nil
	}
	bl := block{scanned: true, counted: -1, cut: end == s.r.src.Size && !whole}
	bl.Block = storage.Block{Offset: p, Size: end - p}
	if codec != nil {
		bl.RawSize = c.rawSize(codec, min(end-data, int64(min(c.n, math.MaxInt64))))
		s.r.codecs[codec.Name()]++
	}
	s.r.blocks = append(s.r.blocks, bl)
	return end, s.readChunk()
}

// chunkEnd returns where the chunk at p ends. whole is false when the file ends
// sooner, or nothing shows it.
func (s *scanner) chunkEnd(p, data int64, h recordHeader, c *chunk) (end int64, whole bool, err error) {
	var byRecord, byData int64 // where it ends by its record and by its data; 0: beyond the file
	if h.length <= uint64(s.r.src.Size-p-recordHead) {
		byRecord = p + recordHead + int64(h.length)
	}
	if c.n <= uint64(s.r.src.Size-data) {
		byData = data + int64(c.n)
	}
	for _, end := range [...]int64{byRecord, byData} {
		if end < data {
			continue
		}
		ok, err := s.w.followed(end)
		if err != nil || ok {
			return end, true, err
		}
	}
	if byRecord == byData && byRecord > 0 {
		return byRecord, true, nil // what follows is damaged
	}
	what := "the recorder stopped within the chunk that begins here; the part in the file is read"
	if !c.open() {
		what = "a chunk has a wrong length"
	}
	ops := uint32(dataOps)
	if codec, _ := c.codec(); codec == compress.None {
		s.r.src.Lose(p)
		s.cutNote(p, h, c, what)
		return data, false, nil
	}
	end, err = s.w.find(data, s.r.src.Size, ops)
	if err == nil {
		s.r.src.Lose(p)
		s.cutNote(p, h, c, what)
	}
	return end, end < s.r.src.Size, err
}

// cutNote notes a chunk that the file does not have as a whole.
func (s *scanner) cutNote(p int64, h recordHeader, c *chunk, what string) {
	if !c.open() && h.length == uint64(c.head)+c.n {
		s.note("truncated", p, 0, false, "the file ends %d bytes before the end of its last chunk", uint64(p)+recordHead+
			h.length-uint64(s.r.src.Size))
		return
	}
	s.note("unclosed", p, 0, false, "%s", what)
}

// bySummary adds a chunk as the index has it, if its data agrees with the index. It returns where
// its Message Index ends; 0 if they do not agree.
func (s *scanner) bySummary(x *chunkIndex) (int64, error) {
	if x.length < chunkFixed || x.stored > x.length-chunkFixed || codecOf(x.compression) == nil {
		return 0, nil
	}
	bl := block{scanned: true, counted: -1, says: x, index: extent{int64(x.offset + x.length), int64(x.indexLength)}}
	bl.Block = storage.Block{Offset: int64(x.offset), Size: int64(x.length)}
	var d chunked.Damage
	c, err := s.r.load(&bl, &s.batch, &d)
	if err != nil || d.Places > 0 || c == nil || c.sum() == 0 && !mostlyRecords(s.batch.Buf) {
		return 0, err
	}
	s.run, s.first = false, false
	s.r.blocks = append(s.r.blocks, bl)
	s.r.codecs[codecOf(x.compression).Name()]++
	return bl.index.at + bl.index.size, s.readChunk()
}

// mostlyRecords reports whether most of b is whole records: without a checksum nothing else shows
// that a chunk is where an index has it.
func mostlyRecords(b []byte) bool {
	c, gaps := cursor{b: b}, 0
	for c.step() {
	}
	for _, g := range c.gaps {
		gaps += g.to - g.from
	}
	return gaps <= len(b)/2
}

// readChunk reads the last block for what is in it.
func (s *scanner) readChunk() error {
	if s.visit != nil {
		return nil
	}
	i := len(s.r.blocks) - 1
	bl := &s.r.blocks[i]
	s.batch.Messages = s.batch.Messages[:0]
	w := walk{r: s.r, bl: bl, view: view{}, batch: &s.batch, scan: s}
	c, err := s.r.load(bl, &s.batch, &w.damage)
	if err != nil {
		return err
	}
	w.summed = c != nil && c.sum() != 0
	bl.RawSize = max(bl.RawSize, int64(len(s.batch.Buf)))
	w.records(s.batch.Buf, -1)
	w.checkTimes(c, bl.Start, bl.End, bl.Messages > 0)
	if w.damage.Places > 0 {
		s.damaged = append(s.damaged, i)
	}
	return w.unsound
}

// isIndex reports whether what begins with b and has length bytes, after a chunk, is no message but
// a Message Index of that chunk: it states that length, and the place of a message in the chunk,
// where a message has its time.
func (s *scanner) isIndex(b []byte, length int64) bool {
	n := len(s.r.blocks) - 1
	if s.run || n < 0 || s.r.blocks[n].run {
		return false
	}
	size, at := int64(binary.LittleEndian.Uint32(b[2:])), binary.LittleEndian.Uint64(b[14:])
	return size%indexEntry == 0 && size == length-indexFixed && at < uint64(s.r.blocks[n].RawSize)
}

// attachment adds an Attachment record.
func (s *scanner) attachment(p int64, h recordHeader) error {
	b, err := s.w.body(p, h, checked)
	if err != nil {
		return err
	}
	a := placedAttachment{placed: placed{p, recordHead + int64(h.length)}}
	n, err := a.parse(b)
	if err != nil && uint64(len(b)) < h.length {
		if b, err = s.w.body(p, h, maxRecord); err != nil {
			return err
		}
		n, err = a.parse(b)
	}
	if err == nil && (a.size > h.length || uint64(n)+a.size+4 > h.length) {
		err = errShort
	}
	if err != nil {
		ok, e := s.w.followed(p + recordHead + int64(h.length))
		if e != nil || !ok {
			return err
		}
		s.note("attachment", p, recordHead+int64(h.length), false, "an attachment cannot be read: %v", err)
		return nil
	}
	a.data = p + recordHead + int64(n)
	s.r.attachments = append(s.r.attachments, a)
	return nil
}

// odd looks at what is not a whole record at p.
func (s *scanner) odd(p int64, h recordHeader, cause error) (int64, error) {
	b, err := s.w.Data(p, int64(len(magic)))
	if err != nil {
		return 0, err
	}
	if string(b) == magic {
		return s.magic(p)
	}
	if s.closed && p+int64(len(b)) == s.r.src.Size && len(b) < len(magic) && string(b) == magic[:len(b)] {
		return s.r.src.Size, nil // the end magic is cut
	}
	return s.skip(p, cause)
}

// magic handles a magic after the first one: the end of the file, or the start of another file that
// was put after it.
func (s *scanner) magic(p int64) (int64, error) {
	next := p + int64(len(magic))
	s.run = false
	if s.closed && !s.first {
		s.closed, s.first = false, true // of the next file, if there is one
		b, err := s.w.Data(next, int64(len(magic)))
		if err != nil || len(b) == 0 {
			return next, err
		}
		if string(b) != magic {
			n, err := s.w.find(next, s.r.src.Size, allOps)
			if err == nil && n == s.r.src.Size {
				s.note("trailing", next, n-next, true, "%d bytes after the end of the file are not read", n-next)
			}
			return n, err
		}
		next += int64(len(magic))
	}
	if next < s.r.src.Size && (len(s.r.blocks) > 0 || len(s.r.defs.list) > 0) {
		s.files++
		s.stats, s.summary = nil, false
		s.r.defs.newFile(position{len(s.r.blocks), -1})
		s.note("second-file", next-int64(len(magic)), 0, true, "another file begins here; both are read")
	}
	s.first = true
	return next, nil
}

// skip goes past bytes that are not records, up to the next that are.
func (s *scanner) skip(p int64, cause error) (int64, error) {
	s.run, s.skipped = false, true
	if cut, err := s.isCut(p); err != nil || cut {
		return s.r.src.Size, errors.Join(err, s.tail(p, s.r.src.Size, cause))
	}
	next, err := s.w.find(p+1, s.end, allOps)
	if err != nil {
		return 0, err
	}
	if len(s.known) > 0 && s.known[0].offset > uint64(p) && s.known[0].offset < uint64(next) {
		next = int64(s.known[0].offset)
	}
	if next < s.end || s.end < s.r.src.Size {
		s.note("gap", p, next-p, false, "%d bytes cannot be read as records: %v", next-p, cause)
		return next, nil
	}
	return next, s.tail(p, next, cause)
}

// isCut reports whether the record at p lies in a chunk that the file ends in, and goes on after
// the end of the file, but not of the chunk. Bytes in it that look like a record are not one.
func (s *scanner) isCut(p int64) (bool, error) {
	if s.cutEnd <= s.r.src.Size {
		return false, nil
	}
	h, err := s.w.head(p)
	if chunked.IsIO(err) {
		return false, err
	}
	fits := h.length <= uint64(s.cutEnd-p-recordHead) && h.length > uint64(s.r.src.Size-p-recordHead)
	return fits && (h.op == opMessage || h.op == opSchema || h.op == opChannel), nil
}

// tail notes what the last bytes of a file are, that are not records.
func (s *scanner) tail(p, end int64, cause error) error {
	for at := p; ; {
		b, err := s.w.Data(at, chunked.WindowStep)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			s.note("zero-tail", p, 0, true, "the last %d bytes of the file are zero", end-p)
			return nil
		}
		if !zeros(b) {
			break
		}
		at += int64(len(b))
	}
	op := byte(0)
	if b, err := s.w.Data(p, recordHead); err != nil {
		return err
	} else if len(b) > 0 {
		op = b[0]
		if len(b) == recordHead && binary.LittleEndian.Uint64(b[1:]) > 1<<40 {
			op = 0
		}
	}
	// What is not the content of a recording can be cut without loss.
	whole := s.closed || s.summary
	switch op {
	case opDataEnd, opFooter, opChunkIndex, opStatistics, opSummaryOffset, opAttachmentIndex, opMetadataIndex:
		whole = true
	}
	for i := range s.notes {
		if n := &s.notes[i]; n.code == "truncated" && !n.repaired {
			n.bytes += end - p // of the chunk that is known to be cut
			return nil
		}
	}
	s.note("truncated", p, end-p, whole, "the last %d bytes of the file are not a complete record: %v", end-p, cause)
	return nil
}
