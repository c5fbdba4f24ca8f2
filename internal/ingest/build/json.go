package build

import (
	"encoding/base64"
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/json"
)

// A jsonSource has the values of a text.
type jsonSource struct {
	json.Text
	p       *Program
	spans   []int // positions of the values of open frames
	scratch []byte
	marks
}

// JSON makes a message of an object in JSON, at the end of dst. On error dst is returned at its old length. It keeps
// neither slice. The error wraps ErrValue.
func (p *Program) JSON(dst, text []byte, d *Doubts) ([]byte, error) {
	t, root, wrong := json.Open(text)
	if wrong != nil {
		return dst, refused("%s at byte %d of its JSON", wrong.What, wrong.At)
	}
	return p.Object(dst, t, root, len(text), d)
}

// Object is JSON for an object that begins at a position of a text; size is how many bytes it has, or more.
func (p *Program) Object(dst []byte, t json.Text, at, size int, d *Doubts) ([]byte, error) {
	s := jsonSource{Text: t, p: p}
	out, err := p.append(dst, &s, place{at: at}, size)
	if err == nil {
		s.count(d)
	}
	return out, err
}

func (s *jsonSource) seen() *marks { return &s.marks }

func (s *jsonSource) open(at place, t *message.Type) (frame, error) {
	if c := s.First(at.at); len(t.Fields) == 0 && (c == 't' || c == 'f') {
		return frame{at, len(s.spans)}, nil // as columns have a struct without fields
	}
	if s.First(at.at) != '{' {
		return frame{}, refused("%s is no object of %s", s.short(at), t.Name)
	}
	fr := frame{at, len(s.spans)}
	for range t.Fields {
		s.spans = append(s.spans, missing)
	}
	index := s.p.index[t]
	s.Members(at.at, func(key []byte, at int) {
		i, ok := index[string(key)]
		if !ok {
			s.unknown = true
			return
		}
		if s.First(at) == 'n' {
			at = null
		}
		s.spans[fr.base+i] = at
	})
	return fr, nil
}

func (s *jsonSource) member(f frame, i int) place { return place{at: s.spans[f.base+i]} }

func (s *jsonSource) leave(fr frame) { s.spans = s.spans[:fr.base] }

func (s *jsonSource) list(at place, f *message.Field) (frame, int, error) {
	if s.First(at.at) != '[' {
		return frame{}, 0, refused("%s is no list", s.short(at))
	}
	fr := frame{at, len(s.spans)}
	_ = s.Elements(at.at, func(at int) error {
		if s.First(at) == 'n' {
			at = null
		}
		s.spans = append(s.spans, at)
		return nil
	})
	return fr, len(s.spans) - fr.base, nil
}

func (s *jsonSource) element(fr frame, i int) place { return s.member(fr, i) }

func (s *jsonSource) numbers(frame, *message.Field, int) ([]byte, bool) { return nil, false }

// short returns the beginning of a value, for an error.
func (s *jsonSource) short(at place) string {
	b := s.Raw(at.at)
	if string(b[:min(len(b), 9)]) == `{"$bytes"` {
		return string(b) + " (cat --bytes prints them)"
	}
	if string(b[:min(len(b), 10)]) == `{"$length"` {
		return string(b) + " (cat --arrays prints them)"
	}
	if len(b) > 24 {
		return string(b[:24]) + "..."
	}
	return string(b)
}

func (s *jsonSource) number(at place, f *message.Field) (uint64, error) {
	text := s.Raw(at.at)
	switch text[0] {
	case 't':
		return s.fit(1, message.Unsigned, f)
	case 'f':
		return s.fit(0, message.Unsigned, f)
	case '"':
		if text = s.String(at.at); len(text) == 0 {
			return 0, refused("an empty text is no %s", kindName(f))
		}
	}
	if f.Kind != message.Float {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return s.fit(uint64(n), message.Signed, f)
		}
		if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return s.fit(n, message.Unsigned, f)
		}
		if n, ok := enumNumber(f, string(text)); ok {
			return n, nil
		}
	}
	switch string(text) {
	case "Infinity", "-Infinity", "NaN": // ParseFloat takes these, and others
	default:
		if c := text[0]; c != '-' && (c < '0' || c > '9') {
			return 0, refused("%s is no %s", s.short(at), kindName(f))
		}
	}
	v, err := strconv.ParseFloat(string(text), 8*max(f.Size, 4))
	if err != nil {
		return 0, refused("%s is no %s", s.short(at), kindName(f))
	}
	if f.Kind == message.Float && f.Size == 4 {
		return uint64(math.Float32bits(float32(v))), nil
	}
	return s.fit(math.Float64bits(v), message.Float, f)
}

// fit returns a number of 64 bits as one of a field.
func (m *marks) fit(bits uint64, from message.Kind, f *message.Field) (uint64, error) {
	if f.Kind == message.Bool {
		if from == message.Float || bits > 1 {
			return 0, refused("a number is no bool")
		}
		return bits, nil
	}
	out, changed := from.Class().Convert(bits, f.Kind.Class(), 8*f.Size)
	if changed {
		if f.Kind == message.Float {
			m.rounded = true
			return out, nil
		}
		return 0, refused("%v is no %s", asText(bits, from), kindName(f))
	}
	return out, nil
}

// asText is a number for an error.
func asText(bits uint64, k message.Kind) any {
	switch k {
	case message.Signed:
		return int64(bits)
	case message.Float:
		return math.Float64frombits(bits)
	}
	return bits
}

// enumNumber returns the number of a name of an enum of protobuf.
func enumNumber(f *message.Field, name string) (uint64, bool) {
	if f.Proto == nil || f.Proto.Enum() == nil {
		return 0, false
	}
	v := f.Proto.Enum().Values().ByName(protoreflect.Name(name))
	if v == nil {
		return 0, false
	}
	return uint64(int64(v.Number())), true
}

func (s *jsonSource) text(at place, f *message.Field) ([]byte, error) {
	if s.First(at.at) != '"' {
		return nil, refused("%s is no text", s.short(at))
	}
	return s.Escaped(at.at), nil
}

func (s *jsonSource) bytes(at place, f *message.Field) ([]byte, bool, error) {
	switch {
	case s.First(at.at) == '"':
		b, err := base64.StdEncoding.AppendDecode(s.scratch[:0], s.String(at.at))
		if s.scratch = b; err != nil {
			return nil, false, refused("%s is no base64", s.short(at))
		}
		return b, true, nil
	case f.Kind == message.Bytes && s.First(at.at) == '[':
		s.scratch = s.scratch[:0]
		err := s.Elements(at.at, func(at int) error {
			n, ok := s.Integer(at)
			if !ok || n < 0 || n > 255 {
				return refused("%s is no byte", s.short(place{at: at}))
			}
			s.scratch = append(s.scratch, byte(n))
			return nil
		})
		return s.scratch, err == nil, err
	case f.Type == nil && s.First(at.at) != '[':
		return nil, false, refused("%s is no string of bytes", s.short(at))
	}
	return nil, false, nil
}

// time takes ns as a number, or its digits.
func (s *jsonSource) time(at place, f *message.Field) (sec, nsec int64, ok bool) {
	if s.First(at.at) == '{' {
		return 0, 0, false
	}
	text := s.Raw(at.at)
	if text[0] == '"' {
		text = s.String(at.at)
	}
	ns, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	sec, nsec = split(ns)
	return sec, nsec, true
}

// split returns the seconds and nanoseconds of a time in ns.
func split(ns int64) (sec, nsec int64) {
	if sec, nsec = ns/1e9, ns%1e9; nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	return sec, nsec
}

// named returns the number that a text is: the name of an enum, or digits.
func (m *marks) named(text []byte, f *message.Field) (uint64, error) {
	if n, ok := enumNumber(f, string(text)); ok {
		return n, nil
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return m.fit(uint64(n), message.Signed, f)
	}
	if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return m.fit(n, message.Unsigned, f)
	}
	return 0, refused("%.40q is no %s", text, kindName(f))
}

func floatBits(v float64) uint64 { return math.Float64bits(v) }
