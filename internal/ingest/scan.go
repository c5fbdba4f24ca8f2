package ingest

import (
	"cmp"
	"math"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// The size of a block, in bytes of the input and messages.
const (
	blockBytes    = 1 << 20
	blockMessages = 8192
)

// A scan reads an input once, and lists its blocks.
type scan struct {
	in *input
	o  *Options
	*topics
	*reader

	block     storage.Block // that is open
	seen      []bool        // topics that it has, by TopicID
	unflushed int64         // bytes of blocks of Arrow that are open
}

// add adds a message, or many of one topic, to the open block.
func (s *scan) add(id storage.TopicID, first, last, n int64) {
	b := &s.block
	if b.Messages == 0 {
		b.Start, b.End, b.Timed = math.MaxInt64, math.MinInt64, true
	}
	b.Start, b.End, b.Messages = min(b.Start, first), max(b.End, last), b.Messages+n
	for len(s.seen) <= int(id) {
		s.seen = append(s.seen, false)
	}
	if !s.seen[id] {
		s.seen[id] = true
		b.Topics = append(b.Topics, id)
	}
	s.topics.list[id].Messages += n
}

// full reports whether the open block has enough.
func (s *scan) full() bool {
	return s.in.offset-s.block.Offset >= blockBytes || s.block.Messages >= blockMessages
}

// cut ends the open block, which decodes by p, at the offset of the input.
func (s *scan) cut(p part) {
	b := &s.block
	if b.Size = s.in.offset - b.Offset; b.Messages > 0 {
		b.RawSize = b.Size
		s.blocks, s.parts = append(s.blocks, *b), append(s.parts, p)
	}
	for _, id := range b.Topics {
		s.seen[id] = false
	}
	*b = storage.Block{Offset: s.in.offset}
}

// addPart adds a block of so many rows of one topic.
func (s *scan) addPart(p part, b storage.Block, id storage.TopicID, first, last, rows int64) {
	if rows == 0 {
		return
	}
	b.Start, b.End, b.Timed, b.Messages, b.Topics = first, last, true, rows, []storage.TopicID{id}
	s.topics.list[id].Messages += rows
	s.blocks, s.parts = append(s.blocks, b), append(s.parts, p)
}

// finish describes the recording when all of the input is read.
func (s *scan) finish() error {
	r := s.reader
	info := &storage.Info{Format: cmp.Or(s.about.Format, formatName), Version: s.about.Version, Path: r.path,
		Metadata: s.about.Metadata, Topics: s.topics.list}
	for _, in := range r.inputs {
		if info.Size += in.offset; in.path != Stdin {
			info.Files = append(info.Files, in.path)
		}
	}
	for i := range r.blocks {
		b := &r.blocks[i]
		if i == 0 {
			info.Start, info.End = b.Start, b.End
		}
		info.Start, info.End, info.Messages = min(info.Start, b.Start), max(info.End, b.End), info.Messages+b.Messages
	}
	r.info, r.odd = info, s.remarks
	r.told = slices.Repeat([]bool{false}, len(r.blocks))
	return nil
}
