package verify

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/schema"
)

// A group is the topics of one side that are compared as one: the publishers of
// a name and type. If a name and type has several definitions, each is a group.
type group struct {
	name, typ, encoding string
	recorded            string // the encoding in the recording, if a migration has another encoding
	shape               content.Shape
	members             []*member
	pair                *pair
	tried               int // how many groups it was tried with
}

// maxTried is how many groups of the other side a group is tried with, besides one of
// its own shape. More of one name are an attack on time, and stay without counterpart.
const maxTried = 100

// A groupKey is what the members of a group have in common.
type groupKey struct {
	name, typ, encoding string
	shape               content.Shape
}

// groupsOf groups the topics of a side, in their order.
func (l *linker) groupsOf(side int) []*group {
	var out []*group
	byKey := map[groupKey]*group{}
	for i := range l.info[side].Topics {
		if !l.chosen[side][i] {
			continue
		}
		m := l.define(side, &l.info[side].Topics[i])
		if side == 0 {
			l.migrate(m)
		}
		t := m.topic
		k := groupKey{name: t.Name, typ: t.Type, encoding: t.Encoding}
		if m.def != nil {
			k.shape = content.ShapeOf(content.Canonical(m.def.msg, true))
		}
		g := byKey[k]
		if g == nil {
			g = &group{name: t.Name, typ: t.Type, encoding: t.Encoding, recorded: l.info[side].Topics[i].Encoding,
				shape: k.shape}
			byKey[k] = g
			out = append(out, g)
		}
		g.members = append(g.members, m)
	}
	return out
}

// A pair is two groups that are compared, or one that has no counterpart.
type pair struct {
	groups [2]*group
	link   *link // nil: they cannot be compared
	notes  []note
	why    [2]string // link is nil: what the types are, if they differ
	pairCounts
}

// pairs finds for each group of A the one of B, by name and type as a conversion
// maps them.
func (l *linker) pairs() []*pair {
	as, bs := l.groupsOf(0), l.groupsOf(1)
	var out []*pair
	join := func(a, b *group, k *link) *pair {
		p := &pair{groups: [2]*group{a, b}, link: k}
		a.pair, b.pair = p, p
		out = append(out, p)
		return p
	}
	match := func(a *group, candidates []*group) *pair {
		for _, b := range candidates {
			if a.pair != nil {
				break
			}
			if b.pair != nil {
				continue
			}
			if a.tried++; a.tried > maxTried {
				return nil
			}
			if k, ok := l.link([2]*group{a, b}); ok {
				return join(a, b, k)
			}
		}
		return nil
	}
	// groups of the same definition first, then of the same type, then all
	for _, key := range []func(*group) groupKey{
		func(g *group) groupKey { return groupKey{name: g.name, typ: g.typ, shape: g.shape} },
		func(g *group) groupKey { return groupKey{name: g.name, typ: g.typ} },
		func(g *group) groupKey { return groupKey{name: g.name} },
	} {
		candidates := unpaired(bs, key)
		for _, a := range as {
			match(a, candidates[key(a)])
		}
	}
	l.renamed(as, bs, match)
	l.joinSameTarget(0, as)
	l.joinSameTarget(1, bs)
	named := unpaired(bs, func(b *group) groupKey { return groupKey{name: b.name} })
	for _, a := range as { // one name, and types that have nothing to do with each other
		if left := named[groupKey{name: a.name}]; a.pair == nil && len(left) > 0 {
			join(a, left[0], nil).why = typesOf(a, left[0])
			named[groupKey{name: a.name}] = left[1:]
		}
	}
	for side, groups := range [2][]*group{as, bs} {
		for _, g := range groups {
			if g.pair == nil {
				g.pair = &pair{link: l.unpaired(side, g)}
				g.pair.groups[side] = g
				out = append(out, g.pair)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y *pair) int { return cmp.Compare(x.name(), y.name()) })
	return out
}

// unpaired lists those groups by a key that have no counterpart yet.
func unpaired(groups []*group, key func(*group) groupKey) map[groupKey][]*group {
	out := map[groupKey][]*group{}
	for _, g := range groups {
		if g.pair == nil {
			out[key(g)] = append(out[key(g)], g)
		}
	}
	return out
}

var numbered = regexp.MustCompile(`^(.*)_[0-9]+$`)

// renamed matches what a format has renamed in which a name stands for one type, or
// which cannot have all names: /x_2 was /x, and unnamed had no name.
func (l *linker) renamed(as, bs []*group, match func(*group, []*group) *pair) {
	for side, sides := range [][2][]*group{{as, bs}, {bs, as}} {
		was := map[string][]*group{} // by the name that they may have had
		for _, g := range sides[1] {
			if g.pair != nil {
				continue
			}
			was[g.name] = append(was[g.name], g)
			if m := numbered.FindStringSubmatch(g.name); m != nil {
				was[m[1]] = append(was[m[1]], g)
			}
		}
		for _, from := range sides[0] {
			for _, to := range was[mapping.PlainName(from.name)] {
				if to.name == from.name || from.pair != nil || to.pair != nil {
					continue
				}
				a, b := from, to
				if side == 1 {
					a, b = to, from
				}
				if p := match(a, []*group{b}); p != nil {
					p.notes = append(p.notes, note{Renamed, fmt.Sprintf("%q is %q on the other side", from.name, to.name)})
				}
			}
		}
	}
}

// joinSameTarget adds groups without a counterpart to one of the same name whose counterpart is
// theirs too: a conversion makes one topic of all topics that get the same type, and a rosbag2
// folder has one definition for a type name, to which messages of the others are fitted.
func (l *linker) joinSameTarget(side int, groups []*group) {
	type key struct{ name, recorded string }
	linked := map[key][]*group{}
	for _, g := range groups {
		if p := g.pair; p != nil && p.link != nil && p.link.typ != nil {
			linked[key{g.name, g.recorded}] = append(linked[key{g.name, g.recorded}], g)
		}
	}
	for _, g := range groups {
		if g.pair != nil || g.members[0].def == nil {
			continue
		}
		for _, other := range linked[key{g.name, g.recorded}] {
			if g.tried++; g.tried > 2*maxTried {
				break
			}
			if p := other.pair; l.join(p, side, g) {
				other.members = append(other.members, g.members...)
				g.pair = p
				break
			}
		}
	}
}

// join makes the readers of one more group of a side of a pair, and reports whether
// there are any.
func (l *linker) join(p *pair, side int, g *group) bool {
	have := p.groups[side]
	if have.typ == g.typ && p.link.from < 0 {
		k := &link{typ: p.link.typ, notes: p.link.notes}
		if k.readAll(side, g, false) != nil {
			return false
		}
		p.link.readers[side] = append(p.link.readers[side], k.readers[side]...)
		p.link.notes = k.notes
		return true
	}
	if p.groups[1-side] == nil || p.link.both { // within one encoding nothing gets another type
		return false
	}
	ends := [2]*group{g, p.groups[1-side]}
	if side == 1 {
		ends = [2]*group{p.groups[0], g}
	}
	k, ok := l.link(ends)
	if !ok || k.typ == nil || k.from != p.link.from || content.ShapeOf(k.typ) != content.ShapeOf(p.link.typ) {
		return false
	}
	p.link.readers[side] = append(p.link.readers[side], k.readers[side]...)
	for _, n := range k.notes {
		p.link.note(n.code, "%s", n.message)
	}
	return true
}

// unpaired returns the program of a group without a counterpart, for its hash.
func (l *linker) unpaired(side int, g *group) *link {
	if g.members[0].def == nil || l.job.Level == Bytes {
		return &link{both: true, from: -1}
	}
	k := newLink(content.Canonical(g.members[0].def.msg, false), -1)
	k.both = true
	if k.readAll(side, g, true) != nil {
		return &link{both: true, from: -1}
	}
	return k
}

func (p *pair) name() string {
	if p.groups[0] != nil {
		return p.groups[0].name
	}
	return p.groups[1].name
}

// alike reports whether equal bytes on both sides are equal messages: all members of the groups have, behind their
// heads, one definition, and are read by one program.
func (p *pair) alike() bool {
	if p.link == nil || p.link.typ == nil || p.groups[0] == nil || p.groups[1] == nil {
		return false
	}
	first := p.link.readers[0][0]
	for _, readers := range p.link.readers {
		for _, r := range readers {
			if r.to != first.to || r.strict != first.strict || !r.from.equal(first.from) {
				return false
			}
		}
	}
	// Of two encodings in the recordings, each side has to tell what the other one cannot hold.
	return p.groups[0].encoding == p.groups[1].encoding || !limited(first.from.msg, map[*schema.Message]bool{})
}

// limited reports whether not every encoding can hold all values of a type: its times and wide strings.
func limited(m *schema.Message, seen map[*schema.Message]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	return m.TimeKind() != schema.Invalid || slices.ContainsFunc(m.Fields, func(f schema.Field) bool {
		k := f.Type.Kind
		return k == schema.Time || k == schema.Duration || k == schema.WString ||
			k == schema.Struct && limited(f.Type.Message, seen)
	})
}

// program returns the program of a member of a group.
func (p *pair) program(side, i int, full bool) mapping.Program {
	d := &digester{full: full, strict: p.link != nil && !p.link.both}
	if !full && p.shortcut != nil {
		d.shortcut, d.hashed = p.shortcut, side == 1
	}
	if p.link != nil && p.link.typ != nil {
		r := *p.link.readers[side][i]
		if other := p.groups[1-side]; other != nil && other.encoding != p.groups[side].encoding {
			switch other.encoding {
			case "ros1":
				r.program = r.program.Within(serial.ROS1)
			case "cdr":
				r.program = r.program.Within(serial.CDR)
			case "protobuf":
				r.program = r.program.Within(serial.Protobuf)
			}
		}
		d.reader, d.seq = &r, p.link.seq
	}
	return d
}
