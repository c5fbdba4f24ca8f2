package render

import (
	"math"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A protoRun is a message of protobuf on its way. Fields may come in any order
// and are written in that of their declaration, so a message is walked once to
// find where its fields are, then they are fetched. Of a single value that comes
// twice the last counts; a message that comes in parts is the parts in a row.
type protoRun struct {
	out
	src     []byte
	slots   []slot       // of the messages that are open
	found   []occurrence // of their lists and messages
	depth   int
	merged  int // bytes of messages that came in parts
	unknown bool
	open    []*protoNode // CSV: the messages whose fields are cells
	memory  *protoMemory
}

// A slot is what a message has of a field. After the slots of its fields there
// is one for each oneof, whose n is the member that is set, counted from 1.
type slot struct {
	n           int32 // values, or parts of a message
	first, last int32 // lists and messages: indexes into found; else first is where the value begins
}

// An occurrence is one value of a field, behind its tag.
type occurrence struct {
	begin, end int32
	next       int32
	wire       protowire.Type
}

// protoMemory is what one run leaves to the next.
type protoMemory struct {
	slots []slot
	found []occurrence
}

var protoMemories = sync.Pool{New: func() any { return new(protoMemory) }}

const maxKeep = 1 << 16 // entries of memory that are kept

func newProtoRun(w out, src []byte) protoRun {
	m := protoMemories.Get().(*protoMemory)
	return protoRun{out: w, src: src, slots: m.slots[:0], found: m.found[:0], memory: m}
}

func (r *protoRun) release() {
	if cap(r.slots) <= maxKeep && cap(r.found) <= maxKeep {
		r.memory.slots, r.memory.found = r.slots, r.found
		protoMemories.Put(r.memory)
	}
}

// root writes the whole message, or the columns.
func (r *protoRun) root(p *Program) error {
	if len(r.src) > math.MaxInt32 {
		return malformed(0, "a message of more than 2 GiB")
	}
	switch {
	case p.columns != nil:
		return r.pickAll(p)
	case p.o.Style == CSV:
		first := true
		return r.cells(p.proto, r.src, 0, true, &first)
	}
	r.out.root()
	return r.message(p.proto, r.src, 0)
}

// A view is a message whose fields have been found.
type view struct {
	n           *protoNode
	p           []byte
	at          int // of p in the whole message, about
	base, found int // into slots and found
}

func (r *protoRun) slot(v *view, i int) *slot { return &r.slots[v.base+i] }

// scan finds the fields of a message; done gives their places back.
func (r *protoRun) scan(n *protoNode, p []byte, at int) (view, error) {
	v := view{n, p, at, len(r.slots), len(r.found)}
	if len(r.buf) > r.most {
		return v, malformed(at, "the text of the message would be out of proportion")
	}
	if r.depth++; r.depth > maxDepth {
		return v, malformed(at, "messages lie more than %d deep in each other", maxDepth)
	}
	for range len(n.fields) + n.oneofs {
		r.slots = append(r.slots, slot{})
	}
	fields := pb.Scan(p)
	for fields.Next() {
		i := n.find(fields.Num)
		if i < 0 || !n.fields[i].takes(fields.Wire) {
			r.unknown = true
			continue
		}
		f, s := &n.fields[i], &r.slots[v.base+i]
		if f.oneof >= 0 {
			member := r.slot(&v, len(n.fields)+f.oneof)
			if old := member.n - 1; old >= 0 && int(old) != i {
				*r.slot(&v, int(old)) = slot{} // another member takes its place
			}
			member.n = int32(i + 1)
		}
		s.n++
		if !f.list && f.node == nil {
			s.first = int32(fields.Pos())
			continue
		}
		r.found = append(r.found, occurrence{int32(fields.Pos()), int32(fields.End()), -1, fields.Wire})
		last := int32(len(r.found) - 1)
		if s.n == 1 {
			s.first = last
		} else {
			r.found[s.last].next = last
		}
		s.last = last
	}
	if wrong, what := fields.Wrong(); what != "" {
		return v, malformed(at+wrong, "%s", what)
	}
	return v, nil
}

func (r *protoRun) done(v *view) {
	r.slots, r.found = r.slots[:v.base], r.found[:v.found]
	r.depth--
}

// message writes a message as a struct.
func (r *protoRun) message(n *protoNode, p []byte, at int) error {
	v, err := r.scan(n, p, at)
	if err != nil {
		return err
	}
	if len(n.fields) == 0 {
		r.flow("{}")
	} else {
		for i := range n.fields {
			f := &n.fields[i]
			r.key(&f.label, f.flow)
			if err := r.value(&v, i, false); err != nil {
				return err
			}
		}
		r.close()
	}
	r.done(&v)
	return nil
}

// value writes field i of a message; whole keeps a list from being a note.
func (r *protoRun) value(v *view, i int, whole bool) error {
	f, s := &v.n.fields[i], *r.slot(v, i)
	switch {
	case f.list && f.node != nil:
		return r.messages(v, f, s, whole)
	case f.list:
		return r.list(v, f, s, whole)
	case f.node != nil:
		return r.single(v, f, s)
	case s.n == 0 && (f.kind != protoreflect.BytesKind || f.oneof >= 0):
		r.buf = append(r.buf, f.zero[r.style]...)
		return nil
	case s.n == 0:
		r.binary(f.bytes, whole)
		return nil
	}
	return r.scalar(f, v.p[s.first:], v.at+int(s.first), whole)
}

// single writes a message that is no list; null when it is not set.
func (r *protoRun) single(v *view, f *protoField, s slot) error {
	if s.n == 0 && !v.n.entry {
		r.null(false)
		return nil
	}
	p, at, err := r.content(v, f, s)
	if err != nil {
		return err
	}
	r.indent++
	err = r.message(f.node, p, at)
	r.indent--
	return err
}

// content returns the bytes of a message that is no list, put together from its
// parts.
func (r *protoRun) content(v *view, f *protoField, s slot) (p []byte, at int, err error) {
	if s.n == 0 {
		return nil, v.at, nil
	}
	o := r.found[s.first]
	p, at = part(f, v.p, o), v.at+int(o.begin)
	if s.n == 1 {
		return p, at, nil
	}
	all := append([]byte(nil), p...)
	for i := o.next; i >= 0; i = r.found[i].next {
		all = append(all, part(f, v.p, r.found[i])...)
	}
	if r.merged += len(all); r.merged > 1<<20+16*len(r.src) {
		return nil, at, malformed(at, "too many messages come in parts")
	}
	return all, at, nil
}

// part returns the content of a message; that it is whole is known.
func part(f *protoField, p []byte, o occurrence) []byte {
	return pb.Content(f.num, f.wire, p[o.begin:o.end])
}

// scalar writes the value at the start of p, which is whole.
func (r *protoRun) scalar(f *protoField, p []byte, at int, whole bool) error {
	if f.wire == protowire.BytesType {
		b, _ := protowire.ConsumeBytes(p)
		if f.kind == protoreflect.StringKind {
			r.text(b)
		} else {
			r.binary(b, whole)
		}
		return nil
	}
	v, n := pb.Number(f.kind, p)
	if n < 0 {
		return malformed(at, "a number is cut or wrong")
	}
	switch f.kind {
	case protoreflect.BoolKind:
		r.bool(v != 0)
	case protoreflect.EnumKind:
		f.enum.write(&r.out, int32(v))
	case protoreflect.FloatKind:
		r.float32(math.Float32frombits(uint32(v)))
	case protoreflect.DoubleKind:
		r.float64(math.Float64frombits(v))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		r.int64(int64(v))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		r.uint64(v)
	default:
		r.int(int64(v))
	}
	return nil
}
