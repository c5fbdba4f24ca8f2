package verify

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
)

// A group is the topics of one side that are compared as one: the publishers of
// a name and type. Where a name and type has several definitions, each is a group.
type group struct {
	name, typ, encoding string
	members             []*member
	pair                *pair
}

// A groupKey is what the members of a group have in common.
type groupKey struct {
	name, typ, encoding string
	shape               shape
}

// groupsOf groups the topics of a side, in their order.
func (l *linker) groupsOf(side int) []*group {
	var out []*group
	byKey := map[groupKey]*group{}
	for i := range l.info[side].Topics {
		if !l.taken[side][i] {
			continue
		}
		t := &l.info[side].Topics[i]
		m := &member{topic: t}
		k := groupKey{name: t.Name, typ: t.Type, encoding: t.Encoding}
		if l.job.Level != Bytes {
			m = l.decode(side, t)
			if m.dec != nil {
				k.shape = shapeOf(canonical(m.dec.Message, true))
			}
		}
		g := byKey[k]
		if g == nil {
			g = &group{name: t.Name, typ: t.Type, encoding: t.Encoding}
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
	counted
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
	named := map[string][]*group{}
	for _, b := range bs {
		named[b.name] = append(named[b.name], b)
	}
	match := func(a *group, candidates []*group) *pair {
		for _, b := range candidates {
			if b.pair != nil {
				continue
			}
			if k, ok := l.link([2]*group{a, b}); ok {
				return join(a, b, k)
			}
		}
		return nil
	}
	for _, a := range as {
		match(a, named[a.name])
	}
	l.renamed(as, bs, match)
	l.adopt(as)
	l.adopt(bs)
	for _, a := range as { // one name, and types that have nothing to do with each other
		for _, b := range named[a.name] {
			if a.pair == nil && b.pair == nil {
				join(a, b, nil)
			}
		}
	}
	for side, groups := range [2][]*group{as, bs} {
		for _, g := range groups {
			if g.pair == nil {
				g.pair = &pair{link: l.alone(side, g)}
				g.pair.groups[side] = g
				out = append(out, g.pair)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y *pair) int { return cmp.Compare(x.name(), y.name()) })
	return out
}

var numbered = regexp.MustCompile(`^(.*)_[0-9]+$`)

// renamed matches what a format has renamed in which a name stands for one type:
// /x_2 was /x.
func (l *linker) renamed(as, bs []*group, match func(*group, []*group) *pair) {
	for side, sides := range [][2][]*group{{as, bs}, {bs, as}} {
		was := map[string][]*group{} // by the name that they may have had
		for _, g := range sides[1] {
			if m := numbered.FindStringSubmatch(g.name); m != nil && g.pair == nil {
				was[m[1]] = append(was[m[1]], g)
			}
		}
		for _, from := range sides[0] {
			for _, to := range was[from.name] {
				if from.pair != nil || to.pair != nil {
					continue
				}
				a, b := from, to
				if side == 1 {
					a, b = to, from
				}
				if p := match(a, []*group{b}); p != nil {
					p.notes = append(p.notes, note{Renamed, fmt.Sprintf("%s is %s on the other side", from.name, to.name)})
				}
			}
		}
	}
}

// adopt adds groups without a counterpart to one of the same name and type whose
// definition is another: a rosbag2 folder has one definition for a type name, and
// conversions fit the messages of the others to it.
func (l *linker) adopt(groups []*group) {
	for _, g := range groups {
		if g.pair != nil {
			continue
		}
		for _, other := range groups {
			p := other.pair
			if p == nil || p.link == nil || p.link.typ == nil || p.link.mapped || other.name != g.name || other.typ != g.typ || other.encoding != g.encoding || g.members[0].dec == nil {
				continue
			}
			side := 0
			if p.groups[1] == other {
				side = 1
			}
			var progs []chainOf
			for _, m := range g.members {
				c, err := p.link.fit(m.dec, nil)
				if err != nil {
					break
				}
				progs = append(progs, c)
			}
			if len(progs) < len(g.members) {
				continue
			}
			p.link.progs[side] = append(p.link.progs[side], progs...)
			other.members = append(other.members, g.members...)
			g.pair = p
			break
		}
	}
}

// alone is the program of a group without a counterpart, for its hash.
func (l *linker) alone(side int, g *group) *link {
	k := &link{both: true}
	if g.members[0].dec == nil {
		return k
	}
	k.typ = canonical(g.members[0].dec.Message, false)
	for _, m := range g.members {
		p, err := k.fit(m.dec, nil)
		if err != nil {
			return &link{both: true}
		}
		k.progs[side] = append(k.progs[side], p)
	}
	return k
}

func (p *pair) name() string {
	if p.groups[0] != nil {
		return p.groups[0].name
	}
	return p.groups[1].name
}

// program is that of a member of a group.
func (p *pair) program(side, i int, full bool) mapping.Program {
	d := &digester{full: full, strict: p.link != nil && !p.link.both}
	if p.link != nil && p.link.typ != nil {
		d.chain, d.normal, d.strip = p.link.progs[side][i], p.normal, p.link.strip
	}
	return d
}
