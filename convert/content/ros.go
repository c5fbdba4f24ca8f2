package content

import (
	"fmt"

	"github.com/bagconv/bagconv/schema"
)

// A rosNode reads a struct. Nodes are shared where pairs of types are, so a
// program is as large as the definition.
type rosNode struct {
	name  string
	steps []rosStep
	marks int  // positions that it remembers
	empty bool // the struct has no fields: one byte in CDR

	hasInner bool // a rule looks into structs of it
	defaults bool // a field has one, or one of a struct in it

	msg *schema.Message
	ids map[uint32]int // fields by their numbers, of a @mutable struct
}

// A rosStep does one thing with the source.
type rosStep struct {
	op    rosOp
	form  form
	class class
	emit  bool // else the value is skipped
	list  bool // a count stands before the values
	count int  // else there are so many
	tell  bool // an array that is a list in the canonical type
	size  int  // bytes of a number, of zeros
	min   int  // least bytes of a value
	sized bool // a list or an array of what is not a number: XCDR2 has its size before it
	node  *rosNode
	table *[256]byte
	mark  int

	field  int            // of the source
	member *schema.Member // nil: it stands in the bytes as it is
	lone   bool           // it is a list of one value in the canonical type
	extent schema.Extensibility
	pairs  bool             // a map
	enums  bool             // a list or array of an enum
	absent int              // zero bytes that stand for it if it is not there
	values []schema.Literal // stand for it instead
}

type rosOp uint8

const (
	opValue rosOp = iota
	opZero        // size zero bytes of a field that the source does not have
	opMark        // remember the position as mark
	opSeek        // go back to it
)

// A form is how a value stands on the wire.
type form uint8

const (
	formNumber form = iota
	formText
	formWide
	formTime     // two words, seconds and nanoseconds, both without a sign in ROS 1
	formDuration // two words, both with a sign in ROS 1
	formStruct
	formCounter // of a Header
)

// FromROS makes the program from messages of src in an encoding of ROS to a
// canonical type. With strict fields must have the same types, and else those that
// a conversion makes of them. The error names a field that has another type.
func FromROS(src *schema.Message, wire schema.Encoding, dst *schema.Message, strict bool) (*Program, error) {
	c := &rosCompiler{comparer: newComparer(strict), made: map[[2]*schema.Message]*rosNode{}}
	for _, m := range append(schema.Dependencies(src), src) {
		for _, f := range m.Fields {
			c.special = c.special || f.Member != nil
		}
		c.mutable = c.mutable || m.Extensibility == schema.Mutable
	}
	var root *rosNode
	var err error
	if k := src.TimeKind(); k != schema.Invalid {
		value := schema.Type{Kind: schema.Struct, Message: src}
		root, err = c.node(&schema.Message{Name: src.Name, Fields: []schema.Field{{Name: "data", Type: value}}}, dst, "", 0)
	} else {
		root, err = c.node(src, dst, "", 0)
	}
	if err != nil {
		return nil, err
	}
	return &Program{ros: root, cdr: wire == schema.CDR, varied: wire == schema.CDR && c.varied, dropped: c.dropped, added: c.added}, nil
}

type rosCompiler struct {
	*comparer
	made    map[[2]*schema.Message]*rosNode
	varied  bool // writers of XCDR2 differ, see attempts
	special bool // some fields are not always there
	mutable bool // some may take their default
}

// skippedType is the canonical type of what is skipped.
var skippedType = &schema.Message{}

func (c *rosCompiler) node(src, dst *schema.Message, prefix string, depth int) (*rosNode, error) {
	key := [2]*schema.Message{src, dst}
	if n := c.made[key]; n != nil {
		return n, nil
	}
	if err := c.enter(len(src.Fields)+len(dst.Fields), depth); err != nil {
		return nil, err
	}
	n := &rosNode{name: src.Name, empty: len(src.Fields) == 0, msg: src}
	if src.Extensibility == schema.Mutable {
		n.ids = map[uint32]int{}
		for i, f := range src.Fields {
			if f.Member != nil {
				n.ids[f.Member.ID] = i
			}
		}
	}
	p := pairUp(src, dst)
	if dst != skippedType {
		c.note(p, prefix)
	}
	for _, s := range p.src {
		n.hasInner = n.hasInner || len(s.at) > 1
	}
	if err := c.steps(n, p, prefix, depth); err != nil {
		return nil, err
	}
	c.made[key] = n
	return n, nil
}

// steps makes the steps of a node. In order they are one walk over the source;
// otherwise a first walk finds where the fields are.
func (c *rosCompiler) steps(n *rosNode, p *pairing, prefix string, depth int) error {
	emitted := map[int]bool{}
	if !p.ordered {
		n.marks = len(p.src) + 1
		for i := range p.src {
			n.steps = append(n.steps, rosStep{op: opMark, mark: i})
			if err := c.field(n, p.src[i], nil, nil, prefix, depth); err != nil {
				return err
			}
		}
		n.steps = append(n.steps, rosStep{op: opMark, mark: len(p.src)})
	}
	next := 0
	for k, i := range p.from {
		d := p.dst[k]
		if i < 0 {
			size, err := c.zero(d.typ)
			if err != nil {
				return err
			}
			n.steps = append(n.steps, rosStep{op: opZero, size: size})
			continue
		}
		if p.ordered {
			for ; next < i; next++ {
				if err := c.field(n, p.src[next], nil, nil, prefix, depth); err != nil {
					return err
				}
			}
			next = i + 1
		} else {
			n.steps = append(n.steps, rosStep{op: opSeek, mark: i})
		}
		emitted[i] = true
		if err := c.field(n, p.src[i], &d, p.table[k], prefix, depth); err != nil {
			return err
		}
	}
	for ; p.ordered && next < len(p.src); next++ {
		if err := c.field(n, p.src[next], nil, nil, prefix, depth); err != nil {
			return err
		}
	}
	if !p.ordered {
		n.steps = append(n.steps, rosStep{op: opSeek, mark: len(p.src)})
	}
	return nil
}

// field adds the step of a field: into the slot dst, or past it.
func (c *rosCompiler) field(n *rosNode, src slot, dst *slot, table *[256]byte, prefix string, depth int) error {
	t, lone := inBytes(src)
	s := rosStep{op: opValue, field: src.at[0], member: src.member, lone: lone, emit: dst != nil, list: t.Array == schema.Bounded || t.Array == schema.Unbounded, count: 1, table: table,
		class: classOf(t.Kind), size: t.Kind.Size(), min: t.Kind.Size(), sized: t.Array != schema.Single && t.Kind.Size() == 0}
	if t.Array == schema.Fixed {
		s.count = t.Len
	}
	if dst != nil {
		if err := c.fits(src.typ, dst.typ); err != nil {
			return fmt.Errorf("field %s: %w", prefix+dst.path, err)
		}
		if s.absent = c.sizes.Least(dst.typ); src.member != nil && s.absent > maxZero {
			return errTooLarge
		}
		if values, err := schema.Literals(src.typ, src.def); c.mutable && src.def != "" && err == nil && !n.msg.Union {
			s.values = values
		}
		s.tell = t.Array == schema.Fixed && dst.typ.Array == schema.Unbounded
		if dst.counter {
			s.form = formCounter
		}
	}
	if t.Kind == schema.Struct {
		s.extent = t.Message.Extensibility
		s.pairs = s.extent == schema.Bare && len(t.Message.Fields) == 2
	}
	s.enums = t.IsEnum() && t.Array != schema.Single
	c.varied = c.varied || s.enums || s.pairs
	switch k := canonicalType(t).Kind; {
	case t.Kind == schema.WString:
		s.form, s.min = formWide, 4
	case k == schema.String:
		s.form, s.min = formText, 4
	case k == schema.Time:
		s.form, s.size, s.min = formTime, 8, 8
	case k == schema.Duration:
		s.form, s.size, s.min = formDuration, 8, 8
	case k == schema.Struct:
		s.form = formStruct
		into := skippedType
		if dst != nil {
			into = dst.typ.Message
		}
		var err error
		if s.node, err = c.node(t.Message, into, prefix+src.path+".", depth+1); err != nil {
			return err
		}
		s.min = c.sizes.Least(schema.Type{Kind: schema.Struct, Message: t.Message})
		if c.special {
			s.min = 1 // a member may be absent
		}
	case k == schema.Invalid || k == schema.WChar || k == schema.LongDouble:
		return fmt.Errorf("field %s: a %s cannot be compared", prefix+src.path, t.Kind)
	}
	n.defaults = n.defaults || s.values != nil || s.form == formStruct && s.emit && s.node.defaults
	if last := len(n.steps) - 1; last >= 0 && !n.msg.Union && n.steps[last].takes(&s) {
		n.steps[last].count += s.count
		n.steps[last].absent += s.absent
		return nil
	}
	n.steps = append(n.steps, s)
	return nil
}

// takes reports whether the numbers of the next step may be read with those of s.
func (s *rosStep) takes(next *rosStep) bool {
	plainly := func(s *rosStep) bool {
		return s.op == opValue && s.member == nil && !s.enums && s.values == nil && s.form == formNumber && !s.list && !s.tell && s.table == nil && s.count > 0
	}
	return plainly(s) && plainly(next) && s.size == next.size && s.class == next.class && s.emit == next.emit && s.count < 1<<28 && next.count < 1<<28
}
