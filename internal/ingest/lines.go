package ingest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"

	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/internal/wire/json"
	"github.com/bagconv/bagconv/storage"
)

// A textLine is a line of JSON: where its values are, as positions in it; -1: they are not there.
//
//	{"topic":"/imu","time":"1700000000000000000","fields":{...}}
//
// Other keys: "log_time" for "time"; "type"; "publish_time" and "sequence"; "raw", the message in base64, for
// "fields". Times are ns since 1970, as text or numbers.
type textLine struct {
	json.Text
	topic, typ, time, publish, sequence, fields, raw int
}

// parseLine finds the values of a line.
func parseLine(text []byte) (l textLine, err error) {
	t, root, wrong := json.Open(text)
	if wrong != nil {
		return l, fmt.Errorf("%v of the line: %w", wrong, storage.ErrCorrupt)
	}
	l = textLine{t, -1, -1, -1, -1, -1, -1, -1}
	if l.First(root) != '{' {
		return l, fmt.Errorf("the line is no object: %w", storage.ErrCorrupt)
	}
	l.Members(root, func(key []byte, at int) {
		switch string(key) {
		case "topic":
			l.topic = at
		case "type":
			l.typ = at
		case "time", "log_time":
			l.time = at
		case "publish_time":
			l.publish = at
		case "sequence":
			l.sequence = at
		case "fields":
			l.fields = at
		case "raw":
			l.raw = at
		}
	})
	switch {
	case l.time < 0:
		err = fmt.Errorf("the line has no time: %w", storage.ErrCorrupt)
	case (l.fields < 0) == (l.raw < 0):
		err = fmt.Errorf("the line has neither fields nor raw, or both: %w", storage.ErrCorrupt)
	case l.fields >= 0 && l.First(l.fields) != '{':
		err = fmt.Errorf("the fields of the line are no object: %w", storage.ErrCorrupt)
	case l.raw >= 0 && l.First(l.raw) != '"':
		err = fmt.Errorf("the raw message of the line is no text: %w", storage.ErrCorrupt)
	}
	return l, err
}

// string returns a text, which is valid until the next call.
func (l *textLine) string(at int) []byte {
	if l.First(at) != '"' {
		return nil
	}
	return l.Escaped(at)
}

// whole returns a number, or its digits in a text; fallback without a number.
func (l *textLine) whole(at int, fallback int64) (int64, error) {
	if at < 0 || l.First(at) == 'n' {
		return fallback, nil
	}
	text := l.Raw(at)
	if text[0] == '"' {
		text = l.String(at)
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no number of 64 bits: %w", text, storage.ErrCorrupt)
	}
	return n, nil
}

// message returns what the line says of its message besides its data.
func (l *textLine) message() (m storage.Message, err error) {
	if m.LogTime, err = l.whole(l.time, 0); err == nil {
		m.PublishTime, err = l.whole(l.publish, m.LogTime)
	}
	if err == nil {
		var n int64
		n, err = l.whole(l.sequence, 0)
		m.Sequence = uint32(n)
	}
	return m, err
}

// lineHeads are the topics of lines, by their name, their type, and whether messages are raw.
type lineHeads map[string]*head

// key returns the key of a line in lineHeads, at the end of dst.
func (l *textLine) key(dst []byte) []byte {
	dst = append(append(dst, l.string(l.topic)...), 0)
	dst = append(append(dst, l.string(l.typ)...), 0)
	if l.raw >= 0 {
		dst = append(dst, 1)
	}
	return dst
}

// line returns the next line without its end, and what was taken for it; it is valid until the next call. The error is
// io.EOF at the end of the input.
func (in *input) line() (text []byte, err error) {
	in.long = in.long[:0]
	for {
		b, err := in.ReadSlice('\n')
		in.offset += int64(len(b))
		if err == bufio.ErrBufferFull {
			in.long = append(in.long, b...)
			continue
		}
		if len(in.long) > 0 {
			in.long = append(in.long, b...)
			b = in.long
		}
		if err == io.EOF && len(b) > 0 {
			err = nil
		}
		return bytes.TrimRight(b, "\r\n"), err
	}
}

// lines lists the blocks of lines of JSON.
func (s *scan) lines() error {
	heads := lineHeads{}
	var scratch []byte
	for {
		at := s.in.offset
		text, err := s.in.line()
		if err == io.EOF {
			s.cut(linePart{s.in, heads})
			return nil
		}
		if err != nil {
			return s.in.wrong(at, "the input cannot be read", err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return s.in.wrong(at, "line", err)
		}
		m, err := l.message()
		if err != nil {
			return s.in.wrong(at, "line", err)
		}
		scratch = l.key(scratch[:0])
		h := heads[string(scratch)]
		if h == nil {
			if h, err = s.meetLine(&l); err != nil {
				return s.in.wrong(at, "line", err)
			}
			heads[string(scratch)] = h
		}
		s.add(h.topic, m.LogTime, m.LogTime, 1)
		if s.numbered = s.numbered || m.Sequence != 0; s.full() {
			s.cut(linePart{s.in, heads})
		}
	}
}

// meetLine decides which topic a line belongs to.
func (s *scan) meetLine(l *textLine) (*head, error) {
	name, typ := string(l.string(l.topic)), string(l.string(l.typ))
	if l.topic < 0 {
		name = s.o.Topic
	}
	if typ == "" {
		typ = s.o.Type
	}
	if name == "" && l.topic < 0 {
		return nil, fmt.Errorf("nothing names the topic; --topic does: %w", storage.ErrUnsupported)
	}
	k, err := s.ofValues(name, typ, 0)
	if k == nil && err == nil {
		if typ == "" {
			return nil, noType(name)
		}
		k, err = s.standard(name, typ)
	}
	if err == nil {
		err = s.number(k)
	}
	if err != nil {
		return nil, err
	}
	h := &head{topic: k.id}
	switch {
	case l.raw >= 0:
	case k.Encoding == frames.JSON && len(k.Schema.Data) == 0:
		h.text = true
	default:
		h.values, err = s.topics.program(k)
	}
	return h, err
}

// A linePart decodes blocks of lines.
type linePart struct {
	in    *input
	heads lineHeads
}

func (p linePart) read(block *storage.Block, b *storage.Batch) (list []outcome, err error) {
	b.Buf = storage.Grow(b.Buf, int(block.Size))
	if err := p.in.again(b.Buf, block.Offset); err != nil {
		return nil, err
	}
	var o outcomes
	var m maker
	var scratch []byte
	for rest := b.Buf; len(rest) > 0; {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return nil, p.in.changed(block)
		}
		scratch = l.key(scratch[:0])
		h := p.heads[string(scratch)]
		msg, err := l.message()
		if h == nil || err != nil {
			return nil, p.in.changed(block)
		}
		msg.Topic = h.topic
		var ok bool
		if msg.Data, ok = m.message(o.of(h.topic), func(dst []byte) ([]byte, error) {
			return h.append(dst, &l,
				o.of(h.topic))
		}); ok {
			b.Messages = append(b.Messages, msg)
		}
	}
	return o, nil
}

// append appends the message of a line.
func (h *head) append(dst []byte, l *textLine, o *outcome) ([]byte, error) {
	switch {
	case l.raw >= 0:
		out, err := base64.StdEncoding.AppendDecode(dst, l.String(l.raw))
		if err != nil {
			return dst, fmt.Errorf("%w: the raw message is no base64", build.ErrValue)
		}
		return out, nil
	case h.text:
		return append(dst, l.Raw(l.fields)...), nil
	}
	return h.values.Object(dst, l.Text, l.fields, len(l.Raw(l.fields)), &o.Doubts)
}
