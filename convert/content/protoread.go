package content

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A protoReader is a message on its way. Its fields are found first, and then written in
// the order of the canonical type.
type protoReader struct {
	w     *Writer
	x     *pb.Index
	limit int // canonical bytes
	size  int // of the message
	work  int // structs that were written
}

func readProto(p *Program, w *Writer, src []byte) error {
	x, wrong := pb.NewIndex(src)
	if wrong != nil {
		return malformed(0, "%s", wrong.What)
	}
	defer x.Release()
	r := protoReader{w: w, x: x, limit: maxExtra + maxGrowth*len(src), size: len(src)}
	err := r.message(p.proto, src)
	w.Rest = w.Rest || x.Unknown
	return err
}

func (r *protoReader) bad(p []byte, format string, a ...any) error {
	return malformed(r.size-len(p), format, a...)
}

// message writes a message as a struct.
func (r *protoReader) message(n *protoNode, p []byte) error {
	if n.hollow && len(p) == 0 {
		return nil
	}
	v, wrong := r.x.Open(n.typ, p)
	if wrong != nil {
		return malformed(wrong.At, "%s", wrong.What)
	}
	if r.work++; r.w.Len() > r.limit || r.work > r.limit {
		return r.bad(p, "too many empty messages: the content would be out of proportion")
	}
	for i := range n.steps {
		if err := r.step(n, &n.steps[i], &v); err != nil {
			return err
		}
	}
	r.x.Close(&v)
	return nil
}

func (r *protoReader) step(n *protoNode, s *protoStep, v *pb.View) error {
	switch s.form {
	case protoZero:
		r.w.zeros(s.size)
		return nil
	case protoCase:
		num := uint32(0)
		if member := r.x.Case(v, s.field); member >= 0 {
			num = uint32(n.typ.Fields[member].Num)
		}
		r.w.u32(num)
		return nil
	case protoClock:
		return r.clock(n, s, v)
	}
	if f := &n.typ.Fields[s.field]; f.List {
		return r.list(f, s, v)
	} else if f.Parts {
		p, _, wrong := r.x.Joined(v, s.field)
		if wrong != nil {
			return malformed(wrong.At, "%s", wrong.What)
		}
		return r.part(s, p)
	}
	return r.single(s, v)
}

// single writes a field that is neither a list nor a message.
func (r *protoReader) single(s *protoStep, v *pb.View) error {
	if begin, end, ok := r.x.Single(v, s.field); ok {
		return r.value(s, v.Message[begin:end])
	}
	switch s.form {
	case protoText:
		r.w.text(s.text)
	case protoArray:
		return r.octets(s, nil)
	default:
		return r.put(s, s.bits)
	}
	return nil
}

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

// value writes a value that is not a message.
func (r *protoReader) value(s *protoStep, p []byte) error {
	if s.form != protoText && s.form != protoArray {
		return r.numbers(s, p)
	}
	b := pb.Content(0, protowire.BytesType, p)
	if s.form == protoText {
		r.w.text(b)
		return nil
	}
	return r.octets(s, b)
}

// octets writes an array of bytes, which are zero if there are none.
func (r *protoReader) octets(s *protoStep, b []byte) error {
	if len(b) != s.len && len(b) != 0 {
		return malformed(0, "an array of %d bytes has %d in the message", s.len, len(b))
	}
	if s.list {
		r.w.u32(uint32(s.len))
	}
	r.w.bytes(b)
	r.w.zeros(s.len - len(b))
	return nil
}
