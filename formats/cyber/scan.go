package cyber

import (
	"context"

	"github.com/bagconv/bagconv/internal/iox"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

// A scanner walks from section header to section header.
type scanner struct {
	f *file
	w *window

	entries []entry // of the sections so far
	pending *chunk  // CHUNK_HEADER without its body yet
	from    int64   // where to look for a section again if no section follows

	// visit, unless it is nil, is called after each section at an offset, and after bytes that are
	// not a section, if ok is false; next is where reading goes on, or endOfSections.
	visit func(at, next int64, ok bool) error

	ahead  []int64 // of a distant file: where its index has sections that were not asked for yet
	asking int64   // from where on the next sections are
}

// aheadSections is how many sections are asked for ahead.
const aheadSections = 256

// prefetch begins to read the heads of the sections after an offset.
func (s *scanner) prefetch(at int64) {
	if len(s.ahead) == 0 || at < s.asking {
		return
	}
	n := min(len(s.ahead), aheadSections)
	spans := make([]iox.Span, n)
	for i, p := range s.ahead[:n] {
		spans[i] = iox.Span{Off: p, Len: minStep}
	}
	s.asking, s.ahead = s.ahead[n/2], s.ahead[n:]
	iox.Prefetch(s.f.file, spans...)
}

// An entry is a section as the index should have it.
type entry struct {
	typ      uint32
	at, end  int64  // where the section begins and ends
	name     string // of a channel
	count    int64  // of a chunk, and the rest too
	from, to int64
}

// maxChunkHeader is more than a CHUNK_HEADER takes, in bytes.
const maxChunkHeader = 1 << 10

// run reads all sections but for chunk bodies.
func (s *scanner) run(ctx context.Context) error {
	f := s.f
	s.from = min(headerEnd, f.size)
	if b, err := s.w.peek(s.from, sectionHead); err == nil && f.header == nil && (len(b) < sectionHead ||
		!plausibleSection(parseSection(b))) {
		if s.from, err = s.find(0); err != nil { // the header was moved, or is not there
			return err
		}
	}
	if iox.Distant(f.file) {
		s.ahead = f.indexed(s.w)
	}
	for at := s.from; at < f.size; {
		s.prefetch(at)
		if err := ctx.Err(); err != nil {
			return err
		}
		next, ok, err := s.section(at)
		if err == nil && !ok {
			next, err = s.lost(at)
		}
		if err == nil && s.visit != nil {
			err = s.visit(at, next, ok)
		}
		if err != nil {
			return err
		}
		if next == endOfSections {
			break
		}
		at = next
	}
	if c := s.pending; c != nil {
		f.endsAt(c.head, "truncated", 0, "the file ends before the chunk of %d messages that its last section announces",
			c.count)
		f.tail.at = min(f.tail.at, c.head)
	}
	return s.orphan()
}

// endOfSections is where section goes on after the last one.
const endOfSections = -1

// section reads the section at an offset and returns where the next section is; ok is false if
// there is no section.
func (s *scanner) section(at int64) (next int64, ok bool, err error) {
	f := s.f
	b, err := s.w.peek(at, sectionHead)
	if err != nil {
		return 0, false, f.fail(at, "section", err)
	}
	if len(b) < sectionHead {
		return 0, false, nil
	}
	x := parseSection(b)
	from, to := at+sectionHead, at+sectionHead+x.size
	fits := x.size >= 0 && x.size <= f.size-from
	switch pb.SectionType(x.typ) {
	case pb.SectionType_SECTION_CHUNK_HEADER:
		if !fits || x.size > maxChunkHeader {
			return 0, false, nil
		}
		c, err := s.chunkHeader(from, to)
		if err != nil || c == nil {
			return 0, false, err
		}
		if err := s.orphan(); err != nil {
			return 0, false, err
		}
		c.head = at
		s.pending, s.from = c, at+1
		return to, true, nil
	case pb.SectionType_SECTION_CHUNK_BODY:
		if x.size < 0 {
			return 0, false, nil
		}
		next, err := s.body(at, from, x.size)
		return next, err == nil, err
	case pb.SectionType_SECTION_CHANNEL:
		if !fits {
			return 0, false, nil
		}
		d, _, err := s.w.declaration(from, to, 1)
		if isIO(err) {
			return 0, false, f.fail(at, "channel", err)
		}
		if err != nil {
			return 0, false, nil
		}
		if s.from = at + 1; d.disused {
			return to, true, nil
		}
		if err := f.declare(s.w, at, d); err != nil {
			return 0, false, err
		}
		s.entries = append(s.entries, entry{typ: x.typ, at: at, end: to, name: d.name})
		return to, true, nil
	case pb.SectionType_SECTION_INDEX:
		if x.size < 0 {
			return 0, false, nil
		}
		next, err := s.readIndex(at, from, min(to, f.size), fits)
		return next, err == nil, err
	}
	return 0, false, nil
}

// chunkHeader reads a CHUNK_HEADER; nil if it is not one.
func (s *scanner) chunkHeader(from, to int64) (*chunk, error) {
	c := &chunk{file: s.f, bounded: to > from}
	err := s.w.fields(from, to, func(x field) error {
		if x.from >= 0 {
			return errMalformed
		}
		switch x.num {
		case 1:
			c.begin = int64(x.v)
		case 2:
			c.end = int64(x.v)
		case 3:
			c.count = clamp(x.v)
		case 4:
			c.raw = clamp(x.v)
		}
		return nil
	})
	if isIO(err) {
		return nil, s.f.fail(from, "chunk header", err)
	}
	if err != nil {
		return nil, nil
	}
	return c, nil
}

// body adds a CHUNK_BODY of a claimed size.
func (s *scanner) body(at, from, size int64) (next int64, err error) {
	f := s.f
	c := s.pending
	if c == nil {
		c = &chunk{file: f, head: at}
	}
	c.body, c.size = from, min(size, f.size-from)
	next = from + size
	if size > f.size-from || !s.follows(next) {
		end, err := s.bodyEnd(c, min(next, f.size))
		if err != nil {
			return 0, err
		}
		switch {
		case end >= 0 && end != next && end < f.size:
			if err := f.warn("bad-section", at, true, storage.Lost{Uncounted: !c.bounded},
				"a chunk states %d bytes, but it ends after %d", size, end-from); err != nil {
				return 0, err
			}
			next, c.size = end, end-from
		case size > f.size-from:
			c.cut = true
			next = f.size
			f.endsAt(f.size, "truncated", from+size, "")
		}
	}
	s.pending, s.from = nil, next
	if c.size == 0 {
		lost := storage.Lost{Messages: c.count}
		if c.cut {
			f.lost.Add(lost)
			return next, nil
		}
		return next, f.warn("empty-chunk", c.head, c.count > 0, lost, "a chunk without messages; Apollo's reader stops there")
	}
	s.add(c, at, next)
	return next, nil
}

// add keeps a chunk.
func (s *scanner) add(c *chunk, body, end int64) {
	s.f.chunks = append(s.f.chunks, c)
	if c.head != body {
		s.entries = append(s.entries, entry{typ: uint32(pb.SectionType_SECTION_CHUNK_HEADER), at: c.head, end: body,
			count: c.count, from: c.begin, to: c.end})
	}
	s.entries = append(s.entries, entry{typ: uint32(pb.SectionType_SECTION_CHUNK_BODY), at: body, end: end,
		count: c.count})
}

// orphan reports that a CHUNK_HEADER has no body.
func (s *scanner) orphan() error {
	c := s.pending
	if s.pending = nil; c == nil {
		return nil
	}
	switch {
	case s.f.tail.found && s.f.tail.at == c.head:
		s.f.lost.Add(storage.Lost{Messages: c.count})
		return nil
	case c.count == 0:
		return s.f.warn("empty-chunk", c.head, false, storage.Lost{}, "a chunk header without its chunk")
	}
	return s.f.warn("bad-section", c.head, true, storage.Lost{Blocks: 1, Messages: c.count},
		"the chunk of %d messages that its header announces is missing", c.count)
}

// follows reports whether there may be a section at an offset, or the file ends.
func (s *scanner) follows(at int64) bool {
	if at == s.f.size {
		return true
	}
	b, err := s.w.peek(at, sectionHead)
	if err != nil || len(b) < sectionHead {
		return false
	}
	x := parseSection(b)
	if x.size < 0 {
		return false
	}
	fits := x.size <= s.f.size-at-sectionHead
	switch pb.SectionType(x.typ) {
	case pb.SectionType_SECTION_CHUNK_HEADER:
		return fits && x.size <= maxChunkHeader
	case pb.SectionType_SECTION_CHUNK_BODY, pb.SectionType_SECTION_INDEX:
		return true
	case pb.SectionType_SECTION_CHANNEL:
		return fits && x.size > 0
	}
	return false
}
