package content

import (
	"sync"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/literal"
	"github.com/bagconv/bagconv/internal/schema/measure"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A Version is one step of a migration: from one definition of the type to another.
type Version struct {
	Source, Target *schema.Message
	Rule           func(src, dst *schema.Message) *Rule // for a pair of structs; nil: by the names of fields
}

// A Rule is what docs/migration.md has under fields and drop, by paths of the target.
type Rule struct {
	Fields map[string]Origin
	Drop   []string
}

// An Origin is where a field of the target comes from.
type Origin struct {
	Path          string // in the source; "": nowhere, it has its default
	Values        map[int64]int64
	Scale, Offset float64 // Scale 0: the number stays
	Default       string
}

// A Migration makes messages of another version of their type, as docs/migration.md describes. It is
// the second way besides the programs of a conversion, which it judges: for each field of the target
// it looks for the place of the value in the source, and copies the value.
type Migration struct {
	steps    []Version
	types    []*message.Type // of the sources
	from, to serial.Encoding
	known    sync.Map // [2]*schema.Message to *versionPair
}

// NewMigration returns the migration by way of these versions. Only the last step changes the
// encoding.
func NewMigration(steps []Version, from, to serial.Encoding) (*Migration, error) {
	g := &Migration{steps: steps, from: from, to: to}
	var size measure.Measure
	for _, s := range steps {
		if size.Least(schema.Type{Kind: schema.Struct, Message: s.Target}) > maxZero {
			return nil, errTooLarge
		}
		t, err := message.ROS(s.Source, from)
		if err != nil {
			return nil, err
		}
		g.types = append(g.types, t)
	}
	return g, nil
}

// SizeHint returns how many bytes a message of n bytes becomes, about.
func (g *Migration) SizeHint(n int) int { return n + n/2 + 64 }

// Append writes a message as a message of the last version at the end of dst. The error wraps ErrMalformed.
func (g *Migration) Append(dst, src []byte) ([]byte, error) {
	for i, s := range g.steps {
		to, out := g.from, []byte(nil)
		if i == len(g.steps)-1 {
			to, out = g.to, dst
		}
		v := versionWalk{
			g: g, step: s, c: message.Open(g.types[i], src), w: ros.NewWriter(out, to == serial.CDR),
			limit: len(out) + maxExtra + maxGrowth*len(src), crossing: g.from != to,
		}
		v.structure(g.types[i], s.Source, s.Target)
		err := v.c.End()
		v.c.Close()
		if err != nil {
			return dst, misfit(err)
		}
		src = v.w.Buf
	}
	return src, nil
}

// A versionWalk is a message on its way through one step.
type versionWalk struct {
	g        *Migration
	step     Version
	c        *message.Cursor
	w        ros.Writer
	limit    int
	crossing bool // the encoding changes
}

// structure makes a struct of another version. First it walks over the source, to find where the
// fields are; then it goes to each field that the target has.
func (v *versionWalk) structure(typ *message.Type, src, dst *schema.Message) {
	if len(v.w.Buf) > v.limit {
		v.c.Fail("too many values: the message would be out of proportion")
		return
	}
	if t, ok := facts.TimeIn(src, dst); ok {
		end := v.c.Enter(typ)
		v.time(&typ.Fields[0], t, schema.Type{Kind: schema.Struct, Message: dst})
		v.c.Leave(end)
		return
	}
	if t, ok := facts.TimeIn(dst, src); ok {
		v.time(&message.Field{Clock: t.Kind, Type: typ}, schema.Type{Kind: schema.Struct, Message: src}, t)
		return
	}
	p := v.pair(typ, src, dst)
	if p.looksIn && v.c.Layout().Delimited {
		v.c.Fail("a rule looks into %s, which delimited CDR does not have as fields", src.Name)
		return
	}
	end := v.c.Enter(typ)
	at := make([]int, len(p.src))
	for i, s := range p.src {
		at[i] = v.c.Pos()
		v.c.Skip(s.field)
	}
	behind := v.c.Pos()
	if len(dst.Fields) == 0 && v.w.CDR() {
		v.w.U8(0)
	}
	for _, m := range p.moves {
		if m.from < 0 {
			v.absent(m.typ, m.def)
			continue
		}
		v.c.Return(at[m.from])
		v.transfer(p.src[m.from], m.typ, m.origin)
		if !v.c.OK() {
			return
		}
	}
	v.c.Return(behind)
	v.c.Leave(end)
}

// transfer turns a value, an array or a list into another type that it can become.
func (v *versionWalk) transfer(src place, dst schema.Type, o Origin) {
	f, n := src.field, 1
	if f.List {
		n = v.c.Count(f)
	}
	if !v.c.OK() {
		return
	}
	kept := n
	if dst.Array == schema.Single {
		dst.Array, dst.Len = schema.Fixed, 1 // the same bytes
	}
	if dst.Array == schema.Fixed || dst.Array == schema.Bounded && (src.typ.Array != schema.Bounded ||
		src.typ.Len > dst.Len) {
		kept = min(n, dst.Len)
	}
	if dst.Array == schema.Bounded || dst.Array == schema.Unbounded {
		v.w.U32(uint32(kept))
	}
	to := element(dst)
	if isNumber(src.typ.Kind) {
		v.numbers(v.c.Numbers(f, n), kept, src.typ.Kind, to.Kind, o)
	} else {
		for i := 0; i < kept && v.c.OK(); i++ {
			v.single(f, src.typ, to)
		}
		v.c.SkipElements(f, n-kept)
	}
	for i := kept; dst.Array == schema.Fixed && i < dst.Len && v.c.OK(); i++ {
		v.absent(to, "")
	}
}

// single turns a value that is no number into another type.
func (v *versionWalk) single(f *message.Field, src, dst schema.Type) {
	switch {
	case f.Clock != schema.Invalid && dst.TimeKind() != schema.Invalid:
		v.time(f, src, dst)
	case src.Kind == schema.Struct:
		v.structure(f.Type, src.Message, dst.Message)
	default:
		v.text(f, dst)
	}
}

// absent writes a field that the source does not have: its default, else zero.
func (v *versionWalk) absent(t schema.Type, def string) {
	if len(v.w.Buf) > v.limit {
		v.c.Fail("the message would be out of proportion")
		return
	}
	if values, err := literal.Parse(t, def); def != "" && err == nil {
		if t.Array == schema.Bounded || t.Array == schema.Unbounded {
			v.w.U32(uint32(len(values)))
		}
		for _, l := range values {
			if t.Kind == schema.String || t.Kind == schema.WString {
				v.write(t.Kind, l.Text, nil)
			} else {
				v.number(t.Kind.Size(), l.Bits)
			}
		}
		return
	}
	switch {
	case t.Array == schema.Fixed:
		for i := 0; i < t.Len && v.c.OK(); i++ {
			v.absent(element(t), "")
		}
	case t.Array != schema.Single:
		v.w.U32(0)
	case t.Kind == schema.Struct:
		if len(t.Message.Fields) == 0 && v.w.CDR() {
			v.w.U8(0)
		}
		for _, f := range t.Message.Fields {
			v.absent(f.Type, f.Default)
		}
	case t.Kind == schema.String || t.Kind == schema.WString:
		v.write(t.Kind, "", nil)
	case isNumber(t.Kind):
		v.number(t.Kind.Size(), 0)
	default:
		v.w.U32(0)
		v.w.U32(0)
	}
}

func (v *versionWalk) pair(typ *message.Type, src, dst *schema.Message) *versionPair {
	key := [2]*schema.Message{src, dst}
	if p, ok := v.g.known.Load(key); ok {
		return p.(*versionPair)
	}
	var rule *Rule
	if v.step.Rule != nil {
		rule = v.step.Rule(src, dst)
	}
	p, _ := v.g.known.LoadOrStore(key, pairVersions(typ, src, dst, rule))
	return p.(*versionPair)
}
