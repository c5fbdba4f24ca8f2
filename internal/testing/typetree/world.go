package typetree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Options choose which shapes a World has beyond the shapes that every format and every
// reader knows.
type Options struct {
	// ROS2 adds what ROS 1 has no word for: wstring, bounds, defaults.
	ROS2 bool

	// Odd adds names and kinds that are legal, and that some reader treats wrongly:
	// keywords of Python, char, names that ROS 2 does not allow.
	Odd bool

	// Before1970 adds times before 1970, which ROS 2 has and ROS 1 has not.
	Before1970 bool
}

// A World is the set of types of one recording, and the source of their values.
type World struct {
	Roots []*Message // one for each topic

	o     Options
	r     *rand.Rand
	types []*Message // to be used as parts
	names map[string]bool
}

// New makes a World of n types. The same arguments make the same World.
func New(seed uint64, n int, o Options) *World {
	w := &World{o: o, r: rand.New(rand.NewPCG(seed, 0x7479706574726565)), types: standard(), names: map[string]bool{}}
	for _, m := range w.types {
		w.names[m.TypeName(ROS1)] = true
	}
	shapes := []func() *Message{w.empty, w.constantsOnly, w.shared, w.deep}
	for i := range n {
		var m *Message
		switch {
		case i%25 == 0:
			m = w.types[w.r.IntN(25)] // a standard type alone
		case i%7 < 4 && w.r.IntN(3) == 0:
			m = shapes[i%7]()
		default:
			m = w.mixed(1 + w.r.IntN(10))
		}
		w.Roots = append(w.Roots, m)
	}
	return w
}

// Limits of a type: how many values it has at least, and how deep it nests.
const (
	maxLeaves = 300
	maxDepth  = 24
)

// named makes a type of these fields and constants, and lets others use it.
func (w *World) named(fields []Field, constants []Constant) *Message {
	m := &Message{Package: w.packageName(), Fields: fields, Constants: constants}
	for {
		m.Name = w.typeName()
		if !w.names[m.TypeName(ROS1)] {
			break
		}
	}
	w.names[m.TypeName(ROS1)] = true
	for i := range m.Fields {
		f := &m.Fields[i]
		f.Bare = f.Kind == Nested && f.Message.Package == m.Package && f.Message.Name != "Header" && w.r.IntN(2) == 0
	}
	m.measure()
	w.types = append(w.types, m)
	return m
}

func (w *World) empty() *Message { return w.named(nil, nil) }

func (w *World) constantsOnly() *Message { return w.named(nil, w.constants(1+w.r.IntN(6))) }

// shared makes a type with two parts that have a part in common.
func (w *World) shared() *Message {
	pairs := [][]string{{"std_msgs/Header", "geometry_msgs/PoseStamped"}, {"geometry_msgs/Pose", "geometry_msgs/Point"},
		{"geometry_msgs/Twist", "geometry_msgs/Vector3"}, {"nav_msgs/Path", "geometry_msgs/TransformStamped"}}
	var fields []Field
	used := map[string]bool{}
	for _, name := range pairs[w.r.IntN(len(pairs))] {
		f := w.field(used)
		for _, m := range w.types {
			if m.TypeName(ROS1) == name {
				f = Field{Name: f.Name, Message: m}
			}
		}
		fields = append(fields, f)
	}
	for range w.r.IntN(3) {
		fields = append(fields, w.field(used))
	}
	return w.named(fields, nil)
}

// deep makes a chain of types.
func (w *World) deep() *Message {
	m := w.mixed(1 + w.r.IntN(2))
	for range 4 + w.r.IntN(12) {
		if m.leaves > maxLeaves/2 || m.depth >= maxDepth {
			break
		}
		used := map[string]bool{}
		f := Field{Name: w.fieldName(used), Message: m, Array: []Array{One, One, Fixed, List}[w.r.IntN(4)], Len: 1}
		fields := []Field{f}
		if w.r.IntN(2) == 0 {
			fields = []Field{w.primitive(used), f}
		}
		m = w.named(fields, nil)
	}
	return m
}

// mixed makes a type of n fields of any kind.
func (w *World) mixed(n int) *Message {
	var fields []Field
	used := map[string]bool{}
	leaves := 0
	if w.r.IntN(4) == 0 {
		used["header"] = true
		fields = append(fields, Field{Name: "header", Message: w.types[0]})
	}
	for range n {
		f := w.field(used)
		if f.Kind == Nested {
			if leaves += f.Message.leaves * max(1, f.Len); leaves > maxLeaves || f.Message.depth >= maxDepth {
				continue
			}
		}
		fields = append(fields, f)
	}
	var constants []Constant
	if w.r.IntN(5) == 0 {
		constants = w.constants(1 + w.r.IntN(4))
	}
	return w.named(fields, constants)
}

// field makes a field of any kind and form.
func (w *World) field(used map[string]bool) Field {
	f := w.primitive(used)
	if w.r.IntN(3) == 0 {
		f.Kind, f.Bound = Nested, 0
		f.Message = w.types[w.r.IntN(len(w.types))]
		if recent := len(w.types) - 10; w.r.IntN(2) == 0 {
			f.Message = w.types[recent+w.r.IntN(10)]
		}
	}
	switch w.r.IntN(8) {
	case 0, 1:
		f.Array = List
	case 2:
		f.Array, f.Len = Fixed, []int{1, 2, 3, 5}[w.r.IntN(4)]
	case 3:
		if w.o.ROS2 {
			f.Array, f.Len = Bounded, 1+w.r.IntN(4)
		}
	}
	w.defaults(&f)
	return f
}

var kinds = []Kind{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
	"float64",
	"byte", String, String, Time, Duration, Duration}

// primitive makes a field of a single value that is not a message.
func (w *World) primitive(used map[string]bool) Field {
	f := Field{Name: w.fieldName(used), Kind: kinds[w.r.IntN(len(kinds))]}
	if w.o.Odd && w.r.IntN(12) == 0 {
		f.Kind = "char"
	}
	if w.o.ROS2 && w.o.Odd && w.r.IntN(8) == 0 {
		f.Kind = Wide
	}
	if w.o.ROS2 && f.Kind.isText() && w.r.IntN(4) == 0 {
		f.Bound = 1 + w.r.IntN(20)
	}
	return f
}

// defaults sets a default for some fields of ROS 2, which no message carries.
func (w *World) defaults(f *Field) {
	if !w.o.ROS2 || f.Array != One || w.r.IntN(6) > 0 {
		return
	}
	switch {
	case f.Kind == String && f.Bound == 0:
		f.Default = `"a default"`
	case f.Kind == Bool:
		f.Default = "true"
	case f.Kind.isFloat():
		f.Default = "1.5"
	case f.Kind != Nested && sizes[f.Kind] > 0:
		f.Default = "7"
	}
}

// constants makes n constants.
func (w *World) constants(n int) (out []Constant) {
	texts := []struct {
		kind       Kind
		ros1, ros2 string
	}{
		{"int32", "-5", "-5"}, {"uint8", "0x1F", "0x1F"}, {"int64", "-9223372036854775808", "-9223372036854775808"},
		{"uint64", "18446744073709551615", "18446744073709551615"}, {"float32", "1e-3", "1e-3"}, {"float64", "-2.50",
			"-2.50"},
		{"bool", "True", "true"}, {"bool", "False", "false"}, {"string", "plain", `"plain"`}, {"string",
			`it's 1=2 # not a comment`, `"it's 1=2 # not a comment"`},
		{"byte", "1", "1"}, {"int8", "-128", "-128"},
	}
	for i := range n {
		t := texts[w.r.IntN(len(texts))]
		out = append(out, Constant{Kind: t.kind, Name: fmt.Sprintf("%s_%d", strings.ToUpper(string(t.kind)), i), ROS1: t.ros1,
			ROS2: t.ros2})
	}
	return out
}

// Older returns the roots as they were before up to three fields were added at
// their ends. A root that is a part of another stays as it is, and so does one
// that would have no field left. Values of the root are values of the older one:
// the values of the added fields are skipped.
func (w *World) Older() []*Message {
	parts := map[*Message]bool{}
	for _, m := range w.Roots {
		for _, p := range m.dependencies() {
			parts[p] = true
		}
	}
	out := slices.Clone(w.Roots)
	for i, m := range w.Roots {
		n := 1 + w.r.IntN(3)
		if parts[m] || len(m.Fields) <= n || m.Package == "std_msgs" {
			continue
		}
		older := *m
		older.Fields = m.Fields[:len(m.Fields)-n]
		out[i] = &older
	}
	return out
}
