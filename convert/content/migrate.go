package content

import (
	"sync"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
)

// A Version is one step of a migration: from a definition to another one of the type.
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

// A Migration makes messages those of another version of their type, as docs/migration.md
// describes it. It is the second way besides the programs of a conversion, which it judges: for each
// field of the target it looks for the place of its value in the source, and copies that.
type Migration struct {
	steps    []Version
	from, to schema.Encoding
	known    sync.Map // [2]*schema.Message to *versionPair
}

// NewMigration returns the migration by way of these versions. Only the last step changes the
// encoding.
func NewMigration(steps []Version, from, to schema.Encoding) (*Migration, error) {
	var size schema.Measure
	for _, s := range steps {
		if size.Least(schema.Type{Kind: schema.Struct, Message: s.Target}) > maxZero {
			return nil, errTooLarge
		}
	}
	return &Migration{steps: steps, from: from, to: to}, nil
}

// SizeHint returns how many bytes a message of n bytes becomes, about.
func (g *Migration) SizeHint(n int) int { return n + n/2 + 64 }

// Append writes a message as one of the last version at the end of dst. The error wraps ErrMalformed.
func (g *Migration) Append(dst, src []byte) ([]byte, error) {
	for i, s := range g.steps {
		last := i == len(g.steps)-1
		to, out := g.from, []byte(nil)
		if last {
			to, out = g.to, dst
		}
		w := versionWalk{g: g, step: s, w: ros.NewWriter(out, to == schema.CDR), limit: len(out) + maxExtra + maxGrowth*len(src), fuel: 16 * maxFuel}
		if c := xtypes.New(s.Source); g.from == schema.CDR && c.Needed(src) {
			var err error
			if src, _, _, err = c.Plain(nil, src); err != nil {
				return dst, misfit(err)
			}
		}
		if err := w.r.Open(src, g.from == schema.CDR); err != nil {
			return dst, misfit(err)
		}
		w.crossing = g.from != to
		w.structure(s.Source, s.Target)
		if g.from == schema.ROS1 && w.r.Len() > 0 {
			w.r.Fail("%d bytes are left over", w.r.Len())
		}
		if err := w.r.Err(); err != nil {
			return dst, misfit(err)
		}
		src = w.w.Buf
	}
	return src, nil
}

// A versionWalk is a message on its way through one step.
type versionWalk struct {
	g        *Migration
	step     Version
	r        ros.Reader
	w        ros.Writer
	limit    int
	fuel     int
	crossing bool // the encoding changes
}

// structure makes a struct one of another version. First it walks over the source, to find where the
// fields are; then it goes to each that the target has.
func (v *versionWalk) structure(src, dst *schema.Message) {
	if len(v.w.Buf) > v.limit {
		v.r.Fail("too many values: the message would be out of proportion")
		return
	}
	defer v.spend(v.r.Pos())
	if t, ok := src.TimeIn(dst); ok {
		end := v.r.Struct()
		v.time(t, schema.Type{Kind: schema.Struct, Message: dst})
		v.r.End(end)
		return
	}
	if t, ok := dst.TimeIn(src); ok {
		end := v.r.Struct()
		v.time(schema.Type{Kind: schema.Struct, Message: src}, t)
		v.r.End(end)
		return
	}
	p := v.pair(src, dst)
	if p.looksIn && v.r.Delimited {
		v.r.Fail("a rule looks into %s, which delimited CDR does not have as fields", src.Name)
		return
	}
	end := v.r.Struct()
	if len(src.Fields) == 0 && v.r.Filler {
		v.r.U8()
	}
	at := make([]int, len(p.src))
	for i, s := range p.src {
		at[i] = v.r.Pos()
		v.skip(s.typ)
	}
	behind := v.r.Pos()
	if len(dst.Fields) == 0 && v.w.CDR() {
		v.w.U8(0)
	}
	for _, m := range p.moves {
		if m.from < 0 {
			v.absent(m.typ, m.def)
			continue
		}
		v.r.Seek(at[m.from])
		v.transfer(p.src[m.from].typ, m.typ, m.origin)
		if !v.r.OK() {
			return
		}
	}
	v.r.Seek(behind)
	v.r.End(end)
}

// spend counts the structs that take no bytes. from is where one began.
func (v *versionWalk) spend(from int) {
	if v.r.Pos() > from {
		return
	}
	if v.fuel--; v.fuel < 0 {
		v.r.Fail("too many values that take no bytes")
	}
}

// skip steps over a field.
func (v *versionWalk) skip(t schema.Type) {
	n := v.count(t)
	one := element(t)
	if isNumber(t.Kind) {
		v.r.Numbers(n, t.Kind.Size())
		return
	}
	for i := 0; i < n && v.r.OK(); i++ {
		switch {
		case t.Kind == schema.String:
			v.r.Bytes()
		case t.Kind == schema.WString:
			v.r.SkipWide()
		case t.Kind == schema.Struct:
			v.skipStruct(one.Message)
		default: // a time of ROS 1
			v.r.Numbers(2, 4)
		}
	}
}

func (v *versionWalk) skipStruct(m *schema.Message) {
	defer v.spend(v.r.Pos())
	end := v.r.Struct()
	if len(m.Fields) == 0 && v.r.Filler {
		v.r.U8()
	}
	for _, f := range m.Fields {
		v.skip(f.Type)
	}
	v.r.End(end)
}

// count reads how many values a field has.
func (v *versionWalk) count(t schema.Type) int {
	if t.Array == schema.Single {
		return 1
	}
	if !isNumber(t.Kind) {
		v.r.Size()
	}
	if t.Array == schema.Fixed {
		return t.Len
	}
	least := map[bool]int{true: t.Kind.Size(), false: 4}[isNumber(t.Kind)]
	if t.Kind == schema.Struct {
		least = 0
	}
	return v.r.Count(least)
}

// transfer makes a value, an array or a list one of another type that it can become.
func (v *versionWalk) transfer(src, dst schema.Type, o Origin) {
	n := v.count(src)
	if !v.r.OK() {
		return
	}
	kept := n
	if dst.Array == schema.Single {
		dst.Array, dst.Len = schema.Fixed, 1 // the same bytes
	}
	if dst.Array == schema.Fixed || dst.Array == schema.Bounded && (src.Array != schema.Bounded || src.Len > dst.Len) {
		kept = min(n, dst.Len)
	}
	if dst.Array == schema.Bounded || dst.Array == schema.Unbounded {
		v.w.U32(uint32(kept))
	}
	one, to := element(src), element(dst)
	if isNumber(src.Kind) {
		v.numbers(v.r.Numbers(n, src.Kind.Size()), kept, one.Kind, to.Kind, o)
	} else {
		for i := 0; i < n && v.r.OK(); i++ {
			if i >= kept {
				v.skip(one)
				continue
			}
			v.single(one, to)
		}
	}
	for i := kept; dst.Array == schema.Fixed && i < dst.Len && v.r.OK(); i++ {
		v.absent(to, "")
	}
}

// single makes a value that is no number one of another type.
func (v *versionWalk) single(src, dst schema.Type) {
	switch {
	case src.TimeKind() != schema.Invalid && dst.TimeKind() != schema.Invalid:
		if src.Kind == schema.Struct {
			end := v.r.Struct()
			v.time(src, dst)
			v.r.End(end)
		} else {
			v.time(src, dst)
		}
	case src.Kind == schema.Struct:
		v.structure(src.Message, dst.Message)
	default:
		v.text(src, dst)
	}
}

// absent writes a field that the source does not have: its default, else zero.
func (v *versionWalk) absent(t schema.Type, def string) {
	if len(v.w.Buf) > v.limit {
		v.r.Fail("the message would be out of proportion")
		return
	}
	if values, err := schema.Literals(t, def); def != "" && err == nil {
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
		for i := 0; i < t.Len && v.r.OK(); i++ {
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

func (v *versionWalk) pair(src, dst *schema.Message) *versionPair {
	key := [2]*schema.Message{src, dst}
	if p, ok := v.g.known.Load(key); ok {
		return p.(*versionPair)
	}
	var rule *Rule
	if v.step.Rule != nil {
		rule = v.step.Rule(src, dst)
	}
	p, _ := v.g.known.LoadOrStore(key, pairVersions(src, dst, rule))
	return p.(*versionPair)
}
