package content

import (
	"encoding/binary"

	"github.com/bagconv/bagconv/schema"
)

// absent writes what stands for a field that is not there: its default, or else zeros. The fields of
// a struct have their own defaults.
func (r *rosReader) absent(s *rosStep) {
	switch {
	case !s.emit || !r.OK():
	case r.w.Len() > r.limit:
		r.Fail("too many bytes of members that the message does not have")
	case s.values != nil:
		if s.list || s.tell {
			r.w.u32(uint32(len(s.values)))
		}
		for _, v := range s.values {
			r.w.literal(s, v)
		}
	case s.form == formStruct && s.node.defaults && !s.list && always(s.member):
		if s.tell {
			r.w.u32(uint32(s.count))
		}
		for n := 0; n < s.count && r.OK(); n++ {
			for i := range s.node.steps {
				switch inner := &s.node.steps[i]; inner.op {
				case opZero:
					r.w.zeros(inner.size)
				case opValue:
					r.absent(inner)
				}
			}
		}
	default:
		r.w.zeros(s.absent)
	}
}

// literal writes a value of a default.
func (w *Writer) literal(s *rosStep, v schema.Literal) {
	switch s.form {
	case formNumber:
		w.numbers(binary.LittleEndian.AppendUint64(nil, v.Bits)[:s.size], s.class)
	case formWide:
		w.text([]byte(string([]rune(v.Text))))
	default:
		w.text([]byte(v.Text))
	}
}
