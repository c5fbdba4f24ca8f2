package foxglove

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/numbers"
	"github.com/bagconv/bagconv/schema"
)

// A class is the kinds of fields that a wanted field may have.
type class uint8

const (
	number     class = iota // any number, or bool
	stamp                   // a time
	text                    // a string
	blob                    // a list of bytes
	numberList              // a list or an array of numbers
	structs                 // a list of structs
)

// A want is a field that a family reads, by its path; its index is its slot.
type want struct {
	path  string
	class class
	need  bool // a type without it is refused
}

// A structLayout is a generated type, with the slots of the fields that are read.
type structLayout struct {
	steps  []layoutStep
	slots  int
	unused []string // paths of fields that are skipped

	typ     *message.Type
	list    *message.Path // leads to the list of structs; nil if the type has no such list
	element *structLayout // of that list
}

// A layoutStep is a field.
type layoutStep struct {
	slot int           // -1: it is skipped
	sub  *structLayout // of a struct whose parts are read
}

// compile finds the wanted fields in a type; elements are the wanted fields of its list of structs.
func compile(m *schema.Message, wants, elements []want) (root *structLayout, err error) {
	root = &structLayout{slots: len(wants)}
	found := make([]*schema.Field, len(wants))
	if err = root.fill(m, "", wants, found); err != nil {
		return nil, err
	}
	if root.typ, err = message.ROS(m, serial.ROS1); err != nil {
		return nil, err
	}
	for i, w := range wants {
		switch {
		case w.need && found[i] == nil:
			return nil, fmt.Errorf("%s has no field %s", m.Name, w.path)
		case w.class == structs && found[i] != nil:
			if root.list, err = root.typ.Path(found[i].Name); err != nil {
				return nil, err
			}
			if root.element, err = compile(found[i].Type.Message, elements, nil); err != nil {
				return nil, err
			}
			for _, path := range root.element.unused {
				root.unused = append(root.unused, w.path+"."+path)
			}
		}
	}
	return root, nil
}

func (l *structLayout) fill(m *schema.Message, prefix string, wants []want, found []*schema.Field) error {
	for i := range m.Fields {
		f := &m.Fields[i]
		s := layoutStep{slot: -1}
		path := prefix + f.Name
		for i, w := range wants {
			switch {
			case strings.EqualFold(w.path, path):
				if !w.class.takes(f.Type) {
					return fmt.Errorf("field %s of %s is not of the expected kind but %s", path, m.Name, f.Type.Text())
				}
				s.slot, found[i] = i, f
			case s.sub == nil && strings.HasPrefix(w.path, path+".") && f.Type.Kind == schema.Struct &&
				f.Type.Array == schema.Single:
				s.sub = &structLayout{}
				if err := s.sub.fill(f.Type.Message, path+".", wants, found); err != nil {
					return err
				}
			}
		}
		switch {
		case s.sub != nil:
			l.unused = append(l.unused, s.sub.unused...)
		case s.slot < 0:
			l.unused = append(l.unused, path)
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
	case numberList:
		return !single && numeric
	}
	return t.Array == schema.Unbounded && t.Kind == schema.Struct
}

// A view is a struct of the message: what its wanted fields have. It points into the message.
type view struct {
	layout *structLayout
	values []value // by slot; zeros: the type does not have it
}

// A value is what a field has.
type value struct {
	field *message.Field
	text  []byte // of a string, or of the values of a list of numbers, in little endian
	bits  uint64 // of a number; the seconds of a time
	count int    // values of a list or array; the nanoseconds of a time
}

// read reads the wanted fields of the struct at a cursor.
func (v *view) read(c *message.Cursor, t *message.Type) {
	if v.values == nil {
		v.values = make([]value, v.layout.slots)
	}
	clear(v.values)
	v.walk(v.layout, c, t)
}

func (v *view) walk(l *structLayout, c *message.Cursor, t *message.Type) {
	c.Fields(t, func(f *message.Field) {
		s := &l.steps[f.Index]
		switch {
		case s.sub != nil:
			v.walk(s.sub, c, f.Type)
			return
		case s.slot < 0 || f.List && f.Type != nil:
			c.Skip(f)
			return
		}
		to := &v.values[s.slot]
		to.field = f
		switch {
		case f.List:
			to.count = c.Count(f)
			to.text = c.Numbers(f, to.count)
		case f.Clock != schema.Invalid:
			sec, nsec := c.Time(f)
			to.bits, to.count = uint64(sec), int(nsec)
		case f.Kind == message.Text:
			to.text = c.Text(f)
		default:
			to.bits = c.Bits(f)
		}
	})
}

// text returns a string or a list of bytes, which point into the message.
func (v *view) text(slot int) []byte { return v.values[slot].text }

// time returns the two words of a time.
func (v *view) time(slot int) (sec, nsec uint32) {
	return uint32(v.values[slot].bits), uint32(v.values[slot].count)
}

// number returns a number; numbers of 64 bits beyond 2^53 are rounded.
func (v *view) number(slot int) float64 {
	x := &v.values[slot]
	if x.field == nil {
		return 0
	}
	return asFloat(x.field, x.bits)
}

func asFloat(f *message.Field, bits uint64) float64 {
	if f.Kind == message.Float && f.Size == 8 {
		return math.Float64frombits(bits)
	}
	class, width := numbers.Of(f.ROS)
	return class.Float(class.Widen(bits, width))
}

// whole returns a number as an unsigned integer of 32 bits, 0 for other numbers.
func (v *view) whole(slot int) uint32 {
	if n := v.number(slot); n >= 0 && n <= math.MaxUint32 {
		return uint32(n)
	}
	return 0
}

// count returns how many values a list or array has.
func (v *view) count(slot int) int { return v.values[slot].count }

// element returns a number of a list.
func (v *view) element(slot, i int) float64 {
	f, p := v.values[slot].field, v.values[slot].text
	switch p = p[i*f.Size:]; f.Size {
	case 1:
		return asFloat(f, uint64(p[0]))
	case 2:
		return asFloat(f, uint64(binary.LittleEndian.Uint16(p)))
	case 4:
		return asFloat(f, uint64(binary.LittleEndian.Uint32(p)))
	}
	return asFloat(f, binary.LittleEndian.Uint64(p))
}
