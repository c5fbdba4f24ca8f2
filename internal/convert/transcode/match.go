package transcode

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/schema"
)

// A slot is a field, or a part of a field, that finds its counterpart by path.
type slot struct {
	path string
	typ  schema.Type
	def  string // text of its default
	seq  bool   // the counter of a ROS 1 Header
}

// slots lists the fields of a struct. Fields that a rule looks into are replaced
// by their parts.
func slots(m *schema.Message, prefix string, prefixes map[string]bool, out []slot) []slot {
	for i, f := range m.Fields {
		path := prefix + f.Name
		if prefixes[path] && f.Type.Array == schema.Single && f.Type.Kind == schema.Struct && len(f.Type.Message.Fields) > 0 {
			out = slots(f.Type.Message, path+".", prefixes, out)
			continue
		}
		out = append(out, slot{path, f.Type, f.Default, facts.IsSeq(m, i)})
	}
	return out
}

// prefixes lists the paths of structs that paths lead into.
func prefixes(paths []string) map[string]bool {
	out := map[string]bool{}
	for _, p := range paths {
		for i := range p {
			if p[i] == '.' {
				out[p[:i]] = true
			}
		}
	}
	return out
}

// A pairing is what each destination slot is made of.
type pairing struct {
	src, dst []slot
	from     []int           // index into src for each of dst, or -1
	rules    []From          // of each of dst; the zero value if it is found by its name
	ordered  bool            // from ascends: one walk over the source is enough
	looksIn  bool            // a rule looks into structs of the source
	dropped  map[string]bool // Rule.Drop
}

func pair(src, dst *schema.Message, rule *Rule, migrate bool) (*pairing, error) {
	var paths []string
	if rule != nil {
		for path, f := range rule.Fields {
			paths = append(paths, path, f.Path)
		}
		for path := range rule.Drop {
			paths = append(paths, path)
		}
	}
	open := prefixes(paths) // on both sides: what lies beside a path must still find its counterpart
	p := &pairing{src: slots(src, "", open, nil), dst: slots(dst, "", open, nil), ordered: true}
	exact, folded := map[string]int{}, map[string]int{}
	for i, s := range p.src {
		p.looksIn = p.looksIn || strings.Contains(s.path, ".")
		exact[s.path] = i
		if _, ok := folded[strings.ToLower(s.path)]; !ok {
			folded[strings.ToLower(s.path)] = i
		}
	}
	used := map[int]bool{}
	last := -1
	for _, d := range p.dst {
		var i int
		var ok bool
		f, named := ruleFor(rule, d.path)
		if named && f.Path != "" {
			if i, ok = exact[f.Path]; !ok {
				return nil, fmt.Errorf("%s has no field %s", src.Name, f.Path)
			}
		} else if named {
			i = -1
		} else if i, ok = exact[d.path]; !ok {
			i, ok = folded[strings.ToLower(d.path)]
		}
		switch {
		case !ok, used[i] && !named, migrate && !named && !becomes(p.src[i].typ, d.typ):
			i = -1
		default:
			used[i] = true
			p.ordered = p.ordered && i > last
			last = i
		}
		p.from, p.rules = append(p.from, i), append(p.rules, f)
	}
	return p, nil
}

func ruleFor(r *Rule, path string) (From, bool) {
	if r == nil {
		return From{}, false
	}
	f, ok := r.Fields[path]
	return f, ok
}

// pair pairs two structs, once however often they are met.
func (c *compiler) pair(src, dst *schema.Message) (*pairing, error) {
	k := [2]*schema.Message{src, dst}
	if p := c.pairings[k]; p != nil {
		return p, nil
	}
	var rule *Rule
	if c.rule != nil {
		rule = c.rule(src, dst)
	}
	p, err := pair(src, dst, rule, c.migrate)
	if p != nil && rule != nil {
		p.dropped = rule.Drop
	}
	if err == nil {
		c.pairings[k] = p
	}
	return p, err
}

// structure compiles one struct.
func (c *compiler) structure(src, dst *schema.Message, path string) error {
	if t, ok := facts.TimeIn(src, dst); ok {
		return c.inside(src, func() error { return c.time(t, schema.Type{Kind: schema.Struct, Message: dst}) })
	}
	if t, ok := facts.TimeIn(dst, src); ok {
		return c.inside(src, func() error { return c.time(schema.Type{Kind: schema.Struct, Message: src}, t) })
	}
	p, err := c.pair(src, dst)
	if err != nil {
		return err
	}
	if c.work += len(p.src); c.work > maxWork {
		return errTooLarge
	}
	if p.looksIn && c.from.Delimited {
		return fmt.Errorf("%s cannot be read from delimited CDR", src.Name)
	}
	if path != "" {
		path += "."
	}
	drops := c.note(p, path)
	return c.inside(src, func() error { return c.fields(p, dst, drops, path) })
}

// inside compiles what is between the start and the end of a source struct.
func (c *compiler) inside(src *schema.Message, fields func() error) error {
	if err := c.enter(src); err != nil {
		return err
	}
	if err := fields(); err != nil {
		return err
	}
	return c.leave(true)
}

// fields compiles the fields of a struct.
func (c *compiler) fields(p *pairing, dst *schema.Message, drops []uint16, path string) error {
	if len(dst.Fields) == 0 && c.to.Filler {
		if err := c.zeros(1, 1); err != nil {
			return err
		}
	}
	if !p.ordered {
		return c.shuffled(p, drops, path)
	}
	next := 0
	for k, d := range p.dst {
		i := p.from[k]
		if i < 0 {
			if err := c.absent(d, p.rules[k], path); err != nil {
				return err
			}
			continue
		}
		for ; next < i; next++ {
			if err := c.skip(p.src[next].typ, drops[next]); err != nil {
				return err
			}
		}
		if err := c.transfer(p.src[i].typ, d.typ, &p.rules[k], path+d.path); err != nil {
			return err
		}
		next++
	}
	for ; next < len(p.src); next++ {
		if err := c.skip(p.src[next].typ, drops[next]); err != nil {
			return err
		}
	}
	return nil
}

// shuffled compiles a struct whose fields stand in another order: a first walk
// marks where each one is, then they are fetched in the destination's order.
func (c *compiler) shuffled(p *pairing, drops []uint16, path string) error {
	needed := map[int]bool{len(p.src): true}
	for _, i := range p.from {
		needed[i] = true
	}
	mark, at := map[int]int{}, map[int]phase{}
	for i := range len(p.src) + 1 {
		if needed[i] {
			if c.marks == maxMarks {
				return errTooLarge
			}
			mark[i], at[i] = c.marks, c.s
			if err := c.emit(op{code: opMark, a: c.marks}); err != nil {
				return err
			}
			c.marks++
		}
		if i < len(p.src) {
			if err := c.skip(p.src[i].typ, drops[i]); err != nil {
				return err
			}
		}
	}
	seek := func(i int) error {
		c.s = at[i]
		return c.emit(op{code: opSeek, a: mark[i]})
	}
	for k, d := range p.dst {
		i := p.from[k]
		if i < 0 {
			if err := c.absent(d, p.rules[k], path); err != nil {
				return err
			}
			continue
		}
		if err := seek(i); err != nil {
			return err
		}
		if err := c.transfer(p.src[i].typ, d.typ, &p.rules[k], path+d.path); err != nil {
			return err
		}
	}
	return seek(len(p.src))
}

// note keeps what one side has alone. For each field of the source it returns the
// number of the dropped field, 0 for fields that are not dropped.
func (c *compiler) note(p *pairing, path string) []uint16 {
	drops := make([]uint16, len(p.src))
	used := map[int]bool{}
	for k, i := range p.from {
		used[i] = true
		if d := p.dst[k]; i < 0 && !d.seq {
			if c.defaultOf(d, p.rules[k]) != "" {
				c.notes.defaulted.add(path + d.path)
			} else {
				c.notes.added.add(path + d.path)
			}
		}
	}
	for i, s := range p.src {
		switch {
		case used[i], p.dropped[s.path]:
		case s.seq:
			c.notes.seq = true
		default:
			drops[i] = c.notes.dropped.add(path + s.path)
		}
	}
	return drops
}
