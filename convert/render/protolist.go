package render

import "google.golang.org/protobuf/encoding/protowire"

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
		packed, _ := protowire.ConsumeBytes(p)
		for len(packed) > 0 {
			r.separate(&begun)
			n := width(f, packed)
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

// width is how many bytes the number at the start of p takes, negative when it
// is cut.
func width(f *protoField, p []byte) int {
	switch f.wire {
	case protowire.Fixed32Type:
		_, n := protowire.ConsumeFixed32(p)
		return n
	case protowire.Fixed64Type:
		_, n := protowire.ConsumeFixed64(p)
		return n
	}
	_, n := protowire.ConsumeVarint(p)
	return n
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
		p, _ := protowire.ConsumeBytes(v.p[o.begin:o.end])
		switch f.wire {
		case protowire.Fixed32Type:
			n += len(p) / 4
		case protowire.Fixed64Type:
			n += len(p) / 8
		default:
			for _, c := range p {
				if c < 0x80 {
					n++
				}
			}
		}
	}
	return n
}
