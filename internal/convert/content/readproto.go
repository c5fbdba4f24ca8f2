package content

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// member writes a field of protobuf.
func (v *reading) member(s *step) {
	f := s.field
	v.c.At(f)
	switch {
	case !f.List && (s.form == formNumber || s.form == formCounter):
		v.put(s, v.c.Bits(f))
	case s.form == formNumber:
		v.numbers(s, v.c.List(f))
	case !v.c.Present(f):
		v.absent(s)
	case f.List:
		v.values(s)
	default:
		v.one(s)
	}
}

// row writes a struct that is a row of numbers; false: nothing was written.
func (v *reading) row(n *node) bool {
	numbers, ok := v.c.Row(n.typ)
	if ok && v.begin(n) {
		v.w.row(n.cells, numbers)
	}
	return ok
}

// oneof returns the number of the member of a oneof that is set, 0 if none is.
func (v *reading) oneof(s *step) uint32 {
	for _, f := range s.parts {
		if v.c.Present(f) {
			return uint32(f.Proto.Number())
		}
	}
	return 0
}

// absent writes what stands for a field that is not set: its default.
func (v *reading) absent(s *step) {
	n := 1
	switch {
	case s.form == formZero:
		v.w.zeros(s.size)
		return
	case s.form == formCase:
		v.w.u32(0)
		return
	case s.form == formOctets:
		v.octets(s, nil)
		return
	case s.array >= 0:
		n = s.array
	case s.field.List:
		n = 0
	}
	if s.prefix {
		v.w.u32(uint32(n))
	}
	for i := 0; i < n && v.c.OK(); i++ {
		switch {
		case v.w.Len() > v.limit:
			v.c.Fail("an array is not set: the content would be out of proportion")
		case s.form == formStruct:
			v.empty(s.node)
		case s.form == formText:
			v.w.text(s.text)
		case s.form == formTime:
			v.w.time(0, 0, s.to == schema.Duration)
		default:
			v.put(s, s.bits)
		}
	}
}

// empty writes a struct of which nothing is set.
func (v *reading) empty(n *node) {
	if n.hollow || !v.begin(n) {
		return
	}
	if n.blank >= 0 {
		v.w.zeros(n.blank)
		return
	}
	for i := range n.steps {
		if v.absent(&n.steps[i]); !v.c.OK() {
			return
		}
	}
}

// octets writes b as an array of bytes; an empty b as zeros.
func (v *reading) octets(s *step, b []byte) {
	if len(b) != s.array && len(b) != 0 {
		v.c.Fail("an array of %d bytes has %d in the message", s.array, len(b))
		return
	}
	if s.prefix {
		v.w.u32(uint32(s.array))
	}
	v.w.bytes(b)
	v.w.zeros(s.array - len(b))
}

// timestamp writes a google.protobuf.Timestamp or Duration: {1 int64 seconds, 2 int32 nanos}.
func (v *reading) timestamp(p []byte, span bool) {
	var words [3]uint64
	fields := pb.Scan(p)
	for fields.Next() {
		if fields.Num <= 2 && fields.Wire == protowire.VarintType {
			words[fields.Num], _ = pb.Number(protoreflect.Uint64Kind, fields.Value())
		} else {
			v.w.Rest = true
		}
	}
	sec, nsec := int64(words[1]), int64(int32(words[2]))
	const limit = math.MaxInt64/1_000_000_000 - 8
	_, wrong := fields.Wrong()
	switch {
	case wrong != "":
		v.c.Fail("%s", wrong)
	case sec < -limit || sec > limit:
		v.c.Fail("a time of %d seconds", sec)
	case v.w.within != nil && wide(*v.w.within, sec, nsec, span):
		v.c.Fail("%d seconds in 32 bits", sec)
	case nsec <= -1e9 || nsec >= 1e9 || nsec < 0 && (!span || sec > 0) || nsec > 0 && sec < 0 && span:
		v.w.Odd++
	}
	v.w.time(sec, nsec, span)
}

// clock writes a message that is a time: {sfixed32 sec, fixed32 nanosec}.
func (v *reading) clock(s *step) {
	var words [2]uint32
	end := v.c.Enter(s.field.Type)
	for i, f := range s.parts {
		v.c.At(f)
		words[i] = uint32(v.c.Bits(f))
	}
	v.c.Leave(end)
	if words[1] >= 1e9 {
		v.w.Odd++
	}
	v.w.time(int64(int32(words[0])), int64(words[1]), s.to == schema.Duration)
}
