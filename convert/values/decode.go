package values

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/bagconv/bagconv/internal/message"
)

// A reader is a message on its way into Go values.
type reader struct {
	*message.Cursor
	sized  bool // structs may have a size before them
	budget int  // bytes of memory that may still be used
	wrong  error
	path   string // of what is wrong
}

// read reads a message of a type into the value at p.
func read(t *message.Type, s *slot, src []byte, p unsafe.Pointer) error {
	r := reader{Cursor: message.Open(t, src), budget: maxExtra + maxGrowth*len(src)}
	defer r.Close()
	r.sized = r.Sized()
	if r.OK() {
		r.value(s, p)
	}
	err := r.End()
	if r.wrong != nil {
		err = r.wrong
	}
	if err != nil && r.path != "" {
		return &placeError{r.path, err}
	}
	return err
}

// refuse ends the message with an error that is not one of its bytes.
func (r *reader) refuse(format string, a ...any) {
	if r.OK() {
		r.wrong = refused(format, a...)
		r.Fail("%v", r.wrong)
	}
}

// in adds the name of a field to the path of an error.
func (r *reader) in(name string) {
	if r.path != "" && r.path[0] != '[' {
		name += "."
	}
	r.path = name + r.path
}

// spend takes memory of the budget.
func (r *reader) spend(n int, size uintptr) bool {
	if size > 0 && uintptr(n) > uintptr(max(r.budget, 0))/size {
		r.Fail("too many values: the memory for them would be out of proportion")
		return false
	}
	r.budget -= n * int(size)
	return r.OK()
}

// value reads a value into its place.
func (r *reader) value(s *slot, p unsafe.Pointer) {
	switch s.form {
	case formNumber:
		setRaw(p, s.Size, r.Bits(s.Field))
	case formBool, formCast:
		r.number(s, p, r.Bits(s.Field))
	case formString:
		if b, have := r.Text(s.Field), (*string)(p); *have != string(b) {
			*have = string(b)
		}
	case formBytes:
		*(*[]byte)(p) = append((*(*[]byte)(p))[:0], r.Text(s.Field)...)
	case formStruct:
		r.structure(s.node, p)
	case formSlice, formArray:
		r.list(s, p)
	case formRun:
		r.numbers(s.Field, s.Fixed, p)
	case formTime, formNanos:
		r.time(s, p)
	case formMap:
		r.mapping(s.node, p)
	case formAny:
		if s.Presence && !r.Present(s.Field) {
			*(*any)(p) = nil
			return
		}
		v := reflect.New(s.elem.typ)
		if r.value(s.elem, v.UnsafePointer()); r.OK() {
			*(*any)(p) = v.Elem().Interface()
		}
	case formPointer:
		if s.Presence && !r.Present(s.Field) {
			*(*unsafe.Pointer)(p) = nil
			return
		}
		r.value(s.elem, s.pointed(p))
	default:
		r.Skip(s.Field)
	}
}

// pointed returns where a pointer points to, which it makes if it is nil.
func (s *slot) pointed(p unsafe.Pointer) unsafe.Pointer {
	to := (*unsafe.Pointer)(p)
	if *to == nil {
		*to = reflect.New(s.elem.typ).UnsafePointer()
	}
	return *to
}

// structure reads a struct.
func (r *reader) structure(n *node, p unsafe.Pointer) {
	end := r.Enter(n.typ)
	if !r.OK() {
		return
	}
	fields := n.runs
	if r.sized {
		fields = n.fields
	}
	for i := range fields {
		f := &fields[i]
		r.At(f.Field)
		if r.value(f.slot, unsafe.Add(p, f.offset)); !r.OK() {
			r.in(f.path)
			return
		}
	}
	r.Leave(end)
}

// mapping reads a struct into a map. Fields of protobuf that are not set are not in it.
func (r *reader) mapping(n *node, p unsafe.Pointer) {
	m := (*map[string]any)(p)
	if *m == nil {
		*m = map[string]any{}
	}
	clear(*m)
	end := r.Enter(n.typ)
	if !r.spend(1+len(n.fields), 64) {
		return
	}
	for i := range n.fields {
		f := &n.fields[i]
		if r.At(f.Field); f.Presence && !r.Present(f.Field) {
			continue
		}
		var v any
		if r.value(f.slot, unsafe.Pointer(&v)); !r.OK() {
			r.in(f.path)
			return
		}
		(*m)[f.Name] = v
	}
	r.Leave(end)
}

// list reads a list or an array.
func (r *reader) list(s *slot, p unsafe.Pointer) {
	n, e := r.Count(s.Field), s.elem
	width := e.typ.Size()
	switch {
	case !r.OK():
		return
	case s.form == formArray && s.typ.Len() != n:
		r.refuse("a list of %d values for an array of %d", n, s.typ.Len())
		return
	case s.form == formSlice:
		if !r.spend(n, max(width, 1)) {
			return
		}
		p = s.lent(p, n)
	}
	if f := e.flat(); f.n > 0 && (e.form == formNumber || !r.sized) {
		r.numbers(f.numbers, n*f.n, p)
		return
	}
	if s.Size == 0 {
		r.Elements(s.Field, n, func(i int) {
			if r.value(e, unsafe.Add(p, uintptr(i)*width)); !r.OK() {
				r.in(fmt.Sprintf("[%d]", i))
			}
		})
		return
	}
	for i, b := 0, r.Numbers(s.Field, n); len(b) > 0; i, b = i+1, b[s.Size:] {
		if r.number(e, unsafe.Add(p, uintptr(i)*width), s.Bits(b)); !r.OK() {
			r.in(fmt.Sprintf("[%d]", i))
			return
		}
	}
}

// numbers reads n numbers into memory.
func (r *reader) numbers(f *message.Field, n int, p unsafe.Pointer) {
	dst := bytesAt(p, n*f.Size)
	if copy(dst, r.Numbers(f, n)); bigEndianHost {
		swap(dst, f.Size)
	}
}

// number sets a number, or a pointer to one, to what Bits returns.
func (r *reader) number(s *slot, p unsafe.Pointer, bits uint64) {
	switch s.form {
	case formPointer:
		r.number(s.elem, s.pointed(p), bits)
	case formAny:
		v := reflect.New(s.elem.typ)
		r.number(s.elem, v.UnsafePointer(), bits)
		*(*any)(p) = v.Elem().Interface()
	case formBool:
		*(*bool)(p) = bits != 0
	case formNumber:
		setRaw(p, s.Size, bits)
	default:
		bits = widen(bits, s.Kind, s.Size)
		v, ok := convert(bits, s.Kind, s.goKind, s.goSize)
		if !ok {
			r.refuse("%v is no %s", asText(bits, s.Kind), s.typ)
			return
		}
		setRaw(p, s.goSize, v)
	}
}

// time reads a time or a duration.
func (r *reader) time(s *slot, p unsafe.Pointer) {
	sec, nsec := r.Time(s.Field)
	const most = math.MaxInt64/1_000_000_000 - 8
	switch {
	case s.form == formTime:
		*(*time.Time)(p) = time.Unix(sec, nsec).UTC()
	case sec < -most || sec > most:
		r.refuse("%d seconds are no %s", sec, s.typ)
	default:
		*(*int64)(p) = sec*1e9 + nsec
	}
}
