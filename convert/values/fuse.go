package values

import (
	"reflect"
	"unsafe"

	"github.com/bagconv/bagconv/internal/message"
)

// Numbers of one size that are side by side in messages and in Go are read and written at once:
//
//	geometry_msgs/Pose      float64 x, y, z   float64 x, y, z, w     one run of 7 numbers
//	its Go type             struct{ X, Y, Z } struct{ X, Y, Z, W }
//
// So are lists of such structs. Small structs become fields of the struct around them. It is not done in messages
// with a size before each struct.

// A flat value is n numbers of one size, and nothing else on both sides; n is 0 for others.
type flat struct {
	n, size int
	numbers *message.Field // some that are read alike
}

// flat returns what a value is.
func (s *slot) flat() flat {
	switch {
	case s.form == formNumber:
		return flat{1, s.Size, s.Field}
	case s.form == formRun, s.form == formArray && s.elem.form == formNumber && s.Fixed > 0:
		return flat{s.Fixed, s.Size, s.Field}
	case s.form == formStruct:
		return s.node.flat
	}
	return flat{}
}

// fuse finds the runs of a struct.
func (n *node) fuse(t reflect.Type) {
	if n.typ.Protobuf() || t == mapType {
		n.runs = n.fields
		return
	}
	for _, f := range n.fields {
		if f.form != formStruct || len(f.node.runs) == 0 || len(f.node.runs) > maxInline {
			n.addRun(f)
			continue
		}
		for _, part := range f.node.runs {
			part.path, part.offset = f.path+"."+part.path, f.offset+part.offset
			n.addRun(part)
		}
	}
	if len(n.runs) == 1 && n.runs[0].offset == 0 {
		if f := n.runs[0].slot.flat(); uintptr(f.n*f.size) == t.Size() {
			n.flat = f
		}
	}
}

// maxInline is how many runs a struct may have to become fields of the one around it.
const maxInline = 8

// addRun adds a field to the runs, or to the last one.
func (n *node) addRun(f field) {
	now := f.slot.flat()
	if k := len(n.runs) - 1; k >= 0 && now.n > 0 {
		last := &n.runs[k]
		if have := last.slot.flat(); have.n > 0 && have.size == now.size && last.offset+
			uintptr(have.n*have.size) == f.offset {
			last.slot = runOf(have.n+now.n, now.size)
			return
		}
	}
	if now.n > 1 {
		f.slot = runOf(now.n, now.size)
	}
	n.runs = append(n.runs, f)
}

// runOf returns a run of n numbers.
func runOf(n, size int) *slot {
	return &slot{Field: &message.Field{Size: size, List: true, Fixed: n}, form: formRun}
}

// bytesAt returns n bytes of memory.
func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// lent makes the slice at p n long, and reuses its memory: old elements keep their values. It returns a pointer to the
// first element.
func (s *slot) lent(p unsafe.Pointer, n int) unsafe.Pointer {
	v := reflect.NewAt(s.typ, p).Elem()
	switch {
	case n > v.Cap() || v.IsNil():
		v.Set(reflect.MakeSlice(s.typ, n, n))
	default:
		v.SetLen(n)
	}
	return v.UnsafePointer()
}
