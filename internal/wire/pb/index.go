package pb

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// An Index finds where the values of the fields of a message are, and of the messages in
// it. Fields may come in any order, so each message is walked over once, and then its
// fields are asked for one by one:
//
//	x, err := pb.NewIndex(message)
//	defer x.Release()
//	var v pb.View
//	err := x.Open(&v, t, message)
//	... x.Single(&v, i), x.First(&v, i), x.Case(&v, i)
//	x.Close(&v)
//
// Of a single value that comes several times the last counts, of the members of a oneof
// too. A message that comes several times is all of them, one behind the other, each of
// which must be a message. A value on another wire type than its field's is one of an
// unknown field. Messages are not looked into if another member of their oneof replaces them.
type Index struct {
	Unknown bool // there were fields that their type does not have

	// The first field that a type does not have, and the first that is on another wire type, since they were
	// cleared. With Num 0 there is no such field.
	Stray, Mistyped Stray

	slots  []slot
	values []Value
	size   int // of the message, bytes
	joined int // bytes of messages that came in parts
}

// A Stray is a field with a value that is not looked at.
type Stray struct {
	Num  protowire.Number
	Wire protowire.Type
}

// A slot is what a message has of a field. Behind the slots of its fields a message has
// one for each oneof, whose n is the index of the member that is set, plus one.
type slot struct {
	n           int32 // values
	first, last int32 // of lists and messages indexes into values; else where the last value begins and ends
}

// A Value is one value of a field of a View, after its tag.
type Value struct {
	Wire       protowire.Type
	Begin, End int32 // in the message of the View
	next       int32 // index into values; -1: it is the last
	run        int32 // values that lie right behind it, see Scanner.run: they come before next
}

// None reports whether First or Next have found no value.
func (o *Value) None() bool { return o.End < 0 }

var noValue = Value{End: -1, next: -1}

// A View is a message whose fields were found.
type View struct {
	Type    *Type
	Message []byte

	slots, values int // where its own begin
}

// An Error is where a message cannot be read.
type Error struct {
	At   int // offset in the message that was opened, bytes
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.At) }

var indexes = sync.Pool{New: func() any { return new(Index) }}

// maxKeep is up to how many entries the memory of an Index is kept.
const maxKeep = 1 << 16

// NewIndex returns an Index of a message, which must be released.
func NewIndex(message []byte) (*Index, *Error) {
	if len(message) > math.MaxInt32 {
		return nil, &Error{0, fmt.Sprintf("a protobuf message has less than 2 GiB, this one has %d bytes", len(message))}
	}
	x := indexes.Get().(*Index)
	*x = Index{slots: x.slots[:0], values: x.values[:0], size: len(message)}
	return x, nil
}

// Release returns the memory of the Index.
func (x *Index) Release() {
	if cap(x.slots) <= maxKeep && cap(x.values) <= maxKeep {
		indexes.Put(x)
	}
}

// Open finds the fields of a message of a type, and fills v. Views are closed in the reverse order;
// after an error none need be.
func (x *Index) Open(v *View, t *Type, message []byte) *Error {
	*v = View{t, message, len(x.slots), len(x.values)}
	all := len(t.Fields) + t.Oneofs
	x.slots = slices.Grow(x.slots, all)[:v.slots+all]
	slots := x.slots[v.slots:]
	clear(slots)
	fields := Scan(message)
	for fields.Next() {
		i := t.Find(fields.Num)
		if i < 0 || !t.Fields[i].Takes(fields.Wire) {
			x.Unknown = true
			if stray := (Stray{fields.Num, fields.Wire}); i < 0 && x.Stray.Num == 0 {
				x.Stray = stray
			} else if i >= 0 && x.Mistyped.Num == 0 {
				x.Mistyped = stray
			}
			continue
		}
		f, s := &t.Fields[i], &slots[i]
		if f.Oneof >= 0 {
			member := &slots[len(t.Fields)+f.Oneof].n
			if old := int(*member) - 1; old >= 0 && old != i {
				slots[old] = slot{} // another member takes its place
			}
			*member = int32(i) + 1
		}
		s.n++
		if !f.List && !f.Parts {
			s.first, s.last = int32(fields.begin), int32(fields.end)
			continue
		}
		one := Value{fields.Wire, int32(fields.begin), int32(fields.end), -1, 0}
		if f.List && fields.Wire == protowire.BytesType && !f.Packs {
			one.run = fields.run()
		}
		x.values = append(x.values, one)
		last := int32(len(x.values) - 1)
		if s.n == 1 {
			s.first = last
		} else {
			x.values[s.last].next = last
		}
		s.last = last
		s.n += one.run
	}
	if at, what := fields.Wrong(); what != "" {
		return &Error{at, what}
	}
	return nil
}

// Close ends the use of a View.
func (x *Index) Close(v *View) { x.slots, x.values = x.slots[:v.slots], x.values[:v.values] }

// Case returns the index of the field of a oneof that is set, -1 if none is.
func (x *Index) Case(v *View, oneof int) int {
	return int(x.slots[v.slots+len(v.Type.Fields)+oneof].n) - 1
}

// Count returns how often field i came; a packed list counts once.
func (x *Index) Count(v *View, i int) int { return int(x.slots[v.slots+i].n) }

// Single returns where the value of field i is, which is not a list and no message, and
// whether it is set.
func (x *Index) Single(v *View, i int) (begin, end int, ok bool) {
	s := &x.slots[v.slots+i]
	return int(s.first), int(s.last), s.n > 0
}

// First returns the first value of field i, a list or a message:
//
//	for o := x.First(&v, i); !o.None(); o = x.Next(&v, o) { ... }
func (x *Index) First(v *View, i int) Value {
	if s := &x.slots[v.slots+i]; s.n > 0 {
		return x.values[s.first]
	}
	return noValue
}

// Next returns the value of the same field after another.
func (x *Index) Next(v *View, o Value) Value {
	if o.run > 0 {
		begin := o.End + 1 // behind a tag of one byte
		return Value{o.Wire, begin, begin + 1 + int32(v.Message[begin]), o.next, o.run - 1}
	}
	if o.next >= 0 {
		return x.values[o.next]
	}
	return noValue
}

// Joined returns the content of the message in field i, which is not a list, and about where
// it begins; nil if it is not set.
func (x *Index) Joined(v *View, i int) (content []byte, at int, err *Error) {
	o := x.First(v, i)
	if o.None() {
		return nil, 0, nil
	}
	f, at := &v.Type.Fields[i], int(o.Begin)
	content = v.Content(f, &o)
	if o.next < 0 {
		return content, at, nil
	}
	content = nil
	for ; !o.None(); o = x.Next(v, o) {
		part := Scan(v.Content(f, &o))
		for part.Next() { // a field that is cut must not go on in the next part
		}
		if _, what := part.Wrong(); what != "" {
			return nil, int(o.Begin), &Error{int(o.Begin), what}
		}
		content = append(content, part.message...)
	}
	if x.joined += len(content); x.joined > 1<<20+16*x.size {
		return nil, at, &Error{at, "too many messages come in parts"}
	}
	return content, at, nil
}

// Content returns the content of a value of a list or a message.
func (v *View) Content(f *Field, o *Value) []byte {
	return Content(f.Num, o.Wire, v.Message[o.Begin:o.End])
}

// Numbers returns the numbers of a value of a list of numbers, one after the other.
func (v *View) Numbers(f *Field, o *Value) []byte {
	if p := v.Message[o.Begin:o.End]; o.Wire == f.Wire {
		return p
	}
	return v.Content(f, o)
}
