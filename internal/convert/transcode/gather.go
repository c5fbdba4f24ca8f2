package transcode

import (
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// gather writes a message whose fields come in any order: they are found first, and
// then written in the order of the struct. Messages like this are rare.
func (r *fromRun) gather(n *node, p []byte, at int) error {
	var v pb.View
	if wrong := r.index.Open(&v, n.typ, p); wrong != nil {
		return r.bad(at+wrong.At, wrong.What)
	}
	for i := range n.slots {
		if err := r.fetch(&n.slots[i], &v, i, at); err != nil {
			return err
		}
	}
	r.index.Close(&v)
	return nil
}

// fetch writes slot i.
func (r *fromRun) fetch(s *slotProgram, v *pb.View, i, at int) error {
	switch {
	case s.form == protoschema.OneCase:
		num := uint32(0)
		if m := r.index.Case(v, s.Oneof); m >= 0 {
			num = uint32(v.Type.Fields[m].Num)
		}
		r.w.U32(num)
	case r.index.Count(v, i) == 0:
		r.absent(s, 0)
	case s.list != schema.Single:
		head, count := r.beginList(s), 0
		for o := r.index.First(v, i); !o.None(); o = r.index.Next(v, o) {
			k, err := r.element(s, o.Wire, v.Message[o.Begin:o.End], at+int(o.Begin))
			if err != nil {
				return err
			}
			count += k
		}
		return r.endList(s, head, count, at)
	case s.Parts:
		content, from, wrong := r.index.Joined(v, i)
		if wrong != nil {
			return r.bad(at+wrong.At, wrong.What)
		}
		return r.content(s, content, at+from)
	default:
		begin, end, _ := r.index.Single(v, i)
		return r.value(s, v.Message[begin:end], at+begin)
	}
	return nil
}
