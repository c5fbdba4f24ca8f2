package transcode

import (
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// absent writes the default of a field that is not set.
func (r *fromRun) absent(s *slotProgram, open int) {
	if s.list == schema.Unbounded {
		r.w.U32(0)
		return
	}
	times := 1
	if s.list == schema.Fixed {
		times = s.len
	}
	for range times {
		switch s.form {
		case protoschema.Number:
			r.put(s, s.bits)
		case protoschema.Text:
			r.w.String(s.text)
		case protoschema.Nested:
			r.defaults(s.node)
		case protoschema.Stamp:
			r.w.U32(0)
			r.w.U32(0)
		case protoschema.OneCase:
			r.w.U32(0)
			r.cases[open+s.Oneof].at = len(r.w.Buf) - 4
		case protoschema.None:
			zeroValue(&r.w, s.zero)
		case protoschema.Bytes, protoschema.Raw:
			if s.exact {
				r.w.Zero(s.len)
			} else {
				r.w.Bytes(s.text)
			}
		}
	}
}

// defaults writes the struct of a message that is not set.
func (r *fromRun) defaults(n *node) {
	if n.empty && r.w.CDR() {
		r.w.U8(0)
	}
	open := len(r.cases)
	for range n.typ.Oneofs {
		r.cases = append(r.cases, oneCase{-1, 0})
	}
	for i := range n.slots {
		r.absent(&n.slots[i], open)
	}
	r.cases = r.cases[:open]
}

// zeroValue writes zeros for a field that protobuf has nothing for.
func zeroValue(w *ros.Writer, t schema.Type) {
	times := 1
	switch t.Array {
	case schema.Bounded, schema.Unbounded:
		w.U32(0)
		return
	case schema.Fixed:
		times = t.Len
	}
	for range times {
		switch size := t.Kind.Size(); {
		case t.Kind == schema.Struct:
			if len(t.Message.Fields) == 0 && w.CDR() {
				w.U8(0)
			}
			for _, f := range t.Message.Fields {
				zeroValue(w, f.Type)
			}
		case t.Kind == schema.Time || t.Kind == schema.Duration:
			w.Time(0)
		case t.Kind == schema.String:
			w.String(nil)
		case size == 0:
			w.U32(0)
		default:
			w.Align(min(size, 8))
			w.Zero(size)
		}
	}
}

// imageSize returns how many bytes a message of nothing but zeros takes, about.
func imageSize(m *schema.Message, known map[*schema.Message]int) int {
	n, ok := known[m]
	if ok {
		return n
	}
	for _, f := range m.Fields {
		one := 8
		if f.Type.Kind == schema.Struct {
			one += imageSize(f.Type.Message, known)
		}
		switch {
		case f.Type.Array == schema.Fixed && f.Type.Len > maxZero/one:
			n = 2 * maxZero
		case f.Type.Array == schema.Fixed:
			n += one * f.Type.Len
		case f.Type.Array != schema.Single:
			n += 4
		default:
			n += one
		}
		n = min(n, 2*maxZero)
	}
	known[m] = n
	return n
}
