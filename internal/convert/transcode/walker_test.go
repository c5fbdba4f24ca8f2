package transcode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// The walker is the other way to re-encode: decode a message into a tree of
// values by its definition, look up each field, encode the tree. It is slow and
// plain, knows nothing of programs or phases, and has the last word in tests.

type num struct{ bytes []byte } // little endian
type list []any
type strc struct {
	names []string
	vals  []any
}

type walkReader struct {
	l   ros.Layout
	src []byte
	pos int
}

var errWalk = errors.New("walker: message ends")

func (w *walkReader) align(n int) {
	if n = min(n, w.l.MaxAlign); n > 1 {
		w.pos = (w.pos + n - 1) / n * n
	}
}

func (w *walkReader) take(n int) []byte {
	if n < 0 || w.pos > len(w.src) || n > len(w.src)-w.pos {
		panic(errWalk)
	}
	w.pos += n
	return w.src[w.pos-n : w.pos]
}

func (w *walkReader) number(n int) []byte {
	w.align(n)
	b := append([]byte(nil), w.take(n)...)
	if w.l.BigEndian {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

func (w *walkReader) u32() int { return int(binary.LittleEndian.Uint32(w.number(4))) }

func (w *walkReader) value(t schema.Type) any {
	one := single(t)
	if t.Array != schema.Single {
		if w.l.Sizes && one.Kind.Size() == 0 {
			w.u32()
		}
		n := t.Len
		if t.Array != schema.Fixed {
			if n = w.u32(); n > len(w.src)+maxFuel {
				panic(errWalk)
			}
		}
		out := list{}
		for range n {
			out = append(out, w.value(one))
		}
		return out
	}
	switch t.Kind {
	case schema.Struct:
		if w.l.Delimited {
			w.u32()
		}
		if len(t.Message.Fields) == 0 && w.l.Filler {
			w.take(1)
		}
		s := &strc{}
		for _, f := range t.Message.Fields {
			s.names = append(s.names, f.Name)
			s.vals = append(s.vals, w.value(f.Type))
		}
		return s
	case schema.String:
		s := string(w.take(w.u32()))
		if w.l.NUL {
			s = strings.TrimSuffix(s, "\x00")
		}
		return s
	case schema.Time, schema.Duration:
		return &strc{names: []string{"sec", "nanosec"}, vals: []any{num{w.number(4)}, num{w.number(4)}}}
	}
	return num{w.number(t.Kind.Size())}
}

type walkWriter struct {
	l   ros.Layout
	out []byte
}

func (w *walkWriter) align(n int) {
	if n = min(n, w.l.MaxAlign); n > 1 {
		for len(w.out)%n != 0 {
			w.out = append(w.out, 0)
		}
	}
}

func (w *walkWriter) number(b []byte) {
	w.align(len(b))
	if w.l.BigEndian {
		for i := len(b) - 1; i >= 0; i-- {
			w.out = append(w.out, b[i])
		}
		return
	}
	w.out = append(w.out, b...)
}

func (w *walkWriter) u32(n int) { w.number(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

// sized writes what f writes after its own size, as XCDR2 does.
func (w *walkWriter) sized(on bool, f func()) {
	if !on {
		f()
		return
	}
	w.align(4)
	at := len(w.out)
	w.u32(0)
	f()
	n := uint32(len(w.out) - at - 4)
	if w.l.BigEndian {
		binary.BigEndian.PutUint32(w.out[at:], n)
	} else {
		binary.LittleEndian.PutUint32(w.out[at:], n)
	}
}

func (w *walkWriter) value(t schema.Type, v any) {
	one := single(t)
	if t.Array != schema.Single {
		items, _ := v.(list)
		w.sized(w.l.Sizes && one.Kind.Size() == 0, func() {
			if t.Array != schema.Fixed {
				w.u32(len(items))
			} else if v == nil {
				items = make(list, t.Len)
			}
			for _, x := range items {
				w.value(one, x)
			}
		})
		return
	}
	switch t.Kind {
	case schema.Struct:
		w.sized(w.l.Delimited, func() {
			if len(t.Message.Fields) == 0 && w.l.Filler {
				w.out = append(w.out, 0)
			}
			s, _ := v.(*strc)
			for _, f := range t.Message.Fields {
				var x any
				for i := 0; s != nil && i < len(s.names); i++ {
					if s.names[i] == f.Name {
						x = s.vals[i]
					}
				}
				w.value(f.Type, x)
			}
		})
	case schema.String:
		s, _ := v.(string)
		if w.l.NUL {
			s += "\x00"
		}
		w.u32(len(s))
		w.out = append(w.out, s...)
	case schema.Time, schema.Duration:
		s, ok := v.(*strc)
		if !ok {
			s = &strc{vals: []any{nil, nil}}
		}
		for _, x := range s.vals {
			w.value(schema.Type{Kind: schema.Uint32}, x)
		}
	default:
		n, ok := v.(num)
		if !ok {
			n.bytes = make([]byte, t.Kind.Size())
		}
		if t.Kind == schema.Bool && w.l.Filler && n.bytes[0] != 0 {
			n.bytes = []byte{1}
		}
		w.number(n.bytes)
	}
}

var headers = map[ros.Form][]byte{
	ros.PlainLE: {0, 1, 0, 0}, ros.PlainBE: {0, 0, 0, 0}, ros.Plain2LE: {0, 7, 0, 0}, ros.Plain2BE: {0, 6, 0, 0},
	ros.Delimited2LE: {0, 9, 0, 0}, ros.Delimited2BE: {0, 8, 0, 0},
}

// walkEncode serializes a tree.
func walkEncode(m *schema.Message, v any, w serial.Encoding, form ros.Form) []byte {
	ww := &walkWriter{l: layoutOf(w, form)}
	ww.value(schema.Type{Kind: schema.Struct, Message: m}, v)
	if w == serial.ROS1 {
		return ww.out
	}
	return append(append([]byte(nil), headers[form]...), ww.out...)
}

// walkDecode reads a tree.
func walkDecode(m *schema.Message, b []byte, w serial.Encoding, form ros.Form) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != errWalk {
				panic(r)
			}
			err = errWalk
		}
	}()
	if w == serial.CDR {
		b = b[ros.HeaderSize:]
	}
	wr := &walkReader{l: layoutOf(w, form), src: b}
	v = wr.value(schema.Type{Kind: schema.Struct, Message: m})
	if w == serial.ROS1 && wr.pos != len(b) {
		err = fmt.Errorf("walker: %d bytes left", len(b)-wr.pos)
	}
	return v, err
}
