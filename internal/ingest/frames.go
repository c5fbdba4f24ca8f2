package ingest

import (
	"fmt"
	"io"
	"maps"

	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/storage"
)

// Limits of what frames may have besides messages.
const (
	maxTopics      = 100_000
	maxDefinitions = 256 << 20 // bytes of all of them together
)

// heads are what frames are, by the bytes of their names, as frames.AppendNames has them, and for a
// message with a stamp the names with the number of its publisher behind them. Blocks share one
// until a definition replaces another.
type heads map[string]*head

// A head is what a frame with certain names is.
type head struct {
	kind   frameKind
	topic  storage.TopicID
	values *build.Program // makes the message of values; nil: it is there
	text   bool           // of lines: the values are the message, as text
	arrow  uint32         // the number of the stream that anArrow is a piece of
}

type frameKind uint8

const (
	aMessage frameKind = iota // as it is, or of values
	anArrow                   // a piece of an Arrow stream
	aDefinition
	aStamp
	aRecording
)

// A framer reads frames.
type framer struct {
	heads   heads
	streams map[uint32]*arrowStream // numbered as they come
	scratch []byte
}

// key returns the key of a frame in heads.
func (f *framer) key(names []byte, stamp *frames.Stamp) []byte {
	f.scratch = append(f.scratch[:0], names...)
	if stamp != nil && stamp.Publisher != 0 {
		n := stamp.Publisher
		f.scratch = append(f.scratch, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return f.scratch
}

// frames lists the blocks of a stream of frames.
func (s *scan) frames() error {
	f := &framer{heads: heads{}, streams: map[uint32]*arrowStream{}}
	var stamp *frames.Stamp // of the next frame
	for {
		at := s.in.offset
		b, err := s.in.look(frames.HeadSize)
		switch {
		case err != nil:
			return s.in.wrong(at, "the input cannot be read", err)
		case len(b) == 0 && stamp != nil:
			return s.in.wrong(at, "the input ends behind a stamp, before its message", io.EOF)
		case len(b) == 0:
			s.cut(framePart{s.in, f.heads})
			return s.flushAll(f.streams)
		}
		h, names, err := s.names(b)
		if err != nil {
			return s.in.wrong(at, "frame", err)
		}
		key := f.key(names, stamp)
		known := f.heads[string(key)]
		if known == nil {
			if known, err = s.meet(f, &h, names, stamp); err != nil {
				return s.in.wrong(at, "frame", err)
			}
			f.heads[string(key)] = known
		}
		if known.kind == aMessage {
			if err := s.in.skip(h.Size); err != nil {
				return s.in.wrong(at, fmt.Sprintf("frame of %d bytes", h.Size), err)
			}
			s.add(known.topic, h.Time, h.Time, 1)
			s.numbered = s.numbered || stamp != nil && stamp.Sequence != 0
			if stamp = nil; s.full() {
				s.cut(framePart{s.in, f.heads})
			}
			continue
		}
		if stamp == nil && known.kind == anArrow {
			if err := s.arrowFrame(f, known, &h); err != nil {
				return err
			}
			continue
		}
		if stamp != nil {
			return s.in.wrong(at, "frame", fmt.Errorf("a stamp comes before a frame that is no message: %w",
				storage.ErrCorrupt))
		}
		var frame []byte
		if h.Size > maxDefinitions {
			err = fmt.Errorf("a description of %d bytes, more than %d: %w", h.Size, maxDefinitions, storage.ErrCorrupt)
		} else {
			frame, err = s.in.take(nil, h.Size)
		}
		if err == nil {
			stamp, err = s.describe(f, known.kind, &h, frame)
		}
		if err != nil {
			return s.in.wrong(at, "frame", err)
		}
	}
}

// arrowFrame takes a piece of an Arrow stream, which blocks of frames do not have.
func (s *scan) arrowFrame(f *framer, known *head, h *frames.Head) error {
	s.cut(framePart{s.in, f.heads})
	at := s.in.offset
	if err := s.in.skip(frames.HeadSize + int64(h.Names())); err != nil {
		return s.in.wrong(at, "frame", err)
	}
	err := s.arrowPiece(f.streams[known.arrow], h.Message())
	if err == nil && s.unflushed > maxUnflushed {
		err = s.flushAll(f.streams)
	}
	s.cut(framePart{s.in, f.heads})
	return err
}

// names returns the head of the next frame and its names, which are valid until the next read.
func (s *scan) names(b []byte) (h frames.Head, names []byte, err error) {
	if len(b) < frames.HeadSize {
		return h, nil, io.EOF
	}
	if h, err = frames.ParseHead(b); err != nil {
		return h, nil, err
	}
	n := frames.HeadSize + h.Names()
	if b, err = s.in.look(n); err == nil && len(b) < n {
		err = io.EOF
	}
	if err != nil {
		return h, nil, err
	}
	return h, b[frames.HeadSize-8:], nil
}

// meet decides what frames with these names are.
func (s *scan) meet(f *framer, h *frames.Head, names []byte, stamp *frames.Stamp) (*head, error) {
	names = names[8:]
	encoding, typ, topic := string(names[:h.Encoding]), string(names[h.Encoding:h.Encoding+h.Type]),
		string(names[h.Encoding+h.Type:])
	switch {
	case encoding == frames.StampName:
		return &head{kind: aStamp}, nil
	case encoding == frames.AboutName:
		return &head{kind: aRecording}, nil
	case encoding == frames.Arrow:
		number := uint32(len(f.streams))
		f.streams[number] = &arrowStream{name: topic, typ: typ}
		return &head{kind: anArrow, arrow: number}, nil
	case len(encoding) >= len(frames.Defines) && encoding[:len(frames.Defines)] == frames.Defines:
		return &head{kind: aDefinition}, nil
	}
	var publisher uint32
	if stamp != nil {
		publisher = stamp.Publisher
	}
	k, values, err := s.find(encoding, typ, topic, publisher)
	if err != nil {
		return nil, err
	}
	return &head{topic: k.id, values: values}, nil
}

// describe takes a frame that is no message. It returns the stamp that it is.
func (s *scan) describe(f *framer, kind frameKind, h *frames.Head, frame []byte) (*frames.Stamp, error) {
	encoding, typ, topic, message := h.Split(frame)
	switch kind {
	case aStamp:
		stamp, err := frames.ParseStamp(message)
		return &stamp, err
	case aRecording:
		about, err := frames.ParseRecording(message)
		if err == nil {
			s.about = about
		}
		return nil, err
	}
	d, err := frames.ParseDefinition(string(encoding), string(typ), string(topic), message)
	if err != nil {
		return nil, err
	}
	replaced, err := s.declare(d)
	if replaced { // the blocks so far keep what they have
		s.cut(framePart{s.in, f.heads})
		f.heads = maps.Clone(f.heads)
		maps.DeleteFunc(f.heads, func(_ string, h *head) bool { return h.kind == aMessage })
	}
	return nil, err
}

// A framePart decodes blocks of frames.
type framePart struct {
	in    *input
	heads heads
}

func (p framePart) read(block *storage.Block, b *storage.Batch) (list []outcome, err error) {
	b.Buf = storage.Grow(b.Buf, int(block.Size))
	if err := p.in.again(b.Buf, block.Offset); err != nil {
		return nil, err
	}
	var stamp *frames.Stamp
	var o outcomes
	f, m := framer{}, maker{}
	for rest := b.Buf; len(rest) > 0; {
		h, err := frames.ParseHead(rest)
		if err != nil || h.Size > int64(len(rest)) {
			return nil, p.in.changed(block)
		}
		frame := rest[:h.Size:h.Size]
		rest = rest[h.Size:]
		known := p.heads[string(f.key(frame[frames.HeadSize-8:frames.HeadSize+h.Names()], stamp))]
		message := frame[frames.HeadSize+h.Names():]
		switch {
		case known == nil:
			return nil, p.in.changed(block)
		case known.kind == aStamp:
			s, err := frames.ParseStamp(message)
			if err != nil {
				return nil, err
			}
			stamp = &s
			continue
		case known.kind != aMessage:
			continue
		}
		msg := storage.Message{Topic: known.topic, LogTime: h.Time, PublishTime: h.Time, Data: message}
		if stamp != nil {
			msg.PublishTime, msg.Sequence, stamp = stamp.PublishTime, stamp.Sequence, nil
		}
		if known.values != nil {
			var ok bool
			if msg.Data, ok = m.json(known.values, message, o.of(known.topic)); !ok {
				continue
			}
		}
		b.Messages = append(b.Messages, msg)
	}
	return o, nil
}
