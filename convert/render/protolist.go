package render

import "github.com/bagconv/bagconv/internal/wire/pb"

// messages writes a list of messages.
func (r *protoRun) messages(v *view, f *protoField, s slot, whole bool) error {
	if s.n > LongList && !whole && !r.arrays {
		r.flow("")
		r.note(noteLength, int(s.n))
		return nil
	}
	r.indent++
	next := s.first
	for i := range int(s.n) {
		o := r.found[next]
		next = o.next
		r.element(i)
		r.indent++
		if err := r.message(f.node, part(f, v.p, o), v.at+int(o.begin)); err != nil {
			return err
		}
		r.indent--
	}
	r.indent--
	r.endElements(int(s.n))
	return nil
}

// list writes a list of values, packed or not.
func (r *protoRun) list(v *view, f *protoField, s slot, whole bool) error {
	if !whole && !r.arrays {
		if n := r.length(v, f, s); n > LongList {
			r.note(noteLength, n)
			return nil
		}
	}
	r.buf = append(r.buf, '[')
	next, begun := s.first, false
	for range s.n {
		o := r.found[next]
		next = o.next
		p, at := v.p[o.begin:o.end], v.at+int(o.begin)
		if o.wire == f.wire {
			r.separate(&begun)
			if err := r.scalar(f, p, at, whole); err != nil {
				return err
			}
			continue
		}
		packed := pb.Content(f.num, o.wire, p)
		for len(packed) > 0 {
			r.separate(&begun)
			_, n := pb.Number(f.kind, packed)
			if n < 0 {
				return malformed(at, "a packed list ends within a number")
			}
			if err := r.scalar(f, packed[:n], at, whole); err != nil {
				return err
			}
			packed = packed[n:]
		}
	}
	r.buf = append(r.buf, ']')
	return nil
}

// separate writes a comma but for the first time.
func (r *protoRun) separate(begun *bool) {
	if *begun {
		r.comma()
	}
	*begun = true
}

// length is how many elements a list has.
func (r *protoRun) length(v *view, f *protoField, s slot) (n int) {
	next := s.first
	for range s.n {
		o := r.found[next]
		next = o.next
		if o.wire == f.wire {
			n++
			continue
		}
		p := pb.Content(f.num, o.wire, v.p[o.begin:o.end])
		n += pb.Count(f.wire, p)
	}
	return n
}
