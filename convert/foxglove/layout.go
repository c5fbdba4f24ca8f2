package foxglove

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A class is the kinds of fields that a wanted field may have.
type class uint8

const (
	number  class = iota // any number, or bool
	stamp                // a time
	text                 // a string
	blob                 // a list of bytes
	numbers              // a list or an array of numbers
	structs              // a list of structs
)

// A want is a field that a family reads, by its path; its index is its slot.
type want struct {
	path  string
	class class
	need  bool // a type without it is refused
}

// A structLayout is a generated type, with the slots of the fields that are read.
type structLayout struct {
	steps []layoutStep
	kinds []schema.Type // by slot, of the root
	slots int
}

// A layoutStep is a field in ROS 1 serialization.
type layoutStep struct {
	name string
	typ  schema.Type
	slot int           // -1: it is skipped
	sub  *structLayout // of a struct whose parts are read
	size int           // bytes of one value, 0 if they are not always as many
}

// compile finds the wanted fields in a type.
func compile(m *schema.Message, wants []want) (*structLayout, error) {
	root := &structLayout{slots: len(wants), kinds: make([]schema.Type, len(wants))}
	found := make([]bool, len(wants))
	if err := root.fill(m, "", wants, found, root.kinds); err != nil {
		return nil, err
	}
	for i, w := range wants {
		if w.need && !found[i] {
			return nil, fmt.Errorf("%s has no field %s", m.Name, w.path)
		}
	}
	return root, nil
}

func (l *structLayout) fill(m *schema.Message, prefix string, wants []want, found []bool, kinds []schema.Type) error {
	for _, f := range m.Fields {
		s := layoutStep{name: f.Name, typ: f.Type, slot: -1, size: sizeOf(f.Type)}
		path := prefix + f.Name
		for i, w := range wants {
			switch {
			case strings.EqualFold(w.path, path):
				if !w.class.takes(f.Type) {
					return fmt.Errorf("field %s of %s is not of the expected kind but %s", path, m.Name, f.Type.Text())
				}
				s.slot, found[i], kinds[i] = i, true, f.Type
			case s.sub == nil && strings.HasPrefix(w.path, path+".") && f.Type.Kind == schema.Struct && f.Type.Array == schema.Single:
				s.sub = &structLayout{}
				if err := s.sub.fill(f.Type.Message, path+".", wants, found, kinds); err != nil {
					return err
				}
			}
		}
		l.steps = append(l.steps, s)
	}
	return nil
}

func (c class) takes(t schema.Type) bool {
	single, bytes := t.Array == schema.Single, t.Kind == schema.Uint8 || t.Kind == schema.Byte
	numeric := t.Kind >= schema.Bool && t.Kind <= schema.Char
	switch c {
	case number:
		return single && numeric
	case stamp:
		return single && t.Kind == schema.Time
	case text:
		return single && t.Kind == schema.String
	case blob:
		return t.Array == schema.Unbounded && bytes
	case numbers:
		return !single && numeric
	}
	return t.Array == schema.Unbounded && t.Kind == schema.Struct
}

// unused lists the paths of fields that are skipped.
func (l *structLayout) unused(prefix string) (out []string) {
	for _, s := range l.steps {
		switch {
		case s.sub != nil:
			out = append(out, s.sub.unused(prefix+s.name+".")...)
		case s.slot < 0:
			out = append(out, prefix+s.name)
		}
	}
	return out
}

// sizeOf returns how many bytes one value of a type always takes, else 0.
func sizeOf(t schema.Type) int {
	if t.Kind != schema.Struct {
		return t.Kind.Size()
	}
	n := 0
	for _, f := range t.Message.Fields {
		size := sizeOf(f.Type)
		switch f.Type.Array {
		case schema.Single:
		case schema.Fixed:
			if size > 0 && f.Type.Len > math.MaxInt32/size {
				return 0
			}
			size *= f.Type.Len
		default:
			return 0
		}
		if size == 0 || size > math.MaxInt32-n {
			return 0
		}
		n += size
	}
	return n
}

// A view is a struct of the message: where its wanted fields are.
type view struct {
	layout *structLayout
	m      []byte
	at     []int // by slot; -1: the type does not have it
}

// open finds the fields of the struct that begins at pos, and returns where it ends.
func (v *view) open(pos int) (int, error) {
	if v.at == nil {
		v.at = make([]int, v.layout.slots)
	}
	for i := range v.at {
		v.at[i] = -1
	}
	r := ros.NewReader(v.m, false)
	r.Seek(pos)
	v.walk(v.layout, &r)
	return r.Pos(), r.Err()
}

func (v *view) walk(l *structLayout, r *ros.Reader) {
	for i := range l.steps {
		s := &l.steps[i]
		if s.slot >= 0 {
			v.at[s.slot] = r.Pos()
		}
		if s.sub != nil {
			v.walk(s.sub, r)
		} else {
			skip(r, &s.typ, s.size)
		}
	}
}

// skip steps over the values of a field; size is that of one.
func skip(r *ros.Reader, t *schema.Type, size int) {
	count := 1
	switch t.Array {
	case schema.Single:
	case schema.Fixed:
		count = t.Len
	default:
		count = r.Count(size)
	}
	if size > 0 {
		r.Numbers(count, size)
		return
	}
	for range count {
		before := r.Pos()
		if t.Kind == schema.Struct {
			for i := range t.Message.Fields {
				f := &t.Message.Fields[i].Type
				skip(r, f, sizeOf(*f))
			}
		} else {
			r.Bytes()
		}
		if r.Pos() == before { // structs without fields, or the end
			break
		}
	}
}

// text returns a string or a list of bytes, which point into the message.
func (v *view) text(slot int) []byte {
	at := v.at[slot]
	if at < 0 {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(v.m[at:]))
	return v.m[at+4 : at+4+n]
}

// time returns the two words of a time.
func (v *view) time(slot int) (sec, nsec uint32) {
	if at := v.at[slot]; at >= 0 {
		return binary.LittleEndian.Uint32(v.m[at:]), binary.LittleEndian.Uint32(v.m[at+4:])
	}
	return 0, 0
}

// number returns a number; those of 64 bits beyond 2^53 are rounded.
func (v *view) number(slot int) float64 {
	if at := v.at[slot]; at >= 0 {
		return value(v.layout.kinds[slot].Kind, v.m[at:])
	}
	return 0
}

// whole returns a number as an unsigned one of 32 bits, 0 for one that is none.
func (v *view) whole(slot int) uint32 {
	if n := v.number(slot); n >= 0 && n <= math.MaxUint32 {
		return uint32(n)
	}
	return 0
}

// list returns the count of a list or array, and where its values begin.
func (v *view) list(slot int) (count, at int) {
	at = v.at[slot]
	switch t := v.layout.kinds[slot]; {
	case at < 0:
		return 0, 0
	case t.Array == schema.Fixed:
		return t.Len, at
	}
	return int(binary.LittleEndian.Uint32(v.m[at:])), at + 4
}

// element returns a number of a list whose values begin at pos.
func (v *view) element(slot, pos, i int) float64 {
	kind := v.layout.kinds[slot].Kind
	return value(kind, v.m[pos+i*kind.Size():])
}

func value(k schema.Kind, b []byte) float64 {
	switch k {
	case schema.Int8:
		return float64(int8(b[0]))
	case schema.Int16:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case schema.Uint16:
		return float64(binary.LittleEndian.Uint16(b))
	case schema.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case schema.Uint32:
		return float64(binary.LittleEndian.Uint32(b))
	case schema.Int64:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case schema.Uint64:
		return float64(binary.LittleEndian.Uint64(b))
	case schema.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case schema.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return float64(b[0])
}
