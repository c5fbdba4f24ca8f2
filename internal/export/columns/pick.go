package columns

import (
	"strings"

	"github.com/bagconv/bagconv/internal/message"
)

// A pick says which fields of a struct are kept: no fields with a nil pick, all fields with a whole
// one.
type pick struct {
	whole bool
	sub   map[*message.Field]*pick
}

var wholePick = &pick{whole: true}

// of returns the pick of a field; nil: it is not kept.
func (p *pick) of(f *message.Field) *pick {
	if p == nil || p.whole {
		return p
	}
	return p.sub[f]
}

// picksOf resolves the paths of Options.
func picksOf(t *message.Type, o Options) (*pick, error) {
	var rows *message.Field
	if o.Explode != "" {
		steps, err := t.Resolve(o.Explode)
		if err != nil {
			return nil, err
		}
		if f := steps[0].Field; len(steps) > 1 || steps[0].Index >= 0 || !f.List || f.Lone {
			return nil, &message.PathError{Path: o.Explode,
				What: "only a list of the message itself can be exploded, by its name"}
		}
		rows = steps[0].Field
	}
	if o.Columns == nil {
		return wholePick, nil
	}
	root := &pick{sub: map[*message.Field]*pick{}}
	for _, path := range o.Columns {
		steps, err := t.Resolve(path)
		if err != nil {
			return nil, err
		}
		if strings.Contains(path, "[") {
			return nil, &message.PathError{Path: path, What: "a column has all elements of a list; name it without an index"}
		}
		root.add(steps)
	}
	if rows != nil && root.of(rows) == nil {
		return nil, &message.PathError{Path: o.Explode, What: "it is exploded, but not among the columns; name it there, too"}
	}
	return root, nil
}

// add keeps the field that steps lead to.
func (p *pick) add(steps []message.Step) {
	for i, s := range steps {
		sub := p.sub[s.Field]
		switch {
		case sub != nil && sub.whole:
			return
		case i == len(steps)-1:
			p.sub[s.Field] = wholePick
			return
		case sub == nil:
			sub = &pick{sub: map[*message.Field]*pick{}}
			p.sub[s.Field] = sub
		}
		p = sub
	}
}
