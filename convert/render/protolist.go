package render

import "github.com/bagconv/bagconv/internal/wire/pb"

// messages writes a list of messages.
func (r *protoRun) messages(v *view, i int, whole bool) error {
	n := r.x.Count(&v.View, i)
	if n > LongList && !whole && !r.arrays {
		r.flow("")
		r.note(noteLength, n)
		return nil
	}
	f := &v.n.fields[i]
	r.indent++
	o := r.x.First(&v.View, i)
	for k := range n {
		r.element(k)
		r.indent++
		if err := r.message(f.node, v.Content(f.Field, &o), v.at+int(o.Begin)); err != nil {
			return err
		}
		r.indent--
		o = r.x.Next(o)
	}
	r.indent--
	r.endElements(n)
	return nil
}

// list writes a list of values, packed or not.
func (r *protoRun) list(v *view, i int, whole bool) error {
	if !whole && !r.arrays {
		if n := r.length(v, i); n > LongList {
			r.note(noteLength, n)
			return nil
		}
	}
	r.buf = append(r.buf, '[')
	begun := false
	err := r.values(v, i, func(p []byte, at int) error {
		if begun {
			r.comma()
		}
		begun = true
		return r.scalar(&v.n.fields[i], p, at, whole)
	})
	r.buf = append(r.buf, ']')
	return err
}

// values calls do for each value of a list of what are not messages, packed or not, until
// it returns an error.
func (r *protoRun) values(v *view, i int, do func(p []byte, at int) error) error {
	f := &v.n.fields[i]
	for o := r.x.First(&v.View, i); !o.None(); o = r.x.Next(o) {
		at := v.at + int(o.Begin)
		if !f.Packs {
			if err := do(v.Message[o.Begin:o.End], at); err != nil {
				return err
			}
			continue
		}
		for p := v.Numbers(f.Field, &o); len(p) > 0; {
			_, n := pb.Number(f.Kind, p)
			if n < 0 {
				return malformed(at, "a packed list ends within a number")
			}
			if err := do(p[:n], at); err != nil {
				return err
			}
			p = p[n:]
		}
	}
	return nil
}

// length returns how many elements a list has.
func (r *protoRun) length(v *view, i int) (n int) {
	f := &v.n.fields[i]
	if !f.Packs {
		return r.x.Count(&v.View, i)
	}
	for o := r.x.First(&v.View, i); !o.None(); o = r.x.Next(o) {
		n += pb.Count(f.Wire, v.Numbers(f.Field, &o))
	}
	return n
}
