package content

import (
	"math"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A protoReader is a message on its way. Fields may stand in any order, so each
// message is walked once to find them, and then they are written in the order of
// the canonical type. Of a single value that comes several times the last counts,
// of the members of a oneof too, and a message that comes in parts is all of them.
// A value on another wire type than its field's is an unknown field.
type protoReader struct {
	w      *Writer
	most   int // canonical bytes
	merged int // bytes of messages in parts
	size   int // of the message
	work   int // structs that were written
	found  []occurrence
	slots  []slotRange
}

// An occurrence is a value of a field, behind its tag.
type occurrence struct {
	p    []byte
	wire protowire.Type
	next int32 // of the same field; -1: none
}

// A slotRange is what was found of a field. Behind those of its fields a message
// has one for each oneof, whose n is the index of the member that is set plus one.
type slotRange struct{ first, last, n int32 }

var protoReaders = sync.Pool{New: func() any { return new(protoReader) }}

func readProto(p *Program, w *Writer, src []byte) error {
	if len(src) > math.MaxInt32 {
		return malformed(0, "a protobuf message has less than 2 GiB, this one has %d bytes", len(src))
	}
	r := protoReaders.Get().(*protoReader)
	defer func() {
		if len(src) < 1<<20 && cap(r.found) < 1<<16 { // else it would hold the message
			protoReaders.Put(r)
		}
	}()
	*r = protoReader{w: w, most: maxExtra + maxGrowth*len(src), size: len(src), found: r.found[:0], slots: r.slots[:0]}
	return r.message(p.proto, src)
}

func (r *protoReader) bad(p []byte, format string, a ...any) error {
	return malformed(r.size-len(p), format, a...)
}

// scan finds the fields of a message.
func (r *protoReader) scan(n *protoNode, p []byte) error {
	base := len(r.slots)
	r.slots = slices.Grow(r.slots, len(n.fields)+n.oneofs)[:base+len(n.fields)+n.oneofs]
	slots := r.slots[base:]
	clear(slots)
	scan := pb.Scan(p)
	for scan.Next() {
		wire, value := scan.Wire, scan.Value()
		i := n.find(scan.Num)
		if i < 0 || wire != n.fields[i].wire && !(wire == protowire.BytesType && n.fields[i].list && n.fields[i].number) {
			r.w.Rest = true
			continue
		}
		f, s := &n.fields[i], &slots[i]
		if f.oneof >= 0 {
			member := &slots[len(n.fields)+f.oneof].n
			if *member != 0 && *member != int32(i)+1 {
				slots[*member-1] = slotRange{}
			}
			*member = int32(i) + 1
		}
		if s.n > 0 && !f.list && !f.parts {
			r.found[s.first] = occurrence{value, wire, -1}
			continue
		}
		r.found = append(r.found, occurrence{value, wire, -1})
		at := int32(len(r.found) - 1)
		if s.n == 0 {
			s.first = at
		} else {
			r.found[s.last].next = at
		}
		s.last = at
		s.n++
	}
	if at, what := scan.Wrong(); what != "" {
		return malformed(at, "%s", what)
	}
	return nil
}

// message writes a message as a struct.
func (r *protoReader) message(n *protoNode, p []byte) error {
	if n.hollow && len(p) == 0 {
		return nil
	}
	base, found := len(r.slots), len(r.found)
	if err := r.scan(n, p); err != nil {
		return err
	}
	if r.work++; r.w.Len() > r.most || r.work > r.most {
		return r.bad(p, "too many empty messages: the content would be out of proportion")
	}
	for i := range n.steps {
		s := &n.steps[i]
		var err error
		switch s.form {
		case protoZero:
			r.w.zeros(s.size)
		case protoCase:
			num := uint32(0)
			if member := r.slots[base+len(n.fields)+s.field].n; member > 0 {
				num = uint32(n.fields[member-1].num)
			}
			r.w.u32(num)
		case protoClock:
			err = r.clock(n, s, base)
		default:
			f := &n.fields[s.field]
			if f.list {
				err = r.list(f, s, r.slots[base+s.field])
			} else {
				err = r.single(f, s, r.slots[base+s.field])
			}
		}
		if err != nil {
			return err
		}
	}
	r.slots, r.found = r.slots[:base], r.found[:found]
	return nil
}

// single writes a field that is no list.
func (r *protoReader) single(f *protoField, s *protoStep, at slotRange) error {
	if f.parts {
		p, err := r.joined(f, at)
		if err != nil {
			return err
		}
		return r.part(s, p)
	}
	if at.n > 0 {
		return r.value(s, r.found[at.first].p)
	}
	switch s.form {
	case protoText:
		r.w.text(s.text)
	case protoArray:
		if s.len > 0 {
			return malformed(0, "an array of %d bytes is not set", s.len)
		}
		if s.list {
			r.w.u32(0)
		}
	default:
		return r.put(s, s.bits)
	}
	return nil
}

// joined returns the content of a message that may come in parts.
func (r *protoReader) joined(f *protoField, at slotRange) ([]byte, error) {
	if at.n == 0 {
		return nil, nil
	}
	o := r.found[at.first]
	all := inner(f, o.p)
	if at.n == 1 {
		return all, nil
	}
	all = append([]byte(nil), all...)
	for i := o.next; i >= 0; i = r.found[i].next {
		all = append(all, inner(f, r.found[i].p)...)
	}
	if r.merged += len(all); r.merged > 1<<20+16*r.size {
		return nil, malformed(0, "too many messages that come in parts")
	}
	return all, nil
}

// inner returns the content of a message; that it is whole is known.
func inner(f *protoField, p []byte) []byte { return pb.Content(f.num, f.wire, p) }

// part writes the content of a message.
func (r *protoReader) part(s *protoStep, p []byte) error {
	switch s.form {
	case protoRaw:
		r.w.text(p)
		return nil
	case protoTime:
		return r.time(p, s.to == schema.Duration)
	}
	return r.message(s.node, p)
}

// value writes a value that is no message.
func (r *protoReader) value(s *protoStep, p []byte) error {
	if s.form != protoText && s.form != protoArray {
		v, _, err := r.number(s, p)
		if err != nil {
			return err
		}
		return r.put(s, v)
	}
	b := pb.Content(0, protowire.BytesType, p)
	if s.form == protoText {
		r.w.text(b)
		return nil
	}
	if len(b) != s.len {
		return malformed(0, "an array of %d bytes has %d", s.len, len(b))
	}
	if s.list {
		r.w.u32(uint32(s.len))
	}
	r.w.bytes(b)
	return nil
}
