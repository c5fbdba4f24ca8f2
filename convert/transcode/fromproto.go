package transcode

import (
	"errors"
	"fmt"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
)

// A FromProto re-encodes protobuf messages of one type into ROS 1 serialization
// or CDR. It may be used by any number of goroutines.
//
// Fields may come in any order, lists packed or not; of a single value that
// comes twice the last counts, messages that come twice are merged, as protobuf
// asks for. A field that is not set has its default. A value on another wire
// type than its field's is an unknown field.
type FromProto struct {
	root    *node
	bound   *protoschema.Struct
	cdr     bool
	unknown atomic.Int64
}

// CompileFromProto makes the program from messages of md to messages of dst,
// which is the type that protoschema.Namer generated or one that fits as well.
func CompileFromProto(md protoreflect.MessageDescriptor, dst *schema.Message, to Wire) (*FromProto, error) {
	s, err := protoschema.Bind(md, dst)
	if err != nil {
		return nil, err
	}
	if imageSize(dst, map[*schema.Message]int{}) > maxZero {
		return nil, errTooLarge
	}
	return &FromProto{root: nodes(s, map[*protoschema.Struct]*node{}), bound: s, cdr: to == CDR}, nil
}

// Unknown is the number of messages so far that had fields which their
// descriptor does not have; those fields are left out.
func (p *FromProto) Unknown() int64 { return p.unknown.Load() }

// Reset sets the count of Unknown to zero.
func (p *FromProto) Reset() { p.unknown.Store(0) }

// Dropped lists the paths of fields that the ROS type has no place for.
func (p *FromProto) Dropped() []string { return alone(p.bound) }

// SizeHint is how many bytes a message of n bytes becomes, with some to spare.
func (p *FromProto) SizeHint(n int) int { return n + n/2 + 256 }

// Growth of a message is limited: a list of empty messages must not fill the
// memory with default values.
const (
	maxGrowth = 256
	maxExtra  = 16 << 20
)

// errOrder ends the forward walk over a message whose fields are not in order.
var errOrder = errors.New("fields are not in order")

// Append re-encodes src and appends it to dst. On error dst is returned at its
// old length. It keeps neither slice.
func (p *FromProto) Append(dst, src []byte) ([]byte, error) {
	old := len(dst)
	r := fromRun{w: ros.NewWriter(dst, p.cdr), src: src, most: old + maxExtra + maxGrowth*len(src)}
	err := r.message(p.root, src, 0)
	if err == errOrder {
		r = fromRun{w: ros.NewWriter(dst[:old], p.cdr), src: src, most: r.most, anyOrder: true}
		err = r.message(p.root, src, 0)
	}
	if err != nil {
		return dst[:old], err
	}
	if r.unknown {
		p.unknown.Add(1)
	}
	return r.w.Buf, nil
}

// A fromRun is one message on its way.
type fromRun struct {
	w        ros.Writer
	src      []byte
	most     int // length that w.Buf may reach
	anyOrder bool
	unknown  bool
	cases    []oneCase // of the messages that are open
}

// A oneCase is a oneof on its way: where its case was written, and its value.
type oneCase struct {
	at    int
	value int32
}

func (r *fromRun) bad(at int, what string) error { return &Error{at, what} }

// message writes the struct of one message, whose bytes p begin at offset at of
// the whole.
func (r *fromRun) message(n *node, p []byte, at int) error {
	if len(r.w.Buf) > r.most {
		return r.bad(at, "the message would grow out of proportion: too many empty messages in it")
	}
	if n.empty && r.w.CDR() {
		r.w.U8(0)
	}
	if r.anyOrder {
		return r.gathered(n, p, at)
	}
	open := len(r.cases)
	for range n.cases {
		r.cases = append(r.cases, oneCase{-1, 0})
	}
	next, pos := 0, 0
	for pos < len(p) {
		num, wire, k := tag(p[pos:])
		if k < 0 {
			return r.bad(at+pos, "a field's tag is cut or wrong")
		}
		i := n.find(num)
		if i < 0 || !n.slots[i].takes(wire) {
			r.unknown = true
			m := protowire.ConsumeFieldValue(protowire.Number(num), wire, p[pos+k:])
			if m < 0 {
				return r.bad(at+pos, "an unknown field is cut or wrong")
			}
			pos += k + m
			continue
		}
		if i < next {
			return errOrder
		}
		for ; next < i; next++ {
			r.absent(&n.slots[next], open)
		}
		s := &n.slots[i]
		next++
		if s.oneof >= 0 {
			c := &r.cases[open+s.oneof]
			if c.at < 0 || c.value != 0 {
				return errOrder
			}
			c.value = num
			putCase(r.w.Buf[c.at:], num)
		}
		var err error
		if s.list != schema.Single {
			pos, err = r.list(s, p, pos, at)
		} else {
			pos, err = r.value(s, p, pos+k, at)
		}
		if err != nil {
			return err
		}
	}
	for ; next < len(n.slots); next++ {
		r.absent(&n.slots[next], open)
	}
	r.cases = r.cases[:open]
	return nil
}

func putCase(b []byte, num int32) {
	b[0], b[1], b[2], b[3] = byte(num), byte(num>>8), byte(num>>16), byte(num>>24)
}

// tag reads a field's number and wire type; k is negative when it is not one.
func tag(p []byte) (num int32, wire protowire.Type, k int) {
	if len(p) > 0 && p[0] < 0x80 && p[0] >= 8 {
		return int32(p[0] >> 3), protowire.Type(p[0] & 7), 1
	}
	n, w, k := protowire.ConsumeTag(p)
	return int32(n), w, k
}

// takes tells whether a value of that wire type belongs to the slot.
func (s *slotProgram) takes(wire protowire.Type) bool {
	return wire == s.wire || wire == protowire.BytesType && s.list != schema.Single && s.form == protoschema.Number
}

// list writes a list whose first tag stands at pos, and all that follow it with
// the same number.
func (r *fromRun) list(s *slotProgram, p []byte, pos, at int) (int, error) {
	head := r.beginList(s)
	count := 0
	for pos < len(p) {
		num, wire, k := tag(p[pos:])
		if k < 0 || num != s.num || !s.takes(wire) {
			break
		}
		var err error
		var n int
		if n, pos, err = r.element(s, wire, p, pos+k, at); err != nil {
			return pos, err
		}
		count += n
	}
	return pos, r.endList(s, head, count, at+pos)
}

func (r *fromRun) beginList(s *slotProgram) int {
	if s.list == schema.Fixed {
		return 0
	}
	r.w.U32(0)
	return len(r.w.Buf) - 4
}

func (r *fromRun) endList(s *slotProgram, head, count, at int) error {
	if s.list == schema.Fixed {
		if count != s.len {
			return r.bad(at, fmt.Sprintf("an array of %d has %d elements", s.len, count))
		}
		return nil
	}
	putCase(r.w.Buf[head:], int32(count))
	return nil
}

// element writes one element of a list, or all of a packed one, and returns
// their number and the position behind.
func (r *fromRun) element(s *slotProgram, wire protowire.Type, p []byte, pos, at int) (int, int, error) {
	if s.form != protoschema.Number || wire != protowire.BytesType {
		pos, err := r.value(s, p, pos, at)
		return 1, pos, err
	}
	v, k := protowire.ConsumeBytes(p[pos:])
	if k < 0 {
		return 0, pos, r.bad(at+pos, "a packed list is cut")
	}
	end := pos + k
	if width := int(s.size); s.code == codeFixed32 && width == 4 || s.code == codeFixed64 && width == 8 {
		if len(v)%width != 0 {
			return 0, pos, r.bad(at+pos, "a packed list ends within a number")
		}
		if len(v) > 0 {
			r.w.Align(width)
			r.w.Buf = append(r.w.Buf, v...)
		}
		return len(v) / width, end, nil
	}
	count := 0
	for i := end - len(v); i < end; count++ {
		var err error
		if i, err = r.number(s, p[:end], i, at); err != nil {
			return 0, pos, err
		}
	}
	return count, end, nil
}

// value writes the value that stands at pos, and returns the position behind.
func (r *fromRun) value(s *slotProgram, p []byte, pos, at int) (int, error) {
	if s.form == protoschema.Number {
		return r.number(s, p, pos, at)
	}
	var v []byte
	var k int
	if s.group {
		v, k = protowire.ConsumeGroup(protowire.Number(s.num), p[pos:])
	} else {
		v, k = protowire.ConsumeBytes(p[pos:])
	}
	if k < 0 {
		return pos, r.bad(at+pos, fmt.Sprintf("field %d is cut: %d bytes are left", s.num, len(p)-pos))
	}
	begin := pos + k - len(v) // of v; within a group the end tag stands behind it, so this is only about
	return pos + k, r.content(s, v, at+begin)
}

// content writes the bytes of a string, of bytes or of a message.
func (r *fromRun) content(s *slotProgram, v []byte, at int) error {
	switch s.form {
	case protoschema.Text:
		r.w.String(v)
	case protoschema.Nested:
		return r.message(s.node, v, at)
	case protoschema.Stamp:
		return r.stamp(v, at)
	default: // Bytes, Raw
		if s.exact {
			if len(v) != s.len {
				return r.bad(at, fmt.Sprintf("an array of %d bytes has %d", s.len, len(v)))
			}
			r.w.Buf = append(r.w.Buf, v...)
			return nil
		}
		r.w.Bytes(v)
	}
	return nil
}

// number writes one number.
func (r *fromRun) number(s *slotProgram, p []byte, pos, at int) (int, error) {
	var v uint64
	switch s.code {
	case codeFixed32:
		if len(p)-pos < 4 {
			return pos, r.bad(at+pos, "a number is cut")
		}
		r.put(s, uint64(le32(p[pos:])))
		return pos + 4, nil
	case codeFixed64:
		if len(p)-pos < 8 {
			return pos, r.bad(at+pos, "a number is cut")
		}
		r.put(s, le64(p[pos:]))
		return pos + 8, nil
	}
	if pos < len(p) && p[pos] < 0x80 {
		v = uint64(p[pos])
		pos++
	} else {
		var k int
		if v, k = protowire.ConsumeVarint(p[pos:]); k < 0 {
			return pos, r.bad(at+pos, "a number is cut or wrong")
		}
		pos += k
	}
	switch s.code {
	case codeZigzag:
		if s.size < 8 {
			v &= 0xffffffff
		}
		v = uint64(protowire.DecodeZigZag(v))
	case codeBool:
		if v != 0 {
			v = 1
		}
	}
	r.put(s, v)
	return pos, nil
}

// put writes a number in the width of the ROS field.
func (r *fromRun) put(s *slotProgram, v uint64) {
	switch s.size {
	case 1:
		r.w.U8(uint8(v))
	case 2:
		r.w.U16(uint16(v))
	case 4:
		r.w.U32(uint32(v))
	case 8:
		r.w.U64(v)
	}
}

// stamp writes a google.protobuf.Timestamp or Duration as two 32-bit words.
func (r *fromRun) stamp(p []byte, at int) error {
	var sec, nsec uint64
	for pos := 0; pos < len(p); {
		num, wire, k := tag(p[pos:])
		if k < 0 {
			return r.bad(at+pos, "a field's tag is cut or wrong")
		}
		pos += k
		if wire == protowire.VarintType && (num == 1 || num == 2) {
			v, k := protowire.ConsumeVarint(p[pos:])
			if k < 0 {
				return r.bad(at+pos, "a number is cut or wrong")
			}
			if num == 1 {
				sec = v
			} else {
				nsec = v
			}
			pos += k
			continue
		}
		if k = protowire.ConsumeFieldValue(protowire.Number(num), wire, p[pos:]); k < 0 {
			return r.bad(at+pos, "an unknown field is cut or wrong")
		}
		r.unknown = true
		pos += k
	}
	if s := int64(sec); s < -1<<31 || s >= 1<<32 {
		return r.bad(at, fmt.Sprintf("a time of %d seconds does not fit into 32 bits", s))
	}
	r.w.U32(uint32(sec))
	r.w.U32(uint32(nsec))
	return nil
}

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
			r.cases[open+s.oneof].at = len(r.w.Buf) - 4
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
	for range n.cases {
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

// imageSize is how many bytes a message of nothing but zeros takes, about.
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

func le32(p []byte) uint32 {
	return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
}

func le64(p []byte) uint64 { return uint64(le32(p)) | uint64(le32(p[4:]))<<32 }

// alone lists the paths of protobuf fields that have no counterpart.
func alone(s *protoschema.Struct) []string {
	var out []string
	seen := map[*protoschema.Struct]bool{}
	var walk func(s *protoschema.Struct, prefix string)
	walk = func(s *protoschema.Struct, prefix string) {
		if seen[s] {
			return
		}
		seen[s] = true
		for _, f := range s.Alone {
			out = append(out, prefix+string(f.Name()))
		}
		for i := range s.Slots {
			if n := s.Slots[i].Struct; n != nil {
				walk(n, prefix+string(s.Slots[i].Field.Name())+".")
			}
		}
	}
	walk(s, "")
	return out
}
