package values

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A protoReader is a message of protobuf on its way into Go values. Its fields are found first.
type protoReader struct {
	x      *pb.Index
	budget int
	depth  int
}

func malformed(at int, what string) error { return &transcode.Error{Offset: at, What: what} }

// readProto reads a message into the value at p.
func readProto(s *slot, src []byte, p unsafe.Pointer) error {
	x, wrong := pb.NewIndex(src)
	if wrong != nil {
		return malformed(0, wrong.What)
	}
	defer x.Release()
	r := protoReader{x: x, budget: maxExtra + maxGrowth*len(src)}
	return r.message(s, src, 0, p)
}

// spend takes memory of the budget.
func (r *protoReader) spend(n int, size uintptr, at int) error {
	if size > 0 && uintptr(n) > uintptr(max(r.budget, 0))/size {
		return malformed(at, "too many values: the memory for them would be out of proportion")
	}
	r.budget -= n * int(size)
	return nil
}

// message reads the content of a message into its place.
func (r *protoReader) message(s *slot, b []byte, at int, p unsafe.Pointer) error {
	switch s.form {
	case formPointer:
		return r.message(s.elem, b, at, s.pointed(p))
	case formAny:
		v := reflect.New(s.elem.typ)
		if err := r.message(s.elem, b, at, v.UnsafePointer()); err != nil {
			return err
		}
		*(*any)(p) = v.Elem().Interface()
		return nil
	case formTime, formNanos:
		sec, nsec, wrong := pb.Time(b)
		const most = math.MaxInt64/1_000_000_000 - 8
		switch {
		case wrong != nil:
			return malformed(at+wrong.At, wrong.What)
		case s.form == formNanos && (sec < -most || sec > most):
			return refused("%d seconds are no %s", sec, s.typ)
		}
		s.setTime(p, sec, nsec)
		return nil
	}
	n := s.node
	if r.depth++; r.depth > maxDepth {
		return malformed(at, fmt.Sprintf("messages are nested more than %d deep", maxDepth))
	}
	if err := r.spend(1, 1, at); err != nil {
		return err
	}
	v, wrong := r.x.Open(n.wire, b)
	if wrong != nil {
		return malformed(at+wrong.At, wrong.What)
	}
	var err error
	if s.form == formMap {
		err = r.mapping(n, &v, at, p)
	} else {
		err = r.structure(n, &v, at, p)
	}
	r.x.Close(&v)
	r.depth--
	return err
}

func (r *protoReader) structure(n *node, v *pb.View, at int, p unsafe.Pointer) error {
	for i := range n.fields {
		f := &n.fields[i]
		if f.form == formSkip {
			continue
		}
		if err := r.field(f, v, i, at, unsafe.Add(p, f.offset)); err != nil {
			return within(f.name, err)
		}
	}
	return nil
}

func (r *protoReader) mapping(n *node, v *pb.View, at int, p unsafe.Pointer) error {
	m := mapAt(p)
	if err := r.spend(1+len(n.fields), 64, at); err != nil {
		return err
	}
	for i := range n.fields {
		f := &n.fields[i]
		if f.presence && r.x.Count(v, i) == 0 {
			continue
		}
		var one any
		if err := r.field(f, v, i, at, unsafe.Pointer(&one)); err != nil {
			return within(f.name, err)
		}
		m[f.name] = one
	}
	return nil
}

// field reads field i of a message into its place.
func (r *protoReader) field(f *field, v *pb.View, i, at int, p unsafe.Pointer) error {
	s := f.slot
	for s.form == formPointer || s.form == formAny {
		if f.presence && r.x.Count(v, i) == 0 {
			reflect.NewAt(s.typ, p).Elem().SetZero()
			return nil
		}
		if s.form == formAny {
			one := reflect.New(s.elem.typ)
			err := r.value(f, s.elem, v, i, at, one.UnsafePointer())
			*(*any)(p) = one.Elem().Interface()
			return err
		}
		s, p = s.elem, s.pointed(p)
	}
	return r.value(f, s, v, i, at, p)
}

// value reads it, without pointers before.
func (r *protoReader) value(f *field, s *slot, v *pb.View, i, at int, p unsafe.Pointer) error {
	switch {
	case f.List:
		return r.list(f, s, v, i, at, p)
	case f.Parts:
		b, from, wrong := r.x.Joined(v, i)
		if wrong != nil {
			return malformed(at+wrong.At, wrong.What)
		}
		return r.message(s, b, at+from, p)
	}
	begin, end, ok := r.x.Single(v, i)
	switch {
	case ok && f.Wire == protowire.BytesType:
		s.setText(p, pb.Content(f.Num, f.Wire, v.Message[begin:end]))
		return nil
	case f.Wire == protowire.BytesType:
		s.setText(p, f.text)
		return nil
	case ok:
		bits, n := pb.Number(f.Kind, v.Message[begin:end])
		if n < 0 {
			return malformed(at+begin, "a number is cut or wrong")
		}
		return s.setNumber(p, bits)
	}
	return s.setNumber(p, f.bits)
}

func (s *slot) setText(p unsafe.Pointer, b []byte) {
	if s.form == formBytes {
		*(*[]byte)(p) = append((*(*[]byte)(p))[:0], b...)
	} else if have := (*string)(p); *have != string(b) {
		*have = string(b)
	}
}

// setNumber sets a number to what pb.Number returns.
func (s *slot) setNumber(p unsafe.Pointer, bits uint64) error {
	switch s.form {
	case formBool:
		*(*bool)(p) = bits != 0
	case formNumber:
		setRaw(p, s.size, bits)
	default:
		v, ok := convert(widen(bits, s.kind, s.size), s.kind, s.goKind, s.goSize)
		if !ok {
			return refused("%v is no %s", asText(widen(bits, s.kind, s.size), s.kind), s.typ)
		}
		setRaw(p, s.goSize, v)
	}
	return nil
}

// list reads a list, packed or not.
func (r *protoReader) list(f *field, s *slot, v *pb.View, i, at int, p unsafe.Pointer) error {
	n := r.x.Count(v, i)
	if f.Packs {
		n = 0
		for o := r.x.First(v, i); !o.None(); o = r.x.Next(o) {
			b := v.Numbers(f.protoField.Field, &o)
			if width := pb.Width(f.Wire); width > 0 && len(b)%width != 0 || width == 0 && len(b) > 0 && b[len(b)-1] >= 0x80 {
				return malformed(at+int(o.Begin), "a packed list ends within a number")
			}
			n += pb.Count(f.Wire, b)
		}
	}
	e := s.elem
	width := e.typ.Size()
	if s.form == formArray {
		if n != s.typ.Len() {
			return refused("a list of %d values for an array of %d", n, s.typ.Len())
		}
	} else {
		if err := r.spend(n, max(width, 1), at); err != nil {
			return err
		}
		p = s.lent(p, n)
	}
	k := 0
	for o := r.x.First(v, i); !o.None(); o = r.x.Next(o) {
		if f.Packs {
			for b := v.Numbers(f.protoField.Field, &o); len(b) > 0; k++ {
				bits, size := pb.Number(f.Kind, b)
				if size < 0 {
					return malformed(at+int(o.Begin), "a packed list ends within a number")
				}
				if err := e.element(unsafe.Add(p, uintptr(k)*width), bits); err != nil {
					return within(fmt.Sprintf("[%d]", k), err)
				}
				b = b[size:]
			}
			continue
		}
		b, to := v.Content(f.protoField.Field, &o), unsafe.Add(p, uintptr(k)*width)
		if f.Parts {
			if err := r.message(e, b, at+int(o.Begin), to); err != nil {
				return within(fmt.Sprintf("[%d]", k), err)
			}
		} else {
			e.textElement(to, b)
		}
		k++
	}
	return nil
}

// element sets a number of a list.
func (s *slot) element(p unsafe.Pointer, bits uint64) error {
	switch s.form {
	case formPointer:
		return s.elem.element(s.pointed(p), bits)
	case formAny:
		v := reflect.New(s.elem.typ)
		err := s.elem.element(v.UnsafePointer(), bits)
		*(*any)(p) = v.Elem().Interface()
		return err
	}
	return s.setNumber(p, bits)
}

// textElement sets a string of a list.
func (s *slot) textElement(p unsafe.Pointer, b []byte) {
	switch s.form {
	case formPointer:
		s.elem.textElement(s.pointed(p), b)
	case formAny:
		v := reflect.New(s.elem.typ)
		s.elem.textElement(v.UnsafePointer(), b)
		*(*any)(p) = v.Elem().Interface()
	default:
		s.setText(p, b)
	}
}
