package render

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A protoRun is a message of protobuf on its way. Its fields are found first, and then
// written in the order of their declaration.
type protoRun struct {
	out
	src   []byte
	x     *pb.Index
	depth int
	open  []*protoNode // CSV: the messages whose fields are cells
}

// root writes the whole message, or the columns.
func (r *protoRun) root(p *Program) error {
	switch {
	case p.columns != nil:
		return r.pickAll(p)
	case p.o.Style == CSV:
		first := true
		return r.cells(p.proto, r.src, 0, true, &first)
	}
	r.out.root()
	return r.message(p.proto, r.src, 0)
}

// A view is a message whose fields have been found.
type view struct {
	pb.View
	n  *protoNode
	at int // of the message in the whole one, about
}

// scan finds the fields of a message; done ends the use of them.
func (r *protoRun) scan(n *protoNode, p []byte, at int) (view, error) {
	if len(r.buf) > r.limit {
		return view{}, malformed(at, "the text of the message would be out of proportion")
	}
	if r.depth++; r.depth > maxDepth {
		return view{}, malformed(at, "messages are nested more than %d deep", maxDepth)
	}
	found, wrong := r.x.Open(n.typ, p)
	if wrong != nil {
		return view{}, malformed(at+wrong.At, "%s", wrong.What)
	}
	return view{found, n, at}, nil
}

func (r *protoRun) done(v *view) {
	r.x.Close(&v.View)
	r.depth--
}

// message writes a message as a struct.
func (r *protoRun) message(n *protoNode, p []byte, at int) error {
	v, err := r.scan(n, p, at)
	if err != nil {
		return err
	}
	if len(n.fields) == 0 {
		r.flow("{}")
	} else {
		for i := range n.fields {
			f := &n.fields[i]
			r.key(&f.label, f.flow)
			if err := r.value(&v, i, false); err != nil {
				return err
			}
		}
		r.close()
	}
	r.done(&v)
	return nil
}

// value writes field i of a message; whole keeps a list from being a note.
func (r *protoRun) value(v *view, i int, whole bool) error {
	f := &v.n.fields[i]
	switch {
	case f.List && f.node != nil:
		return r.messages(v, i, whole)
	case f.List:
		return r.list(v, i, whole)
	case f.node != nil:
		return r.single(v, i)
	}
	begin, end, ok := r.x.Single(&v.View, i)
	switch {
	case ok:
		return r.scalar(f, v.Message[begin:end], v.at+begin, whole)
	case f.Kind == protoreflect.BytesKind && f.Oneof < 0:
		r.binary(f.bytes, whole)
	default:
		r.buf = append(r.buf, f.zero[r.style]...)
	}
	return nil
}

// single writes a message that is not a list; null when it is not set.
func (r *protoRun) single(v *view, i int) error {
	if r.x.Count(&v.View, i) == 0 && !v.n.entry {
		r.null(false)
		return nil
	}
	p, at, err := r.content(v, i)
	if err != nil {
		return err
	}
	r.indent++
	err = r.message(v.n.fields[i].node, p, at)
	r.indent--
	return err
}

// content returns the bytes of the message in field i, which is not a list.
func (r *protoRun) content(v *view, i int) (p []byte, at int, err error) {
	p, at, wrong := r.x.Joined(&v.View, i)
	if wrong != nil {
		return nil, v.at, malformed(v.at+wrong.At, "%s", wrong.What)
	}
	return p, v.at + at, nil
}

// scalar writes the value at the start of p, which is whole.
func (r *protoRun) scalar(f *protoField, p []byte, at int, whole bool) error {
	if f.Wire == protowire.BytesType {
		b, _ := protowire.ConsumeBytes(p)
		if f.Kind == protoreflect.StringKind {
			r.text(b)
		} else {
			r.binary(b, whole)
		}
		return nil
	}
	v, n := pb.Number(f.Kind, p)
	if n < 0 {
		return malformed(at, "a number is cut or wrong")
	}
	f.number(&r.out, v)
	return nil
}

// number writes a number, as pb.Number returns it.
func (f *protoField) number(w *out, v uint64) {
	switch f.Kind {
	case protoreflect.BoolKind:
		w.bool(v != 0)
	case protoreflect.EnumKind:
		f.enum.write(w, int32(v))
	case protoreflect.FloatKind:
		w.float32(math.Float32frombits(uint32(v)))
	case protoreflect.DoubleKind:
		w.float64(math.Float64frombits(v))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		w.int64(int64(v))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		w.uint64(v)
	default:
		w.int(int64(v))
	}
}
