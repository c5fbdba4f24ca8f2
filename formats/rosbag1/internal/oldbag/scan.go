package oldbag

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// headSize is as many bytes as the head of almost every record has.
const headSize = 512

// A scanner reads the heads of all records in the order of the file.
type scanner struct {
	r   *Reader
	w   chunked.Window
	rec record

	run    bool     // the last block may grow
	counts []int64  // messages of each topic in the last block
	last   struct { // record before, if it was a message
		at, data, end int64
		topic         storage.TopicID
		here          bool
	}

	defs    map[definition]string // texts
	defined []definition          // in order

	// visit is called with each record, which is in rec, or with a gap, and where reading goes on;
	// nil: nobody lists them.
	visit func(p, next int64, cut *gap) error

	header  *record // of the file; nil: no header
	indexes []indexed
	gaps    []gap
	guessed bool
}

// A definition is what a MSG_DEF is about. The definition of a type has no topic.
type definition struct{ topic, typ, md5 string }

// indexed is an INDEX_DATA record.
type indexed struct {
	topic    string
	at, data int64 // offsets of the record and its data
	count    int64
}

// A gap is bytes that could not be read as records.
type gap struct {
	at, bytes int64
	why       string
	cuts      bool // they may be the end of the message before them
}

// scan finds topics and blocks.
func (s *scanner) scan() error {
	if err := s.walk(); err != nil {
		return err
	}
	s.endRun()
	s.define()
	return s.account()
}

// walk goes over all records.
func (s *scanner) walk() error {
	for p, size := s.r.first, s.r.src.Size; p < size; {
		if err := s.r.src.Ctx.Err(); err != nil {
			return err
		}
		var next int64
		var cut *gap
		err := s.head(&s.rec, p)
		if err == nil && p+int64(s.rec.head)+s.rec.size > size {
			err = fmt.Errorf("a record of %d bytes is cut after %d: %w", int64(s.rec.head)+s.rec.size, size-p,
				storage.ErrTruncated)
		}
		switch {
		case chunked.IsIO(err):
		case err == nil:
			next = s.record(p)
		default:
			cut, err = s.skip(p, err)
		}
		if err != nil {
			return s.r.src.Fail(p, "record", err)
		}
		if cut != nil {
			next = cut.at + cut.bytes
		}
		if s.visit != nil {
			if err := s.visit(p, next, cut); err != nil {
				return err
			}
		}
		p = next
	}
	return nil
}

// head parses the head of the record at p.
func (s *scanner) head(rec *record, p int64) error {
	for n, got := int64(headSize), 0; ; n *= 8 {
		b, err := s.w.Data(p, n)
		if err != nil {
			return err
		}
		err = s.r.form.parse(rec, b)
		if !errors.Is(err, storage.ErrTruncated) || len(b) == got {
			return err
		}
		got = len(b)
	}
}

// record takes in the record at p, which is in s.rec, and returns where the next one begins.
func (s *scanner) record(p int64) int64 {
	rec := &s.rec
	data := p + int64(rec.head)
	end := data + rec.size
	s.guessed = s.guessed || rec.guessed
	s.last.here = false
	switch rec.kind {
	case kindMessage:
		s.message(p, data, end, rec.time, s.r.topic(rec))
		return end
	case kindDefinition:
		s.defineAs(definition{string(rec.topic), string(rec.typ), string(rec.md5)}, string(rec.def))
	case kindFileHeader:
		if s.header == nil {
			s.header = &record{indexPos: rec.indexPos, head: rec.head}
		}
	case kindIndex:
		s.indexes = append(s.indexes, indexed{topic: string(rec.topic), at: p, data: data, count: int64(rec.count)})
	}
	if rec.kind == kindIndex || rec.kind == kindFileHeader {
		s.endRun()
	}
	if s.run {
		s.r.blocks[len(s.r.blocks)-1].Size += end - p
	}
	return end
}

// defineAs keeps the text of a definition, the first one of each.
func (s *scanner) defineAs(d definition, text string) {
	if _, ok := s.defs[d]; ok {
		return
	}
	s.defs[d] = text
	s.defined = append(s.defined, d)
	if of := (definition{typ: d.typ, md5: d.md5}); s.defs[of] == "" {
		s.defs[of] = text
	}
}

// message adds the message at p to a block.
func (s *scanner) message(p, data, end, t int64, id storage.TopicID) {
	if s.run && s.r.blocks[len(s.r.blocks)-1].Size >= s.r.blockSize {
		s.endRun()
	}
	if !s.run {
		s.run = true
		clear(s.counts)
		s.r.blocks = append(s.r.blocks, storage.Block{Offset: p, Timed: true, Start: t, End: t})
	}
	b := &s.r.blocks[len(s.r.blocks)-1]
	b.Size += end - p
	b.Messages++
	b.Start, b.End = min(b.Start, t), max(b.End, t)
	s.r.topics[id].messages++
	for int(id) >= len(s.counts) {
		s.counts = append(s.counts, 0)
	}
	s.counts[id]++
	s.last.at, s.last.data, s.last.end, s.last.topic, s.last.here = p, data, end, id, true
}

// endRun closes the last block, and keeps its topics in their order.
func (s *scanner) endRun() {
	if !s.run {
		return
	}
	s.run = false
	b := &s.r.blocks[len(s.r.blocks)-1]
	b.RawSize = b.Size
	for id, n := range s.counts {
		if n > 0 {
			b.Topics = append(b.Topics, storage.TopicID(id))
		}
	}
}

// skip goes past bytes that are no record, up to the next record. If that begins within the message
// before, the length of the message is damaged, and the message is skipped too.
func (s *scanner) skip(p int64, cause error) (*gap, error) {
	next := p
	if m := &s.last; m.here && m.end == p {
		found, err := s.find(m.data, p)
		if err != nil {
			return nil, err
		}
		if found < p {
			s.drop()
			next, p, cause = found, m.at, errLength
		}
	}
	if next >= p && cause != errLength {
		var err error
		if next, err = s.find(p+1, s.r.src.Size); err != nil {
			return nil, err
		}
	}
	g := gap{at: p, bytes: next - p, why: cause.Error(), cuts: s.last.here && s.last.end == p}
	s.last.here = false
	s.endRun()
	if n := len(s.gaps); n > warnings.Max {
		s.gaps[n-1].bytes += g.bytes
	} else {
		s.gaps = append(s.gaps, g)
	}
	return &g, nil
}

// drop takes the last message back.
func (s *scanner) drop() {
	b, m := &s.r.blocks[len(s.r.blocks)-1], &s.last
	b.Size = m.at - b.Offset // a definition may lie before it
	b.Messages--
	s.r.topics[m.topic].messages--
	s.counts[m.topic]--
	if b.Messages == 0 {
		s.r.blocks = s.r.blocks[:len(s.r.blocks)-1]
		s.run = false
	}
}

// find returns where the next record begins, from from on and before to, that fits into the file
// and is followed by another record; else to.
func (s *scanner) find(from, to int64) (int64, error) {
	size, step := s.r.src.Size, int64(8<<10)
	var buf []byte
	for off := from; off < to; off += step {
		if err := s.r.src.Ctx.Err(); err != nil {
			return 0, err
		}
		if off > from {
			step = min(2*step, 1<<20)
		}
		buf = storage.Grow(buf, int(min(2*step, size-off)))
		if err := iox.ReadFull(s.r.src.File, buf, off); err != nil {
			return 0, err
		}
		for at := 0; ; at++ {
			at = s.r.form.next(&s.rec, buf, at)
			if at < 0 || int64(at) >= step || off+int64(at) >= to {
				break
			}
			ok, err := s.plausible(off + int64(at))
			if err != nil {
				return 0, err
			}
			if ok {
				return off + int64(at), nil
			}
		}
	}
	return to, nil
}

// plausible reports whether a record at p fits into the file and is followed by another,
// or by the end of the file.
func (s *scanner) plausible(p int64) (bool, error) {
	if err := s.head(&s.rec, p); err != nil {
		return false, chunked.OnlyIO(err)
	}
	end := p + int64(s.rec.head) + s.rec.size
	if end >= s.r.src.Size {
		return end == s.r.src.Size, nil
	}
	err := s.head(&s.rec, end)
	return err == nil || errors.Is(err, storage.ErrTruncated), chunked.OnlyIO(err)
}

// define gives topics their definitions: the definition of the topic, or else of its type. A topic
// that is defined and has no messages is a topic too.
func (s *scanner) define() {
	have := map[definition]bool{}
	for i := range s.r.topics {
		t := &s.r.topics[i]
		d := definition{t.Name, t.Type, t.Metadata[storage.MetaMD5Sum]}
		have[d] = true
		text, ok := s.defs[d]
		if !ok {
			text, ok = s.defs[definition{typ: d.typ, md5: d.md5}]
		}
		if ok {
			t.Schema = schemaOf(text, d.md5)
		}
	}
	for _, d := range s.defined {
		if !have[d] {
			t := topicOf(&record{topic: []byte(d.topic), typ: []byte(d.typ), md5: []byte(d.md5)})
			t.Schema = schemaOf(s.defs[d], d.md5)
			s.r.topics = append(s.r.topics, topic{Topic: t})
		}
	}
}

// emptyMD5 is the md5sum of a type without fields, whose definition is empty.
const emptyMD5 = "d41d8cd98f00b204e9800998ecf8427e"

func schemaOf(text, md5 string) storage.Schema {
	if text == "" && md5 != emptyMD5 {
		return storage.Schema{}
	}
	return storage.Schema{Encoding: schemaEncoding, Data: []byte(text)}
}
