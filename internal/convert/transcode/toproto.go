package transcode

import (
	"bytes"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A ToProto re-encodes messages of one ROS type, in ROS 1 serialization or CDR,
// into protobuf. It may be used by any number of goroutines.
//
// Fields are written in the order of the struct. A single value that has its
// default is left out, but for required fields and the set member of a oneof;
// so is a message that would be empty.
type ToProto struct {
	source  Source
	root    *node
	dropped []string
}

// CompileToProto makes the program from messages of src to messages of md, whose
// fields have to be the fields of protoschema.Describe or of the generated type.
func CompileToProto(src *schema.Message, from serial.Encoding, md protoreflect.MessageDescriptor) (*ToProto, error) {
	s, err := protoschema.Bind(md, src)
	if err != nil {
		return nil, err
	}
	p := &ToProto{root: nodes(s, map[*protoschema.Struct]*node{})}
	p.dropped, _ = s.Unpaired()
	p.source.init(string(md.FullName()), p.dropped)
	if err := p.source.Init(src, from); err != nil {
		return nil, err
	}
	return p, nil
}

// Dropped lists the paths of ROS fields that the message has no place for.
func (p *ToProto) Dropped() []string { return p.dropped }

// Losses lists what the messages so far lost: values of fields that Dropped
// lists, and bytes after their last field.
func (p *ToProto) Losses() []Loss { return p.source.Losses() }

// Reset sets what Losses counts to zero.
func (p *ToProto) Reset() { p.source.Reset() }

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare.
func (p *ToProto) SizeHint(n int) int { return n + n/4 + 64 }

// Append re-encodes src and appends it to dst. On error dst is returned at its
// old length. It keeps neither slice.
func (p *ToProto) Append(dst, src []byte) ([]byte, error) {
	r, err := p.source.Open(src)
	if err != nil {
		return dst, err
	}
	old := len(dst)
	t := toRun{r: r, cdr: p.source.cdr, out: dst, fuel: maxFuel}
	t.message(p.root)
	if err := p.source.Close(&t.r); err != nil {
		return dst[:old], err
	}
	if t.valued {
		p.source.all()
	}
	if t.normalized {
		p.source.Normalized()
	}
	return t.out, nil
}

// A toRun is one message on its way.
type toRun struct {
	r     ros.Reader
	cdr   bool
	out   []byte
	fuel  int // elements that take no bytes
	cases []int32

	valued     bool // a field that protobuf has no place for had a value
	normalized bool // a time has other seconds and nanoseconds of the same value
}

// message writes the fields of a struct.
func (t *toRun) message(n *node) {
	if n.empty && t.cdr {
		t.r.U8()
	}
	open := len(t.cases)
	for range n.typ.Oneofs {
		t.cases = append(t.cases, 0)
	}
	for i := range n.slots {
		s := &n.slots[i]
		switch {
		case s.form == protoschema.OneCase:
			t.cases[open+s.Oneof] = int32(t.r.U32())
		case s.form == protoschema.None:
			t.skip(s.zero)
		case s.list != schema.Single:
			t.list(s)
		default:
			keep, skip := s.keep, false
			if s.Oneof >= 0 {
				keep = t.cases[open+s.Oneof] == int32(s.Num)
				skip = !keep
			}
			old := len(t.out)
			t.single(s, keep)
			if skip {
				t.out = t.out[:old]
			}
		}
		if !t.r.OK() {
			return
		}
	}
	t.cases = t.cases[:open]
}

// single writes one value; without keep it is left out when it has its default.
func (t *toRun) single(s *slotProgram, keep bool) {
	switch s.form {
	case protoschema.Number:
		if v := t.read(s); keep || v != s.bits {
			t.tag(s)
			t.number(s, v)
		}
	case protoschema.Text:
		if v := t.r.String(); keep || !bytes.Equal(v, s.text) {
			t.bytes(s, v)
		}
	case protoschema.Bytes, protoschema.Raw:
		var v []byte
		if s.exact {
			v = t.r.Take(s.len)
		} else {
			v = t.r.Bytes()
		}
		if keep || !bytes.Equal(v, s.text) {
			t.content(s, v)
		}
	default:
		t.nested(s, keep)
	}
}

// content writes bytes, or the bytes of a message, with the tag.
func (t *toRun) content(s *slotProgram, v []byte) {
	if s.Wire != protowire.StartGroupType {
		t.bytes(s, v)
		return
	}
	t.tag(s)
	t.out = append(t.out, v...)
	t.out = protowire.AppendTag(t.out, s.Num, protowire.EndGroupType)
}

func (t *toRun) tag(s *slotProgram) {
	t.out = protowire.AppendTag(t.out, s.Num, s.Wire)
}

func (t *toRun) bytes(s *slotProgram, v []byte) {
	t.tag(s)
	t.out = append(protowire.AppendVarint(t.out, uint64(len(v))), v...)
}

// nested writes a message; an empty one only with keep.
func (t *toRun) nested(s *slotProgram, keep bool) {
	old := len(t.out)
	t.tag(s)
	head := len(t.out)
	if s.Wire != protowire.StartGroupType {
		t.out = append(t.out, 0)
	}
	begin := len(t.out)
	if s.form == protoschema.Stamp {
		t.stamp(s.span)
	} else {
		t.message(s.node)
	}
	switch {
	case len(t.out) == begin && !keep:
		t.out = t.out[:old]
	case s.Wire == protowire.StartGroupType:
		t.out = protowire.AppendTag(t.out, s.Num, protowire.EndGroupType)
	default:
		t.out = pb.EndBytes(t.out, head)
	}
}

// stamp writes two 32-bit words as a google.protobuf.Timestamp, or as a Duration.
func (t *toRun) stamp(span bool) {
	word := t.r.U32()
	sec, nsec, normalized := toProtoTime(word, t.r.U32(), span, t.cdr)
	t.normalized = t.normalized || normalized
	if sec != 0 {
		t.out = protowire.AppendVarint(append(t.out, 1<<3), uint64(sec))
	}
	if nsec != 0 {
		t.out = protowire.AppendVarint(append(t.out, 2<<3), uint64(nsec))
	}
}

// list writes a list.
func (t *toRun) list(s *slotProgram) {
	n := s.len
	if s.list != schema.Fixed {
		n = int(t.r.U32())
	}
	if n == 0 || !t.r.OK() {
		return
	}
	if s.form == protoschema.Number {
		t.numbers(s, n)
		return
	}
	for range n {
		before := t.r.Pos()
		switch s.form {
		case protoschema.Text:
			t.bytes(s, t.r.String())
		case protoschema.Bytes, protoschema.Raw:
			t.content(s, t.r.Bytes())
		default:
			t.nested(s, true)
		}
		if t.r.Pos() == before {
			if t.fuel--; t.fuel < 0 {
				t.r.Fail("too many elements that take no bytes")
			}
		}
		if !t.r.OK() {
			return
		}
	}
}

// numbers writes a list of n numbers.
func (t *toRun) numbers(s *slotProgram, n int) {
	width := int(s.size)
	t.r.Align(width)
	if n > t.r.Len()/width {
		t.r.Take(n * width) // fails
		return
	}
	if !s.pack {
		for range n {
			t.tag(s)
			t.number(s, t.read(s))
		}
		return
	}
	t.out = protowire.AppendTag(t.out, s.Num, protowire.BytesType)
	if pb.Width(s.Wire) == width {
		t.out = protowire.AppendVarint(t.out, uint64(n*width))
		t.out = append(t.out, t.r.Numbers(n, width)...)
		return
	}
	head := len(t.out)
	t.out = append(t.out, 0)
	for range n {
		t.number(s, t.read(s))
	}
	t.out = pb.EndBytes(t.out, head)
}

// read reads a number of the ROS field's width, as protobuf sees it: signed
// ones with their sign.
func (t *toRun) read(s *slotProgram) uint64 {
	switch s.size {
	case 1:
		v := t.r.U8()
		if s.Kind == protoreflect.BoolKind && v > 1 {
			v = 1
		}
		if s.sign {
			return uint64(int64(int8(v)))
		}
		return uint64(v)
	case 2:
		v := t.r.U16()
		if s.sign {
			return uint64(int64(int16(v)))
		}
		return uint64(v)
	case 4:
		v := t.r.U32()
		if s.sign {
			return uint64(int64(int32(v)))
		}
		return uint64(v)
	}
	return t.r.U64()
}

// number writes a number without its tag.
func (t *toRun) number(s *slotProgram, v uint64) { t.out = pb.AppendNumber(t.out, s.Kind, v) }

// skip steps over a field that protobuf has no place for.
func (t *toRun) skip(typ schema.Type) {
	n := 1
	switch typ.Array {
	case schema.Fixed:
		n = typ.Len
	case schema.Bounded, schema.Unbounded:
		n = int(t.r.U32())
		t.valued = t.valued || n > 0
	}
	size := typ.Kind.Size()
	if typ.Kind == schema.Time || typ.Kind == schema.Duration {
		n, size = 2*n, 4
	}
	if size > 0 {
		t.valued = !isZero(t.r.Numbers(n, size)) || t.valued
		return
	}
	for range n {
		before := t.r.Pos()
		switch {
		case typ.Kind == schema.String:
			t.valued = len(t.r.String()) > 0 || t.valued
		case typ.Kind != schema.Struct:
			t.r.Fail("a %s cannot be read", typ.Kind)
		case len(typ.Message.Fields) == 0 && t.cdr:
			t.r.U8()
		default:
			for _, f := range typ.Message.Fields {
				t.skip(f.Type)
			}
		}
		if t.r.Pos() == before {
			if t.fuel--; t.fuel < 0 {
				t.r.Fail("too many elements that take no bytes")
			}
		}
		if !t.r.OK() {
			return
		}
	}
}
