package xtypes

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/bagconv/bagconv/internal/schema/literal"

	"github.com/bagconv/bagconv/schema"
)

// absent writes a field that the message does not have: its default, or else zero, or a list
// without values. The fields of a struct have their own defaults.
func (w *walk) absent(t schema.Type, text string) {
	values, err := literal.Parse(t, text)
	if text == "" || err != nil {
		values = nil
	}
	list, size, n := t.Array == schema.Bounded || t.Array == schema.Unbounded, t.Kind.Size(), len(values)
	if values == nil && !list {
		n = 1
		if t.Array == schema.Fixed {
			n = t.Len
		}
	}
	bytes := n * max(size, 1)
	for _, v := range values {
		bytes += 4 * len(v.Text)
	}
	if len(w.w.Buf)+bytes > w.limit {
		w.r.Fail("too many bytes of members that the message does not have")
		return
	}
	if list {
		w.w.U32(uint32(n))
	}
	switch {
	case n == 0:
	case values == nil && size > 0:
		w.w.Align(size)
		w.w.Zero(n * size)
	case values == nil:
		for i := 0; i < n && w.r.OK(); i++ {
			w.empty(t)
		}
	default:
		for _, v := range values {
			w.literal(t.Kind, v)
		}
	}
}

// empty writes an empty text, or a struct whose fields are absent: no member of a union is chosen.
func (w *walk) empty(t schema.Type) {
	if t.Kind != schema.Struct {
		w.literal(t.Kind, literal.Value{})
		return
	}
	if len(t.Message.Fields) == 0 {
		w.w.U8(0)
	}
	for i := range t.Message.Fields {
		f := t.Message.Fields[i]
		if t.Message.Union {
			f.Default = ""
		}
		if w.absent(f.Type, f.Default); !w.r.OK() {
			return
		}
	}
}

// literal writes a value of a default.
func (w *walk) literal(k schema.Kind, v literal.Value) {
	switch size := k.Size(); {
	case k == schema.String:
		w.w.String([]byte(v.Text))
	case size > 0:
		var p [8]byte
		binary.LittleEndian.PutUint64(p[:], v.Bits)
		w.w.Align(size)
		w.w.Buf = append(w.w.Buf, p[:size]...)
	default: // wide text
		units := utf16.Encode([]rune(v.Text))
		w.w.U32(uint32(len(units)))
		for _, u := range units {
			w.w.U32(uint32(u))
		}
	}
}
