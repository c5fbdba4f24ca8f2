package cyber

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

// indexState is what the index is worth, compared with the sections.
type indexState uint8

const (
	indexMissing indexState = iota
	indexOK                 // each position is the position of its section
	indexShifted            // each position is the end of its section: Apollo 3.5 to 5.0
	indexWrong
)

func (s indexState) String() string {
	return [...]string{"missing", "ok", "shifted: positions are ends of sections, as Apollo 3.5 to 5.0 wrote them",
		"wrong, not used"}[s]
}

// readIndex reads the INDEX section between two offsets, which ends the
// recording, and returns where to go on.
func (s *scanner) readIndex(at, from, to int64, whole bool) (next int64, err error) {
	f := s.f
	if h := f.header; h.GetIsComplete() && whole && clamp(h.GetIndexPosition()) > to && clamp(h.GetSize()) <= f.size &&
		s.follows(clamp(h.GetIndexPosition())) {
		// The header knows of another index, further on: bagconv was killed, or another
		// writer has written more than one.
		s.from = at + 1
		return to, f.warn("early-index", at, false, storage.Lost{},
			"an index stands before the last section; Apollo's reader ends there")
	}
	f.counts, f.indexAt, f.indexEnd = map[string]int64{}, at, to
	check := indexCheck{s: s, ok: whole, shifted: whole}
	err = s.w.fields(from, to, func(x field) error {
		if x.num != 1 || x.from < 0 {
			return errMalformed
		}
		return check.entry(x.from, x.to)
	})
	if isIO(err) {
		return 0, f.fail(at, "index", err)
	}
	switch {
	case !whole:
		// Only counts are lost: the sections have all else that the index has.
		f.index, f.indexCut, err = indexMissing, true, nil
	case err != nil || check.n != len(s.entries) || !check.ok && !check.shifted:
		f.index = indexWrong
		err = f.warn("index-wrong", at, false, storage.Lost{}, "the index belongs to another file; it is not used")
	case check.ok:
		f.index = indexOK
	default:
		f.index = indexShifted
	}
	if err != nil {
		return 0, err
	}
	for _, d := range check.unknown {
		if err := f.declare(s.w, at, d); err != nil {
			return 0, err
		}
	}
	if whole && to < f.size {
		err = f.warn("stale-tail", to, false, storage.Lost{}, "%d bytes follow the index; they are not part of the recording",
			f.size-to)
	}
	return endOfSections, err
}

// indexed returns the positions in the index, in order, as hints of where the sections are.
func (f *file) indexed(w *window) (list []int64) {
	h := f.header
	at := clamp(h.GetIndexPosition())
	b, err := w.peek(at, sectionHead)
	if err != nil || len(b) < sectionHead || !h.GetIsComplete() {
		return nil
	}
	if x := parseSection(b); pb.SectionType(x.typ) == pb.SectionType_SECTION_INDEX && x.size <= f.size-at {
		_ = w.fields(at+sectionHead, at+sectionHead+x.size, func(x field) error { // as far as it can be read
			if x.num != 1 || x.from < 0 {
				return errMalformed
			}
			return w.fields(x.from, x.to, func(x field) error {
				if x.num == 2 && x.from < 0 {
					list = append(list, clamp(x.v))
				}
				return nil
			})
		})
	}
	slices.Sort(list)
	return list
}

// An indexCheck compares the entries of an index with the sections.
type indexCheck struct {
	s           *scanner
	n           int  // entries so far
	ok, shifted bool // all entries are, so far
	unknown     []declaration
}

// entry checks the SingleIndex between two offsets.
func (c *indexCheck) entry(from, to int64) error {
	s := c.s
	var typ uint64
	var position int64
	var cache field
	err := s.w.fields(from, to, func(x field) error {
		switch {
		case x.num == 1 && x.from < 0:
			typ = x.v
		case x.num == 2 && x.from < 0:
			position = clamp(x.v)
		case x.num >= 101 && x.num <= 103 && x.from >= 0:
			cache = x
		}
		return nil
	})
	if err != nil {
		return err
	}
	var want entry
	if c.n < len(s.entries) {
		want = s.entries[c.n]
	}
	c.n++
	same := uint64(want.typ) == typ
	c.ok = c.ok && same && position == want.at
	c.shifted = c.shifted && same && position == want.end
	switch pb.SectionType(typ) {
	case pb.SectionType_SECTION_CHANNEL:
		return c.channel(cache, want.name)
	case pb.SectionType_SECTION_CHUNK_HEADER:
		return c.chunk(cache, want)
	}
	return nil
}

// channel checks a ChannelCache and keeps its count.
func (c *indexCheck) channel(cache field, name string) error {
	if cache.num != 101 {
		return errMalformed
	}
	d, count, err := c.s.w.declaration(cache.from, cache.to, 2)
	if err != nil {
		return err
	}
	if d.name != name {
		c.ok, c.shifted = false, false
	}
	f := c.s.f
	if _, twice := f.counts[d.name]; twice {
		c.ok, c.shifted = false, false
	}
	f.counts[d.name] = count
	if f.channels[d.name] == nil {
		c.unknown = append(c.unknown, d)
		return nil
	}
	return c.describes(d)
}

// describes compares the type and descriptors of a channel in the index with the ones in its
// section. The section counts, unless its descriptors cannot be read.
func (c *indexCheck) describes(d declaration) error {
	f, size := c.s.f, d.desc.to-d.desc.from
	if size <= 0 || size > maxDesc {
		return nil
	}
	b, err := c.s.w.bytes(d.desc)
	if err != nil {
		return err
	}
	s := f.r.topics.schema(b)
	for x := f.channels[d.name]; x != nil; x = x.next {
		if x.typ == d.typ && x.schema == s.sum && (!x.twice || errors.Is(s.err, errDescTwice)) {
			return nil
		}
	}
	f.contested = true
	x, counts := f.channels[d.name], "the section counts"
	if x.typ == d.typ && !isSet(f.r.topics.list[x.topic].Schema.Data) && isSet(s.set) {
		f.r.topics.complete(x.topic, s)
		counts = "the index has its descriptors"
	}
	return f.warn("contested", x.from, false, storage.Lost{},
		"the index describes channel %.80q otherwise than its section: %s", d.name, counts)
}

// isSet reports whether b is a FileDescriptorSet with files.
func isSet(b []byte) bool {
	var set descriptorpb.FileDescriptorSet
	return proto.Unmarshal(b, &set) == nil && len(set.File) > 0
}

// chunk checks a ChunkHeaderCache.
func (c *indexCheck) chunk(cache field, want entry) error {
	if cache.num != 102 {
		return errMalformed
	}
	var got entry
	err := c.s.w.fields(cache.from, cache.to, func(x field) error {
		switch x.num {
		case 1:
			got.count = clamp(x.v)
		case 2:
			got.from = int64(x.v)
		case 3:
			got.to = int64(x.v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if got.count != want.count || got.from != want.from || got.to != want.to {
		c.ok, c.shifted = false, false
	}
	return nil
}
