package values

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A rosReader is a message of ROS on its way into Go values.
type rosReader struct {
	ros.Reader
	swaps  bool // numbers have the other order of bytes than memory
	budget int  // bytes of memory that may still be used
	wrong  error
	path   string // of what is wrong
	units  []uint16
}

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// message reads a message into the value at p.
func (r *rosReader) message(s *slot, src []byte, cdr bool, p unsafe.Pointer) error {
	r.budget, r.wrong, r.path = maxExtra+maxGrowth*len(src), nil, ""
	if err := r.Open(src, cdr); err != nil {
		return err
	}
	r.swaps = r.BigEndian != bigEndianHost
	r.value(s, p)
	if !cdr && r.Len() != 0 {
		r.Fail("%d bytes are left over", r.Len())
	}
	err := r.Err()
	if r.wrong != nil {
		err = r.wrong
	}
	r.Reader = ros.Reader{} // the message is not kept
	if err != nil && r.path != "" {
		return &placeError{r.path, err}
	}
	return err
}

// refuse ends the message with an error that is not one of its bytes.
func (r *rosReader) refuse(format string, a ...any) {
	if r.OK() {
		r.wrong = refused(format, a...)
		r.Fail("")
	}
}

// in adds the name of a field to the path of an error.
func (r *rosReader) in(name string) {
	if r.path != "" && r.path[0] != '[' {
		name += "."
	}
	r.path = name + r.path
}

// spend takes memory of the budget.
func (r *rosReader) spend(n int, size uintptr) bool {
	if size > 0 && uintptr(n) > uintptr(max(r.budget, 0))/size {
		r.Fail("too many values: the memory for them would be out of proportion")
		return false
	}
	r.budget -= n * int(size)
	return r.OK()
}

// value reads a value into its place.
func (r *rosReader) value(s *slot, p unsafe.Pointer) {
	switch s.form {
	case formNumber:
		switch s.size {
		case 1:
			*(*uint8)(p) = r.U8()
		case 2:
			*(*uint16)(p) = r.U16()
		case 4:
			*(*uint32)(p) = r.U32()
		default:
			*(*uint64)(p) = r.U64()
		}
	case formBool:
		*(*bool)(p) = r.U8() != 0
	case formString:
		r.text(s, p)
	case formStruct:
		r.structure(s.node, p)
	case formSlice, formArray:
		r.list(s, p)
	case formCast:
		r.cast(s, p)
	case formTime, formNanos:
		r.time(s, p)
	case formMap:
		r.mapping(s.node, p)
	case formAny:
		v := reflect.New(s.elem.typ)
		if r.value(s.elem, v.UnsafePointer()); r.OK() {
			*(*any)(p) = v.Elem().Interface()
		}
	case formPointer:
		r.value(s.elem, s.pointed(p))
	case formBytes:
		*(*[]byte)(p) = append((*(*[]byte)(p))[:0], r.bytes(s)...)
	default:
		r.skip(s)
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
func (r *rosReader) structure(n *node, p unsafe.Pointer) {
	end := r.Struct()
	if len(n.fields) == 0 && r.Filler {
		r.U8()
	}
	fields := n.runs
	if r.Delimited {
		fields = n.fields
	}
	for i := range fields {
		f := &fields[i]
		r.value(f.slot, unsafe.Add(p, f.offset))
		if !r.OK() {
			r.in(f.name)
			return
		}
	}
	r.End(end)
}

// mapping reads a struct into a map.
func (r *rosReader) mapping(n *node, p unsafe.Pointer) {
	m := mapAt(p)
	if end := r.Struct(); r.spend(1+len(n.fields), 64) {
		if len(n.fields) == 0 && r.Filler {
			r.U8()
		}
		for i := range n.fields {
			var v any
			r.value(n.fields[i].slot, unsafe.Pointer(&v))
			if !r.OK() {
				r.in(n.fields[i].name)
				return
			}
			m[n.fields[i].name] = v
		}
		r.End(end)
	}
}

// mapAt returns the map at p, empty.
func mapAt(p unsafe.Pointer) map[string]any {
	m := (*map[string]any)(p)
	if *m == nil {
		*m = map[string]any{}
	}
	clear(*m)
	return *m
}

// count reads how many values a list has.
func (r *rosReader) count(s *slot) int {
	if s.elem.kind >= text {
		r.Size()
	}
	n := s.fixed
	if n < 0 {
		n = r.Count(s.elem.min)
	} else if s.elem.min > 0 && n > r.Len()/s.elem.min {
		r.Fail("an array of %d values, but only %d bytes are left", n, r.Len())
	}
	if !r.OK() {
		return 0
	}
	return n
}

// list reads a list or an array.
func (r *rosReader) list(s *slot, p unsafe.Pointer) {
	n, e := r.count(s), s.elem
	width := uintptr(0)
	if s.typ != nil {
		width = e.typ.Size()
	}
	switch {
	case !r.OK():
		return
	case s.form == formArray && s.typ != nil && s.typ.Len() != n:
		r.refuse("a list of %d values for an array of %d", n, s.typ.Len())
		return
	case s.form == formSlice:
		if !r.spend(n, max(width, 1)) {
			return
		}
		p = s.lent(p, n)
	}
	if f := e.flat(); f.n > 0 && (e.form == formNumber || !r.Delimited) {
		r.numbers(bytesAt(p, n*f.n*f.size), n*f.n, f.size)
		return
	}
	for i := range n {
		r.value(e, unsafe.Add(p, uintptr(i)*width))
		if !r.OK() {
			r.in(fmt.Sprintf("[%d]", i))
			return
		}
	}
}

// numbers reads n numbers into memory.
func (r *rosReader) numbers(dst []byte, n, size int) {
	if copy(dst, r.Numbers(n, size)) == len(dst) && r.swaps {
		swap(dst, size)
	}
}

// swap turns the order of bytes around.
func swap(b []byte, size int) {
	for ; len(b) >= size && size > 1; b = b[size:] {
		for i := range size / 2 {
			b[i], b[size-1-i] = b[size-1-i], b[i]
		}
	}
}

// bits reads a number, with its sign in 64 bits and floats as float64.
func (r *rosReader) bits(s *slot) uint64 {
	var v uint64
	switch s.size {
	case 1:
		v = uint64(r.U8())
	case 2:
		v = uint64(r.U16())
	case 4:
		v = uint64(r.U32())
	default:
		v = r.U64()
	}
	return widen(v, s.kind, s.size)
}

func (r *rosReader) cast(s *slot, p unsafe.Pointer) {
	bits := r.bits(s)
	v, ok := convert(bits, s.kind, s.goKind, s.goSize)
	if !ok {
		r.refuse("%v is no %s", asText(bits, s.kind), s.typ)
		return
	}
	setRaw(p, s.goSize, v)
}

// bytes reads a string as UTF-8.
func (r *rosReader) bytes(s *slot) []byte {
	if !s.wide {
		return r.String()
	}
	r.units, _ = r.Wide(r.units[:0])
	text, _ := ros.AppendUTF8(nil, r.units, false)
	return text
}

func (r *rosReader) text(s *slot, p unsafe.Pointer) {
	b := r.bytes(s)
	if have := (*string)(p); *have != string(b) {
		*have = string(b)
	}
}

// time reads a time or a duration.
func (r *rosReader) time(s *slot, p unsafe.Pointer) {
	end := r.Struct()
	a, b := r.U32(), r.U32()
	sec, nsec := int64(int32(a)), int64(b)
	switch {
	case r.NUL: // CDR
	case s.kind == span:
		nsec = int64(int32(b))
	default:
		sec = int64(a)
	}
	r.End(end)
	s.setTime(p, sec, nsec)
}

// setTime sets the Go value of a time.
func (s *slot) setTime(p unsafe.Pointer, sec, nsec int64) {
	if s.form == formTime {
		*(*time.Time)(p) = time.Unix(sec, nsec).UTC()
	} else {
		*(*int64)(p) = sec*1e9 + nsec
	}
}

// skip steps over a value that has no place.
func (r *rosReader) skip(s *slot) {
	switch {
	case s.list:
		n := r.count(s)
		if s.elem.kind < text && s.elem.node == nil {
			r.Numbers(n, max(s.elem.size, 1))
			return
		}
		for i := 0; i < n && r.OK() && r.spend(1, 1); i++ {
			r.skip(s.elem)
		}
	case s.node != nil:
		r.structure(s.node, nil)
	case s.wide:
		r.SkipWide()
	case s.kind == text:
		r.Bytes()
	default:
		r.Numbers(1, s.size)
	}
}
