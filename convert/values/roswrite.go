package values

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A rosWriter is a message of ROS in the making.
type rosWriter struct {
	ros.Writer
	depth int
}

func writeROS(s *slot, dst []byte, cdr bool, p unsafe.Pointer) ([]byte, error) {
	w := rosWriter{Writer: ros.NewWriter(dst, cdr)}
	err := w.value(s, p)
	return w.Buf, err
}

// A placeError is what is wrong with a value, and where.
type placeError struct {
	path string
	err  error
}

func (e *placeError) Error() string { return "field " + e.path + ": " + e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

func refused(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrRange, fmt.Sprintf(format, a...))
}

// within adds the name of a field, or the number of an element, to the path of an error.
func within(name string, err error) error {
	e, ok := err.(*placeError)
	switch {
	case !ok:
		return &placeError{name, err}
	case e.path[0] != '[':
		name += "."
	}
	return &placeError{name + e.path, e.err}
}

// value writes the value at p; nil: zero.
func (w *rosWriter) value(s *slot, p unsafe.Pointer) error {
	if p == nil {
		message.WriteZero(&w.Writer, s.Field, s.one)
		return nil
	}
	switch s.form {
	case formNumber:
		w.Number(s.Size, raw(p, s.Size))
	case formCast:
		bits := load(p, s.goKind, s.goSize)
		v, ok := convert(bits, s.goKind, s.Kind, s.Size)
		if !ok {
			return refused("%v is no %s", asText(bits, s.goKind), s.name())
		}
		w.Number(s.Size, v)
	case formBool:
		w.Bool(*(*bool)(p))
	case formString:
		return w.text(s, unsafe.Slice(unsafe.StringData(*(*string)(p)), len(*(*string)(p))))
	case formBytes:
		return w.text(s, *(*[]byte)(p))
	case formTime, formNanos:
		return w.time(s, p)
	case formStruct:
		return w.structure(s.node, p)
	case formMap:
		return w.mapping(s.node, *(*map[string]any)(p))
	case formSlice, formArray:
		return w.list(s, p)
	case formRun:
		w.numbers(s.Size, s.Fixed, p)
	case formPointer:
		return w.value(s.elem, *(*unsafe.Pointer)(p))
	case formAny:
		e, p, err := s.dynamic(*(*any)(p))
		if err != nil {
			return err
		}
		return w.value(e, p)
	default:
		message.WriteZero(&w.Writer, s.Field, s.one)
	}
	return nil
}

// dynamic returns the slot for the value of an interface, and a copy of it; nil: no slot.
func (s *slot) dynamic(v any) (*slot, unsafe.Pointer, error) {
	t := reflect.TypeOf(v)
	if t == nil {
		return s.elem, nil, nil
	}
	e := s.elem
	if t != e.typ {
		known, ok := s.others.Load(t)
		if !ok {
			c := compiler{made: map[nodeKey]*node{}}
			made, err := c.slot(s.Field, s.one, t, "", 0)
			if err != nil {
				return nil, nil, err
			}
			known, _ = s.others.LoadOrStore(t, made)
		}
		e = known.(*slot)
	}
	at := reflect.New(t)
	at.Elem().Set(reflect.ValueOf(v))
	return e, at.UnsafePointer(), nil
}

// text writes a string.
func (w *rosWriter) text(s *slot, b []byte) error {
	if !s.Wide {
		if s.TextBound > 0 && len(b) > s.TextBound {
			return refused("a string of %d bytes, which has at most %d", len(b), s.TextBound)
		}
		w.String(b)
		return nil
	}
	units := utf16.Encode([]rune(string(b)))
	if s.TextBound > 0 && len(units) > s.TextBound {
		return refused("a string of %d characters, which has at most %d", len(units), s.TextBound)
	}
	w.U32(uint32(len(units)))
	for _, u := range units {
		w.U32(uint32(u))
	}
	return nil
}

// clockAt returns the time or duration at p; zero if it is the zero value.
func (s *slot) clockAt(p unsafe.Pointer) (sec, nsec int64) {
	if s.form == formTime {
		t := *(*time.Time)(p)
		if t.IsZero() {
			return 0, 0
		}
		return t.Unix(), int64(t.Nanosecond())
	}
	v := *(*int64)(p)
	if sec, nsec = v/1e9, v%1e9; nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	return sec, nsec
}

func (w *rosWriter) time(s *slot, p unsafe.Pointer) error {
	sec, nsec := s.clockAt(p)
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	if s.Clock == schema.Time && !w.CDR() {
		low, high = 0, math.MaxUint32
	}
	if sec < low || sec > high {
		return refused("a %s has seconds from %d to %d, and not %d", s.name(), low, high, sec)
	}
	w.U32(uint32(sec))
	w.U32(uint32(nsec))
	return nil
}

// structure writes a struct.
func (w *rosWriter) structure(n *node, p unsafe.Pointer) error {
	if w.depth++; w.depth > maxDepth {
		return refused("values are nested more than %d deep", maxDepth)
	}
	if len(n.fields) == 0 && w.CDR() {
		w.U8(0)
	}
	for i := range n.runs {
		f := &n.runs[i]
		if err := w.value(f.slot, unsafe.Add(p, f.offset)); err != nil {
			return within(f.path, err)
		}
	}
	w.depth--
	return nil
}

// mapping writes a map as a struct.
func (w *rosWriter) mapping(n *node, m map[string]any) error {
	if err := n.knows(m); err != nil {
		return err
	}
	if w.depth++; w.depth > maxDepth {
		return refused("values are nested more than %d deep", maxDepth)
	}
	if len(n.fields) == 0 && w.CDR() {
		w.U8(0)
	}
	for i := range n.fields {
		v := m[n.fields[i].Name]
		if err := w.value(n.fields[i].slot, unsafe.Pointer(&v)); err != nil {
			return within(n.fields[i].Name, err)
		}
	}
	w.depth--
	return nil
}

// knows returns an error if a map has a key that is no field.
func (n *node) knows(m map[string]any) error {
	for name := range m {
		if !n.has[name] {
			return refused("%s has no field %q", n.typ.Name, name)
		}
	}
	return nil
}

// list writes a list or an array.
func (w *rosWriter) list(s *slot, p unsafe.Pointer) error {
	n, p, width := s.elements(p)
	switch {
	case s.Fixed >= 0 && n != s.Fixed:
		return refused("%d values for an array of %d", n, s.Fixed)
	case s.Bound > 0 && n > s.Bound:
		return refused("%d values for a list of at most %d", n, s.Bound)
	case s.Fixed < 0:
		w.U32(uint32(n))
	}
	if f := s.elem.flat(); f.n > 0 {
		if n > 0 {
			w.numbers(f.size, n*f.n, p)
		}
		return nil
	}
	for i := range n {
		if err := w.value(s.elem, unsafe.Add(p, uintptr(i)*width)); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// numbers writes n numbers from memory.
func (w *rosWriter) numbers(size, n int, p unsafe.Pointer) {
	w.Align(size)
	at := len(w.Buf)
	if w.Buf = append(w.Buf, bytesAt(p, n*size)...); bigEndianHost {
		swap(w.Buf[at:], size)
	}
}

// elements returns the values of a list or an array: how many, where, and how many bytes each has.
func (s *slot) elements(p unsafe.Pointer) (n int, first unsafe.Pointer, width uintptr) {
	if s.form == formArray {
		return s.typ.Len(), p, s.elem.typ.Size()
	}
	v := reflect.NewAt(s.typ, p).Elem()
	return v.Len(), v.UnsafePointer(), s.elem.typ.Size()
}

// bare returns what a pointer or an interface is about.
func (s *slot) bare() *slot {
	for s.form == formPointer || s.form == formAny {
		s = s.elem
	}
	return s
}
