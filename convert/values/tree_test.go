package values

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/typetree"
)

// A layout is a form of messages, as the tests write it.
type layout struct {
	header           []byte
	align            int
	big              bool
	sizes, delimited bool
}

var layouts = []layout{
	{align: 1},
	{header: []byte{0, 1, 0, 0}, align: 8},
	{header: []byte{0, 0, 0, 0}, align: 8, big: true},
	{header: []byte{0, 7, 0, 0}, align: 4, sizes: true},
	{header: []byte{0, 6, 0, 0}, align: 4, sizes: true, big: true},
	{header: []byte{0, 9, 0, 0}, align: 4, sizes: true, delimited: true},
	{header: []byte{0, 8, 0, 0}, align: 4, sizes: true, delimited: true, big: true},
}

// An encoder writes the values of a tree in any form, plainly.
type encoder struct {
	layout
	out []byte
}

func (e *encoder) number(size int, v uint64) {
	for len(e.out)%min(size, e.align) != 0 {
		e.out = append(e.out, 0)
	}
	b := binary.LittleEndian.AppendUint64(nil, v)[:size]
	if e.big {
		swap(b, size)
	}
	e.out = append(e.out, b...)
}

// sized writes what f writes, after its size.
func (e *encoder) sized(on bool, f func()) {
	if on {
		e.number(4, 0)
	}
	at := len(e.out)
	if f(); on {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(e.out)-at))
		if e.big {
			swap(b, 4)
		}
		copy(e.out[at-4:], b)
	}
}

func (e *encoder) message(m *typetree.Message, v []typetree.Value) {
	e.sized(e.delimited, func() {
		any := false
		for i := range m.Fields {
			f := &m.Fields[i]
			if f.OnlyROS1 && e.header != nil {
				continue
			}
			any = true
			if f.Array == typetree.One {
				e.single(f, v[i])
				continue
			}
			list := v[i].([]typetree.Value)
			word := f.Kind != typetree.Nested && f.Kind != typetree.String && f.Kind != typetree.Wide &&
				f.Kind != typetree.Time && f.Kind != typetree.Duration
			e.sized(e.sizes && !word, func() {
				if f.Array != typetree.Fixed {
					e.number(4, uint64(len(list)))
				}
				for _, x := range list {
					e.single(f, x)
				}
			})
		}
		if !any && e.header != nil {
			e.out = append(e.out, 0)
		}
	})
}

var sizes = map[typetree.Kind]int{"int8": 1, "uint8": 1, "byte": 1, "char": 1, "int16": 2, "uint16": 2, "int32": 4,
	"uint32": 4, "int64": 8, "uint64": 8, "float32": 4, "float64": 8}

func (e *encoder) single(f *typetree.Field, v typetree.Value) {
	switch x := v.(type) {
	case []typetree.Value:
		e.message(f.Message, x)
	case bool:
		e.number(1, map[bool]uint64{true: 1}[x])
	case int64:
		e.number(sizes[f.Kind], uint64(x))
	case uint64:
		e.number(sizes[f.Kind], x)
	case float64:
		if f.Kind == "float32" {
			e.number(4, uint64(math.Float32bits(float32(x))))
		} else {
			e.number(8, math.Float64bits(x))
		}
	case time.Duration:
		e.sized(e.delimited, func() {
			sec := int64(x / time.Second)
			if x%time.Second < 0 {
				sec--
			}
			e.number(4, uint64(sec))
			e.number(4, uint64(int64(x)-sec*1e9))
		})
	case string:
		switch {
		case f.Kind == typetree.Wide && e.header != nil:
			units, width := utf16.Encode([]rune(x)), 4
			if e.sizes {
				width = 2
			}
			e.number(4, uint64(len(units)*map[bool]int{true: 2, false: 1}[e.sizes]))
			for _, u := range units {
				e.number(width, uint64(u))
			}
		case e.header != nil:
			e.number(4, uint64(len(x)+1))
			e.out = append(append(e.out, x...), 0)
		default:
			e.number(4, uint64(len(x)))
			e.out = append(e.out, x...)
		}
	}
}

// A drafter makes Go types that fit a type of messages, each in one of the ways that there are.
type drafter struct{ *rand.Rand }

func (g drafter) message(m *typetree.Message, ros1 bool) reflect.Type {
	var fields []reflect.StructField
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.OnlyROS1 && !ros1 {
			continue
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: g.field(f, ros1),
			Tag: reflect.StructTag(fmt.Sprintf("bag:%q", f.Name))})
	}
	if g.IntN(6) == 0 {
		return mapType
	}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return reflect.StructOf(fields)
}

func (g drafter) field(f *typetree.Field, ros1 bool) reflect.Type {
	t := g.single(f, ros1)
	switch {
	case f.Array == typetree.Fixed && g.IntN(2) == 0:
		t = reflect.ArrayOf(f.Len, t)
	case f.Array != typetree.One:
		t = reflect.SliceOf(t)
	}
	switch g.IntN(12) {
	case 0:
		t = reflect.PointerTo(t)
	case 1:
		t = anyType
	}
	return t
}

func (g drafter) single(f *typetree.Field, ros1 bool) reflect.Type {
	pick := func(types ...reflect.Type) reflect.Type { return types[g.IntN(len(types))] }
	switch f.Kind {
	case typetree.Nested:
		return g.message(f.Message, ros1)
	case typetree.Bool:
		return pick(reflect.TypeFor[bool](), reflect.TypeFor[*bool]())
	case typetree.String, typetree.Wide:
		return pick(reflect.TypeFor[string](), reflect.TypeFor[[]byte](), anyType)
	case typetree.Time, typetree.Duration:
		type clock struct{ Sec, Nsec int64 }
		if f.Kind == typetree.Duration {
			return pick(durationType, reflect.TypeFor[int64](), reflect.TypeFor[clock]())
		}
		return pick(timeType, reflect.TypeFor[int64](), reflect.TypeFor[clock]())
	case "float32":
		return pick(reflect.TypeFor[float32](), reflect.TypeFor[float64](), anyType)
	case "float64":
		return pick(reflect.TypeFor[float64](), anyType)
	}
	signed := f.Kind == "byte" && ros1 || strings.HasPrefix(string(f.Kind), "int")
	natural := naturals[shape{map[bool]message.Kind{true: message.Signed, false: message.Unsigned}[signed], sizes[f.Kind]}]
	switch {
	case signed:
		return pick(natural, reflect.TypeFor[int64](), reflect.TypeFor[int](), anyType)
	case sizes[f.Kind] < 8:
		return pick(natural, reflect.TypeFor[int64](), reflect.TypeFor[float64](), anyType)
	}
	return pick(natural, reflect.TypeFor[uint](), anyType)
}

// same compares a Go value with a value of the tree, and returns where they differ.
func same(f *typetree.Field, v typetree.Value, g reflect.Value, ros1 bool) string {
	for g.Kind() == reflect.Pointer || g.Kind() == reflect.Interface {
		if g.IsNil() {
			return "nil"
		}
		g = g.Elem()
	}
	list, isList := v.([]typetree.Value)
	switch {
	case isList && f.Array != typetree.One:
		if g.Len() != len(list) {
			return fmt.Sprintf("%d values, not %d", g.Len(), len(list))
		}
		one := *f
		one.Array = typetree.One
		for i, x := range list {
			if d := same(&one, x, g.Index(i), ros1); d != "" {
				return fmt.Sprintf("[%d]: %s", i, d)
			}
		}
		return ""
	case isList:
		return sameMessage(f.Message, list, g, ros1)
	}
	var ok bool
	switch x := v.(type) {
	case bool:
		ok = g.Bool() == x
	case string:
		ok = g.Kind() == reflect.String && g.String() == x || g.Kind() == reflect.Slice && string(g.Bytes()) == x
	case time.Duration:
		switch {
		case g.Type() == timeType:
			ok = g.Interface().(time.Time).Equal(time.Unix(0, int64(x)))
		case g.Kind() == reflect.Int64:
			ok = g.Int() == int64(x)
		case g.Kind() == reflect.Struct:
			ok = g.Field(0).Int()*1e9+g.Field(1).Int() == int64(x)
		}
	default:
		ok = fmt.Sprint(plainNumber(v)) == fmt.Sprint(plainNumber(g.Interface()))
	}
	if !ok {
		return fmt.Sprintf("%v, not %v", g, v)
	}
	return ""
}

// plainNumber has a number of any type as one that Sprint writes the same.
func plainNumber(v any) any {
	g := reflect.ValueOf(v)
	if g.CanFloat() {
		if f := g.Float(); f != math.Trunc(f) || math.Abs(f) >= 1<<53 || f == 0 {
			return fmt.Sprint(f)
		}
		return int64(g.Float())
	}
	return v
}

func sameMessage(m *typetree.Message, v []typetree.Value, g reflect.Value, ros1 bool) string {
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.OnlyROS1 && !ros1 {
			continue
		}
		var have reflect.Value
		if g.Kind() == reflect.Map {
			have = g.MapIndex(reflect.ValueOf(f.Name))
		} else {
			have = g.FieldByName(fmt.Sprintf("F%d", i))
		}
		if !have.IsValid() {
			return f.Name + " is missing"
		}
		if d := same(f, v[i], have, ros1); d != "" {
			return f.Name + ": " + d
		}
	}
	return ""
}

// TestTrees: random types as random Go types in every form. What is read is what the message was
// made of, and what is written from that is the message.
func TestTrees(t *testing.T) {
	seeds := 400
	if testing.Short() {
		seeds = 60
	}
	for seed := range uint64(seeds) {
		w := typetree.New(seed, 3, typetree.Options{ROS2: seed%2 == 1})
		g := drafter{rand.New(rand.NewPCG(seed, 3))}
		for _, m := range w.Roots {
			for form, l := range layouts {
				if ros1 := form == 0; ros1 == (seed%2 == 0) {
					checkTree(t, w, g, m, l, ros1)
				}
			}
		}
	}
}

func checkTree(t *testing.T, w *typetree.World, g drafter, m *typetree.Message, l layout, ros1 bool) {
	t.Helper()
	dialect, tree, encoding := rosmsg.ROS2, typetree.ROS2, "cdr"
	if ros1 {
		dialect, tree, encoding = rosmsg.ROS1, typetree.ROS1, "ros1"
	}
	msg, err := rosmsg.Parse(m.TypeName(tree), typetree.AppendText(nil, m, tree), dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ := g.message(m, ros1)
	p, err := compile(&mapping.Definition{ROS: msg, Wire: serial.Of(encoding)}, typ)
	if err != nil {
		t.Fatalf("%s as %s: %v", m.Name, typ, err)
	}
	if len(p.unread)+len(p.unset) > 0 {
		t.Fatal(p.unread, p.unset)
	}
	at := reflect.New(typ)
	for range 3 { // the memory is used again
		v := w.Value(m)
		e := encoder{layout: l}
		e.message(m, v)
		src := append(bytes.Clone(l.header), e.out...)
		if err := p.decode(src, at.UnsafePointer()); err != nil {
			t.Fatalf("%s as %s: %v\n% x", m.Name, typ, err, src)
		}
		if d := sameMessage(m, v, at.Elem(), ros1); d != "" {
			t.Fatalf("%s as %s: %s\n% x", m.Name, typ, d, src)
		}
		want := typetree.AppendCDR(nil, m, v)
		if ros1 {
			want = typetree.AppendROS1(nil, m, v)
		}
		if out, err := p.append(nil, at.UnsafePointer()); err != nil || !bytes.Equal(out, want) {
			t.Fatalf("%s as %s: %v\n got % x\nwant % x", m.Name, typ, err, out, want)
		}
		damage(t, p, g, src, typ)
	}
}

// damage cuts and changes a message: it is read or refused, and nothing else.
func damage(t *testing.T, p *program, g drafter, src []byte, typ reflect.Type) {
	t.Helper()
	for range 8 {
		b := bytes.Clone(src)
		for range min(len(b), g.IntN(3)) {
			b[g.IntN(len(b))] = byte(g.Uint32())
		}
		b = b[:g.IntN(len(b)+1)]
		at := reflect.New(typ)
		if err := p.decode(b, at.UnsafePointer()); err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrRange) {
			t.Fatal(err)
		}
	}
}
