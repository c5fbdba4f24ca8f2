package transcode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A FromProto re-encodes protobuf messages of one type into ROS 1 serialization
// or CDR. It may be used by any number of goroutines.
//
// Fields may come in any order, lists packed or not; if a single value comes
// twice the last counts, messages that come twice are merged, as protobuf asks
// for. A field that is not set has its default. A value on another wire
// type than its field's is an unknown field.
type FromProto struct {
	root    *node
	dropped []string
	cdr     bool
	unknown atomic.Int64
	lost    LossCounter
}

// CompileFromProto makes the program from messages of md to messages of dst,
// which is the type that protoschema.Namer generated or a type that fits as well.
func CompileFromProto(md protoreflect.MessageDescriptor, dst *schema.Message, to serial.Encoding) (*FromProto, error) {
	s, err := protoschema.Bind(md, dst)
	if err != nil {
		return nil, err
	}
	if imageSize(dst, map[*schema.Message]int{}) > maxZero {
		return nil, errTooLarge
	}
	_, dropped := s.Unpaired()
	return &FromProto{root: nodes(s, map[*protoschema.Struct]*node{}), dropped: dropped, cdr: to == serial.CDR}, nil
}

// Unknown returns the number of messages so far that had fields which their
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

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare.
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
	r := fromRun{w: ros.NewWriter(dst, p.cdr), limit: old + maxExtra + maxGrowth*len(src)}
	err := r.message(p.root, src, 0)
	if err == errOrder {
		x, wrong := pb.NewIndex(src)
		if wrong != nil {
			return dst[:old], r.bad(0, wrong.What)
		}
		defer x.Release()
		r = fromRun{w: ros.NewWriter(dst[:old], p.cdr), limit: r.limit, index: x}
		err = r.message(p.root, src, 0)
		r.unknown = r.unknown || x.Unknown
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
	if r.normalized {
		p.lost.Normalized()
	}
	return r.w.Buf, nil
}

// A fromRun is one message on its way.
type fromRun struct {
	w       ros.Writer
	limit   int       // length that w.Buf may reach
	index   *pb.Index // of fields in any order; nil: they are in the order of the struct
	unknown bool
	cases   []oneCase // of the messages that are open

	wrapped    bool // a time has another value in the destination
	normalized bool // a time has other words of the same value
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
	if len(r.w.Buf) > r.limit {
		return r.bad(at, "the message would grow out of proportion: too many empty messages in it")
	}
	if n.empty && r.w.CDR() {
		r.w.U8(0)
	}
	if r.index != nil {
		return r.gather(n, p, at)
	}
	open := len(r.cases)
	for range n.typ.Oneofs {
		r.cases = append(r.cases, oneCase{-1, 0})
	}
	next := 0
	fields := pb.Scan(p)
	for more := fields.Next(); more; {
		i := n.typ.Find(fields.Num)
		if i < 0 || !n.slots[i].Takes(fields.Wire) {
			r.unknown = true
			more = fields.Next()
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
		if s.Oneof >= 0 {
			c := &r.cases[open+s.Oneof]
			if c.at < 0 || c.value != 0 {
				return errOrder
			}
			c.value = int32(s.Num)
			putWord(r.w.Buf[c.at:], c.value)
		}
		if s.list == schema.Single {
			if err := r.value(s, fields.Value(), at+fields.Pos()); err != nil {
				return err
			}
			more = fields.Next()
			continue
		}
		head, count := r.beginList(s), 0
		for ; more && fields.Num == s.Num && s.Takes(fields.Wire); more = fields.Next() {
			k, err := r.element(s, fields.Wire, fields.Value(), at+fields.Pos())
			if err != nil {
				return err
			}
			count += k
		}
		if err := r.endList(s, head, count, at+fields.End()); err != nil {
			return err
		}
	}
	if wrong, what := fields.Wrong(); what != "" {
		return r.bad(at+wrong, what)
	}
	for ; next < len(n.slots); next++ {
		r.absent(&n.slots[next], open)
	}
	r.cases = r.cases[:open]
	return nil
}

// putWord writes a count, or the case of a oneof, in its place.
func putWord(b []byte, v int32) { binary.LittleEndian.PutUint32(b, uint32(v)) }

func (r *fromRun) beginList(s *slotProgram) int {
	if s.list == schema.Fixed {
		return 0
	}
	r.w.U32(0)
	return len(r.w.Buf) - 4
}

func (r *fromRun) endList(s *slotProgram, head, count, at int) error {
	if s.list == schema.Fixed {
		switch {
		case count == s.len:
		case r.index == nil:
			return errOrder // more of them may follow other fields
		case count == 0: // packed, and empty: as if it were not set
			r.absent(s, 0)
		default:
			return r.bad(at, fmt.Sprintf("an array of %d elements has %d in the message", s.len, count))
		}
		return nil
	}
	putWord(r.w.Buf[head:], int32(count))
	return nil
}

// element writes one element of a list, or all of a packed list, from a whole value. It
// returns how many elements it wrote.
func (r *fromRun) element(s *slotProgram, wire protowire.Type, value []byte, at int) (int, error) {
	if wire == s.Wire {
		return 1, r.value(s, value, at)
	}
	v := pb.Content(s.Num, wire, value)
	if width := int(s.size); pb.Width(s.Wire) == width {
		if len(v)%width != 0 {
			return 0, r.bad(at, "a packed list ends within a number")
		}
		if len(v) > 0 {
			r.w.Align(width)
			r.w.Buf = append(r.w.Buf, v...)
		}
		return len(v) / width, nil
	}
	count := 0
	for ; len(v) > 0; count++ {
		n, err := r.number(s, v, at)
		if err != nil {
			return 0, err
		}
		v = v[n:]
	}
	return count, nil
}
