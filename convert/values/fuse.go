package values

import (
	"reflect"
	"unsafe"
)

// Numbers of one size that are side by side in messages and in Go are read and written at once:
//
//	geometry_msgs/Pose      float64 x, y, z   float64 x, y, z, w     one run of 7 numbers
//	its Go type             struct{ X, Y, Z } struct{ X, Y, Z, W }
//
// So are lists of such structs. It is not done in delimited CDR, which has a size before each struct.

// A flat value is n numbers of one size, and nothing else on both sides; n is 0 for others.
type flat struct{ n, size int }

// flat returns what a value is.
func (s *slot) flat() flat {
	switch {
	case s.form == formNumber:
		return flat{1, s.size}
	case s.form == formArray && s.elem.form == formNumber && s.fixed > 0:
		return flat{s.fixed, s.elem.size}
	case s.form == formStruct:
		return s.node.flat
	}
	return flat{}
}

// fuse finds the runs of a struct.
func (n *node) fuse(t reflect.Type) {
	if n.wire != nil || t == nil || t == mapType {
		n.runs = n.fields
		return
	}
	for i := range n.fields {
		f := n.fields[i]
		now := f.slot.flat()
		if k := len(n.runs) - 1; k >= 0 && now.n > 0 {
			last := n.runs[k].slot.flat()
			if end := n.runs[k].offset + uintptr(last.n*last.size); last.n > 0 && last.size == now.size && end == f.offset {
				n.runs[k].slot = runOf(flat{last.n + now.n, now.size})
				continue
			}
		}
		if now.n > 1 {
			f.slot = runOf(now)
		}
		n.runs = append(n.runs, f)
	}
	if len(n.runs) == 1 && n.runs[0].offset == 0 {
		if f := n.runs[0].slot.flat(); uintptr(f.n*f.size) == t.Size() {
			n.flat = f
		}
	}
}

// runOf returns the array of numbers that a run is.
func runOf(f flat) *slot {
	return &slot{form: formArray, shape: shape{list: true, fixed: f.n}, elem: &slot{form: formNumber, shape: shape{size: f.size}}}
}

// bytesAt returns n bytes of memory.
func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// lent returns memory of p for a list of n values, those that it has first; the values in it are
// those of before. It is a pointer to the first.
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
