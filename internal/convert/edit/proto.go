package edit

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// maxDepth is how deep messages may be nested.
const maxDepth = 128

// proto writes a message of protobuf.
func (w *walk) proto(dst, src []byte) ([]byte, error) {
	out := w.message(dst, src, w.p.typ, w.p.root, 0)
	return out, w.err
}

// malformed keeps the error of a message that is no message of protobuf.
func (w *walk) malformed(at int, what string) {
	if w.err == nil {
		w.err = &ros.Error{Offset: at, What: what}
	}
}

// message appends a message whose fields may change.
func (w *walk) message(dst, p []byte, t *message.Type, n *node, depth int) []byte {
	if depth > maxDepth {
		w.malformed(0, "messages are nested more than 128 deep")
		return dst
	}
	var done map[int]bool // fields that were written
	s := pb.Scan(p)
	for from := 0; s.Next() && w.err == nil; from = s.End() {
		i := t.Wire().Find(s.Num)
		if i < 0 || n.actions[i] == nil || !t.Wire().Fields[i].Takes(s.Wire) {
			dst = append(dst, p[from:s.End()]...)
			continue
		}
		if done[i] {
			continue
		}
		if done == nil {
			done = map[int]bool{}
		}
		done[i] = true
		dst = w.occurrences(dst, p[from:], &t.Fields[i], &t.Wire().Fields[i], n.actions[i], depth)
	}
	if at, what := s.Wrong(); what != "" {
		w.malformed(at, what)
	}
	for i, a := range n.actions {
		if a != nil && !done[i] && w.err == nil {
			dst = w.occurrences(dst, nil, &t.Fields[i], &t.Wire().Fields[i], a, depth)
		}
	}
	return dst
}

// occurrences appends what becomes of all values of a field, the first of which p begins with; no bytes: the message
// does not have the field.
func (w *walk) occurrences(dst, p []byte, f *message.Field, x *pb.Field, a *action, depth int) []byte {
	switch {
	case a.drop:
		w.note(a, len(p) > 0)
	case f.List && f.Size > 0:
		return w.protoNumbers(dst, p, f, x, a)
	case f.List:
		return w.protoList(dst, p, f, x, a, depth)
	default:
		return w.protoOne(dst, p, f, x, a, depth)
	}
	return dst
}

// each visits the values of a field.
func (w *walk) each(p []byte, x *pb.Field, visit func(s *pb.Scanner)) {
	s := pb.Scan(p)
	for s.Next() && w.err == nil {
		if s.Num == x.Num && x.Takes(s.Wire) {
			visit(&s)
		}
	}
}

// protoOne appends a single value. Of several the last one counts, and the parts of a message are one message.
func (w *walk) protoOne(dst, p []byte, f *message.Field, x *pb.Field, a *action, depth int) []byte {
	var old []byte // the value, or the content of the message
	count := 0
	w.each(p, x, func(s *pb.Scanner) {
		if count++; a.sub == nil {
			old = s.Value()
		} else if count == 1 {
			old = s.Content()
		} else {
			old = append(old[:len(old):len(old)], s.Content()...)
		}
	})
	if a.sub == nil {
		return w.protoValue(dst, old, count > 0, f, x, a)
	}
	if count == 0 && !a.sub.absent {
		return dst
	}
	if count > 1 && x.Oneof >= 0 {
		w.refuse("%s is in a oneof and comes %d times", f.Name, count)
		return dst
	}
	before := len(dst)
	if dst = w.within(dst, old, f, x, a.sub, depth); count == 0 && len(dst) == before+protowire.SizeTag(x.Num)+1 {
		return dst[:before] // nothing is in it
	}
	return dst
}

// within appends a message that is a field.
func (w *walk) within(dst, content []byte, f *message.Field, x *pb.Field, n *node, depth int) []byte {
	if x.Kind == protoreflect.GroupKind {
		dst = protowire.AppendTag(dst, x.Num, protowire.StartGroupType)
		dst = w.message(dst, content, f.Type, n, depth+1)
		return protowire.AppendTag(dst, x.Num, protowire.EndGroupType)
	}
	dst = append(protowire.AppendTag(dst, x.Num, protowire.BytesType), 0)
	head := len(dst) - 1
	return pb.EndBytes(w.message(dst, content, f.Type, n, depth+1), head)
}

// protoValue appends a number, text, bytes or a time.
func (w *walk) protoValue(dst, old []byte, had bool, f *message.Field, x *pb.Field, a *action) []byte {
	before := len(dst)
	var text string
	if f.Kind == message.Text || f.Kind == message.Bytes {
		_, byDefault := f.Default()
		if text = string(byDefault); had {
			content, _ := protowire.ConsumeBytes(old)
			text = string(content)
		}
	}
	was := text
	switch {
	case a.set == 0 && !had:
		return dst // a frame that is not set
	case f.Kind == message.Text || f.Kind == message.Bytes:
		if a.set > 0 {
			v, i := w.setting(a)
			text = v.Texts[i]
			w.note(a, text != was)
		}
		text = w.frame(a, text)
		if text == "" && !f.Presence && !had {
			return dst
		}
		return protowire.AppendString(protowire.AppendTag(dst, x.Num, x.Wire), text)
	case f.Clock != schema.Invalid:
		v, i := w.setting(a)
		dst = appendClock(protowire.AppendTag(dst, x.Num, x.Wire), v.Bits[2*i], v.Bits[2*i+1])
	default:
		v, i := w.setting(a)
		bits, _ := f.Default()
		if had {
			bits, _ = pb.Number(x.Kind, old)
		}
		w.note(a, !same(f, bits, v.Bits[i]))
		if v.Bits[i] == 0 && !f.Presence && !had {
			return dst
		}
		return pb.AppendNumber(protowire.AppendTag(dst, x.Num, x.Wire), x.Kind, v.Bits[i])
	}
	w.note(a, string(dst[before+protowire.SizeTag(x.Num):]) != string(old))
	return dst
}

// appendClock appends a Timestamp or Duration with its length.
func appendClock(dst []byte, sec, nsec uint64) []byte {
	dst = append(dst, 0)
	head := len(dst) - 1
	for i, v := range []uint64{sec, nsec} {
		if v != 0 {
			dst = protowire.AppendVarint(protowire.AppendTag(dst, protowire.Number(i+1), protowire.VarintType), v)
		}
	}
	return pb.EndBytes(dst, head)
}

// protoNumbers appends a list of numbers.
func (w *walk) protoNumbers(dst, p []byte, f *message.Field, x *pb.Field, a *action) []byte {
	var list []uint64
	w.each(p, x, func(s *pb.Scanner) {
		values := s.Value()
		if s.Wire == protowire.BytesType {
			values = s.Content()
		}
		for len(values) > 0 {
			bits, n := pb.Number(x.Kind, values)
			if n < 0 {
				w.malformed(s.Pos(), "a packed list ends within a number")
				return
			}
			list, values = append(list, bits), values[n:]
		}
	})
	if a.set > 0 && !a.eachSet {
		v := &w.values[a.set-1]
		changed := len(list) != v.N
		for i := range min(len(list), v.N) {
			changed = changed || !same(f, list[i], v.Bits[i])
		}
		list = append(list[:0], v.Bits[:v.N]...)
		w.note(a, changed)
	} else {
		w.enough(f, a, len(list))
		outer := w.element
		for i := range list {
			if e := a.element(i); e != nil && e.set > 0 {
				w.element = i
				v, k := w.setting(e)
				w.note(e, !same(f, list[i], v.Bits[k]))
				list[i] = v.Bits[k]
			}
		}
		w.element = outer
	}
	if len(list) == 0 {
		return dst
	}
	if !f.Proto.IsPacked() {
		for _, bits := range list {
			dst = pb.AppendNumber(protowire.AppendTag(dst, x.Num, x.Wire), x.Kind, bits)
		}
		return dst
	}
	dst = append(protowire.AppendTag(dst, x.Num, protowire.BytesType), 0)
	head := len(dst) - 1
	for _, bits := range list {
		dst = pb.AppendNumber(dst, x.Kind, bits)
	}
	return pb.EndBytes(dst, head)
}

// protoList appends a list of messages, texts or times.
func (w *walk) protoList(dst, p []byte, f *message.Field, x *pb.Field, a *action, depth int) []byte {
	if a.set > 0 && !a.eachSet {
		v, n, changed := &w.values[a.set-1], 0, false
		before := len(dst)
		for i := range v.N {
			dst = protowire.AppendTag(dst, x.Num, x.Wire)
			if f.Clock != schema.Invalid {
				dst = appendClock(dst, v.Bits[2*i], v.Bits[2*i+1])
			} else {
				dst = protowire.AppendString(dst, v.Texts[i])
			}
		}
		made := dst[before:]
		w.each(p, x, func(s *pb.Scanner) { // are they the same values?
			_, _, k := protowire.ConsumeField(made)
			n++
			if changed = changed || k < 0 || string(made[protowire.SizeTag(x.Num):k]) != string(s.Value()); k > 0 {
				made = made[k:]
			}
		})
		w.note(a, changed || n != v.N)
		return dst
	}
	i, outer := 0, w.element
	w.each(p, x, func(s *pb.Scanner) {
		e := a.element(i)
		if a.loop || a.eachSet {
			w.element = i
		}
		i++
		before := len(dst)
		w.parent, w.child = "", ""
		switch {
		case e == nil || e.sub == nil && e.set == 0:
			dst = append(protowire.AppendTag(dst, s.Num, s.Wire), s.Value()...)
		case e.sub != nil:
			dst = w.within(dst, s.Content(), f, x, e.sub, depth)
		default:
			dst = w.protoValue(dst, s.Value(), true, f, x, e)
		}
		switch {
		case !a.edges:
		case w.goes():
			dst = dst[:before]
		default:
			w.left++
		}
	})
	w.element = outer
	w.enough(f, a, i)
	return dst
}
