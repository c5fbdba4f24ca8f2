package cyber

import (
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

// bodyEnd looks for the end of a body that claims to end at an offset after which no section is:
// where its messages end and another section begins, or else at the first section within. It is -1
// if no end is found.
func (s *scanner) bodyEnd(c *chunk, claimed int64) (int64, error) {
	w := s.f.window()
	defer windows.Put(w)
	k := walker{w: w, end: s.f.size}
	for at := c.body; ; {
		if at > c.body && at < s.f.size {
			b, err := w.peek(at, 1)
			if err != nil {
				return 0, s.f.fail(at, "chunk", err)
			}
			if b[0] != 0x0a && s.certain(at) {
				return at, nil
			}
		}
		st, err := k.next(at)
		if err != nil {
			return 0, s.f.fail(at, "chunk", err)
		}
		if st == whole {
			at += int64(k.m.size)
			continue
		}
		if at, err = s.find(c.body); err != nil || at < claimed {
			return at, err
		}
		return -1, nil
	}
}

// certain reports whether a section begins at an offset, by what is in it and
// after it.
func (s *scanner) certain(at int64) bool {
	b, err := s.w.peek(at, sectionHead+headBytes)
	if err != nil || len(b) < sectionHead {
		return false
	}
	x := parseSection(b)
	from := at + sectionHead
	room := s.f.size - from
	if x.size < 0 {
		return false
	}
	switch pb.SectionType(x.typ) {
	case pb.SectionType_SECTION_CHUNK_HEADER:
		if x.size == 0 || x.size > maxChunkHeader || x.size > room {
			return false
		}
		c, err := s.chunkHeader(from, from+x.size)
		if err != nil || c == nil {
			return false
		}
		b, err := s.w.peek(from+x.size, sectionHead)
		if err != nil || len(b) < sectionHead {
			return err == nil && from+x.size == s.f.size
		}
		y := parseSection(b)
		return y.typ == uint32(pb.SectionType_SECTION_CHUNK_BODY) && y.size >= 0
	case pb.SectionType_SECTION_CHUNK_BODY:
		// By its first message, of a channel that is known.
		var m message
		return x.size > 0 && m.parse(b[sectionHead:]) == whole && int64(m.size) <= min(x.size, room) &&
			s.f.channels[string(m.name)] != nil && (x.size > room || s.follows(from+x.size))
	case pb.SectionType_SECTION_CHANNEL:
		if x.size == 0 || x.size > room || b[sectionHead] != 0x0a {
			return false
		}
		d, _, err := s.w.declaration(from, from+x.size, 1)
		return err == nil && d.typ != "" && s.follows(from+x.size)
	case pb.SectionType_SECTION_INDEX:
		// Its first entry: 0a length 08 type 10 position.
		if x.size < 6 || x.size > room || b[sectionHead] != 0x0a {
			return false
		}
		_, n := varint(b[sectionHead+1:])
		rest := b[min(sectionHead+1+max(n, 0), len(b)):]
		return n > 0 && len(rest) > 2 && rest[0] == 0x08 && (rest[1] == 1 || rest[1] == 2 || rest[1] == 4) && rest[2] == 0x10
	}
	return false
}

// lost goes past what is not a section, up to the next section.
func (s *scanner) lost(at int64) (next int64, err error) {
	f := s.f
	zero, err := s.w.zeros(at)
	if err != nil {
		return 0, f.fail(at, "section", err)
	}
	if zero == f.size {
		f.endsAt(at, "zero-tail", 0, "the last %d bytes of the file are zeros", f.size-at)
		return f.size, nil
	}
	if next, err = s.find(min(s.from, at)); err != nil {
		return 0, err
	}
	for next < f.size && next <= at && !s.newer(next) { // what was read already
		if next, err = s.find(next + 1); err != nil {
			return 0, err
		}
	}
	s.from = max(next, at) + 1
	if next == f.size {
		f.endsAt(at, "truncated", 0, "the last %d bytes of the file are not a section", next-at)
		return next, nil
	}
	return next, f.warn("bad-section", at, true, storage.Lost{Bytes: max(0, next-at), Uncounted: true},
		"there is no section here; the next one begins at byte %d", next)
}

// newer reports whether a section was not read yet.
func (s *scanner) newer(at int64) bool {
	return len(s.entries) == 0 || at >= s.entries[len(s.entries)-1].at+1 && (s.pending == nil || at > s.pending.head)
}

// find returns the first offset from an offset on where a section certainly begins; the size of the
// file if no section does.
func (s *scanner) find(from int64) (int64, error) {
	w := s.f.window()
	defer windows.Put(w)
	for at := from; at < s.f.size; {
		b, err := w.peek(at, searchStep)
		if err != nil {
			return 0, s.f.fail(at, "section", err)
		}
		if len(b) < sectionHead {
			break
		}
		i, n := 0, len(b)-sectionHead+1
		for ; i < n; i++ {
			t := b[i]
			if t == 0 || t > 4 || b[i+1]|b[i+2]|b[i+3]|b[i+14]|b[i+15] != 0 {
				continue
			}
			if s.certain(at + int64(i)) {
				return at + int64(i), nil
			}
		}
		at += int64(n)
	}
	return s.f.size, nil
}
