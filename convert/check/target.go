package check

import (
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/transcode"
)

// targetFindings are about types whose definition is another one in Options.Target.
func (c *checker) targetFindings(known mapping.Known) {
	if c.o.Target == nil {
		return
	}
	o := known.Options()
	o.Target, o.Distro = c.o.Target, known.SourceDistro
	m := mapping.New(o)
	const hint = "bagconv convert --types-to re-encodes its messages; bagconv defs changes drafts rules for it"
	for _, k := range c.kinds {
		if k.encoding != "ros1" && k.encoding != "cdr" {
			continue
		}
		g, err := m.Migration(&c.info.Topics[k.first].Topic, k.encoding)
		if err != nil {
			continue // definitionFindings reports it
		}
		var lost []string
		for _, p := range g.Plans {
			lost = append(append(append(lost, p.Dropped()...), p.Narrowed()...), p.Bounded()...)
		}
		place := c.o.Target.Place()
		switch {
		case g.Target == nil:
			c.add(Warning, "type-missing", k.topics[0], "rules can name the type that it is now", "%s has no %s%s", place, k.typ,
				k.others())
		case len(lost) > 0:
			c.add(Warning, "type-differs", k.topics[0], hint,
				"%s has another definition of %s, which has no place for all values of %s%s", place, k.typ, transcode.List(lost),
				k.others())
		case !g.Equal():
			c.add(Note, "type-differs", k.topics[0], hint, "%s has another definition of %s, into which all values fit%s", place,
				k.typ, k.others())
		default:
			continue
		}
		c.findings[len(c.findings)-1].Count = int64(len(k.topics))
	}
}
