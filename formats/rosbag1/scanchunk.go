package rosbag1

import (
	"bytes"
	"math"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// chunk adds a CHUNK record.
func (s *scanner) chunk(p int64, h *header) (int64, error) {
	s.chunks++
	s.settled, s.trailer = len(s.notes), false
	h.compression = bytes.Clone(h.compression) // the window may move
	magic, err := s.w.Data(p+int64(h.headLen), 4)
	if err != nil {
		return 0, err
	}
	c := newChunk(p, h, magic)
	end := c.data + c.stored
	if c.codec == nil && end > s.r.src.Size {
		return 0, storage.ErrCorrupt
	}
	s.inside, s.r.unclosed = end, 0
	plain := c.codec == compress.None && !s.r.sealed(&c)
	if plain {
		if c.open || end > s.r.src.Size {
			s.r.unclosed = p
		}
		switch {
		case c.open:
			s.open, s.inside = true, math.MaxInt64
			return c.data, nil
		case end > s.r.src.Size:
			s.r.src.Lose(p)
			s.note("truncated", p, 0, false, "the file ends %d bytes before the end of its last chunk", end-s.r.src.Size)
			return c.data, nil
		case c.stored != c.size:
			s.note("chunk-header", p, 0, true, "a plain chunk has two lengths, %d and %d; its records are read one by one",
				c.stored, c.size)
			return c.data, nil
		}
	}
	b := block{counted: -1, dirty: c.codec == nil, Block: storage.Block{Offset: p, RawSize: c.rawSize(), Messages: -1}}
	if !plain && c.codec != nil {
		var err error
		if end, err = s.compressedEnd(p, &c, &b); err != nil || end == c.data {
			return end, err
		}
	}
	s.unnamed = true
	if c.codec != nil {
		s.r.codecs[c.codec.Name()]++
	}
	b.Size = end - p
	s.r.blocks = append(s.r.blocks, b)
	return end, nil
}

// compressedEnd returns where the data of a compressed chunk ends. If the header says otherwise,
// the block is dirty.
func (s *scanner) compressedEnd(p int64, c *chunk, b *block) (end int64, err error) {
	const after = 1<<opIndex | 1<<opChunk | 1<<opChunkInfo
	end = c.data + c.stored
	if end <= s.r.src.Size {
		follows, err := s.w.follows(end)
		if err == nil && c.open && end == s.r.src.Size {
			s.unclosed(p)
			b.cut = true
		}
		if err != nil || follows {
			return end, err
		}
	}
	to := min(end, s.r.src.Size)
	if c.open {
		to = s.r.src.Size
	}
	found, err := s.r.find(c.data, to, after)
	if err != nil || found == end {
		return end, err
	}
	b.dirty = true
	switch {
	case c.open:
		s.unclosed(p)
		b.cut = found == s.r.src.Size
	case end > s.r.src.Size && found == s.r.src.Size:
		s.r.src.Lose(p)
		s.note("truncated", p, 0, false, "the file ends %d bytes before the end of its last chunk", end-s.r.src.Size)
		b.cut = true
	default:
		s.note("chunk-header", p, 0, true, "a chunk states %d bytes, but it ends after %d", c.stored, found-c.data)
	}
	return found, nil
}

// endChunk settles what the last chunk holds: by its index records if all of
// them are there and their connections known, by reading it otherwise.
func (s *scanner) endChunk() error {
	if !s.unnamed {
		return nil
	}
	s.unnamed = false
	if s.visit != nil {
		return nil
	}
	index := s.index
	s.index = s.index[:0]
	b := &s.r.blocks[len(s.r.blocks)-1]
	known := len(index) > 0 && !b.dirty
	if len(index) > 0 {
		b.counted = 0
	}
	for _, x := range index {
		known = known && s.r.conns.byID[x.conn] != nil
		b.counted += x.count
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

// whole reports whether all that the header of a chunk announces has come out of it,
// though its last bytes, which end the compressed data, are cut off.
func (s *scanner) whole(b *block) bool {
	c, err := s.r.chunkHeader(b)
	return err == nil && !c.open && int64(len(s.batch.Buf)) == c.size
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
	if b.cut && s.whole(b) {
		s.notes[len(s.notes)-1].inside = false
	} else if w.damage.Places > 0 {
		s.damaged = append(s.damaged, len(s.r.blocks)-1)
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
