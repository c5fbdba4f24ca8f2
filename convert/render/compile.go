package render

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
)

// A node is a struct of ROS. Nodes are shared where types are.
type node struct {
	name   string
	fields []field
	min    int // least bytes of a value on any wire
}

// A field is a member of a struct.
type field struct {
	label
	name string
	kind schema.Kind
	list schema.Array
	len  int   // of a Fixed list
	node *node // of a Struct
	size int   // of one number
	min  int   // least bytes of one value
	flow bool  // in YAML its value stands on the line of its name
	blob bool  // a list of bytes
	lone bool  // a list of one value at most, which is written as that value or null
}

var errTooLarge = errors.New("the definition is too large to be compiled")

// Limits of a definition.
const (
	maxNodes   = 100_000
	maxDepth   = 128
	maxColumns = 1000
)

// Compile makes the program for messages of type m. The error names the field
// that cannot be read; for a path that does not fit it is a *PathError.
func Compile(m *schema.Message, wire transcode.Wire, o Options) (*Program, error) {
	c := &compiler{made: map[*schema.Message]*node{}}
	root, err := c.node(m, 0)
	if err != nil {
		return nil, err
	}
	p := &Program{o: o, cdr: wire == transcode.CDR, ros: root}
	if p.cdr {
		p.special = xtypes.New(m)
	}
	return p, p.setColumns(root)
}

type compiler struct {
	made map[*schema.Message]*node
	work int
}

// ROS 1 has times as primitives; they are shown as the structs of ROS 2.
var (
	rosTime     = &schema.Message{Name: "time", Fields: []schema.Field{{Name: "sec", Type: schema.Type{Kind: schema.Uint32}}, {Name: "nanosec", Type: schema.Type{Kind: schema.Uint32}}}}
	rosDuration = &schema.Message{Name: "duration", Fields: []schema.Field{{Name: "sec", Type: schema.Type{Kind: schema.Int32}}, {Name: "nanosec", Type: schema.Type{Kind: schema.Int32}}}}
)

func (c *compiler) node(m *schema.Message, depth int) (*node, error) {
	if n := c.made[m]; n != nil {
		return n, nil
	}
	if c.work += 1 + len(m.Fields); c.work > maxNodes || depth > maxDepth {
		return nil, errTooLarge
	}
	n := &node{name: m.Name, fields: make([]field, len(m.Fields))}
	for i, f := range m.Fields {
		t := f.Type
		switch t.Kind {
		case schema.Time:
			t.Kind, t.Message = schema.Struct, rosTime
		case schema.Duration:
			t.Kind, t.Message = schema.Struct, rosDuration
		}
		if t.Kind != schema.Struct && t.Kind != schema.String && t.Kind != schema.WString && (t.Kind.Size() == 0 || t.Kind == schema.LongDouble) {
			return nil, fmt.Errorf("field %s of %s: a %s cannot be read", f.Name, m.Name, t.Kind)
		}
		d := field{label: labelOf(f.Name, i == 0), name: f.Name, kind: t.Kind, list: t.Array, len: t.Len, size: t.Kind.Size(), min: 4, flow: true}
		switch {
		case t.Kind == schema.Struct:
			var err error
			if d.node, err = c.node(t.Message, depth+1); err != nil {
				return nil, err
			}
			d.min = d.node.min
			d.flow = false
		case d.size > 0:
			d.min = d.size
		}
		switch t.Kind {
		case schema.Uint8, schema.Byte, schema.Char, schema.IDLChar:
			d.blob = t.Array != schema.Single
		}
		if isLone(f) {
			d.lone, d.blob = true, false
		}
		n.fields[i] = d
		n.min = min(1<<40, n.min+d.least())
	}
	c.made[m] = n
	return n, nil
}

// isLone reports whether a field is a member of a union or an optional one of IDL, which stands for
// a single value.
func isLone(f schema.Field) bool {
	if f.Member == nil || f.Type.Array != schema.Bounded || f.Type.Len != 1 {
		return false
	}
	return f.Member.Type.Array == schema.Single || f.Type.Kind == schema.Struct && f.Type.Message.Extensibility == schema.Bare
}

// least returns how many bytes the field takes at least.
func (f *field) least() int {
	switch f.list {
	case schema.Single:
		return f.min
	case schema.Fixed:
		if f.min > 0 && f.len > (1<<40)/f.min {
			return 1 << 40
		}
		return f.min * f.len
	}
	return 4
}
