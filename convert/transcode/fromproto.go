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
	dropped []string
	cdr     bool
	unknown atomic.Int64
	lost    LossCounter
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
	_, dropped := s.Unpaired()
	return &FromProto{root: nodes(s, map[*protoschema.Struct]*node{}), dropped: dropped, cdr: to == CDR}, nil
}

// Unknown is the number of messages so far that had fields which their
// descriptor does not have; those fields are left out.
func (p *FromProto) Unknown() int64 { return p.unknown.Load() }

// Losses lists what else the messages so far lost: times.
func (p *FromProto) Losses() []Loss { return p.lost.Losses() }

// Reset sets what Unknown and Losses count to zero.
func (p *FromProto) Reset() {
	p.unknown.Store(0)
	p.lost.Reset()
}

// Dropped lists the paths of fields that the ROS type has no place for.
func (p *FromProto) Dropped() []string { return p.dropped }

// SizeHint is how many bytes a message of n bytes becomes, with some to spare.
func (p *FromProto) SizeHint(n int) int { return n + n/2 + 256 }

// Growth of a message is limited: a list of empty messages must not fill the
// memory with default values.
const (
	maxGrowth = 32
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
	if r.wrapped {
		p.lost.wrapped.Add(1)
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
	wrapped  bool      // a time has another value in the destination
	cases    []oneCase // of the messages that are open
}

// A oneCase is a oneof on its way: where its case was written, and its value.
type oneCase struct {
	at    int
	value int32
}

func (r *fromRun) bad(at int, what string) error { return &Error{Offset: at, What: what} }

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

// takes reports whether a value of that wire type belongs to the slot.
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
