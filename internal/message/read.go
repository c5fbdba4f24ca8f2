package message

import (
	"encoding/binary"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// Fields visits the fields of the struct at the cursor, in the order of the type; before each the cursor stands
// before its value, which the visitor has to read or skip. In a message of protobuf that is not set all
// fields have their defaults. more are the bytes that the struct has behind its fields, in delimited CDR.
func (c *Cursor) Fields(t *Type, visit func(f *Field)) (more []byte) {
	end := c.Enter(t)
	for i := range t.Fields {
		if !c.r.OK() {
			return nil
		}
		c.At(&t.Fields[i])
		visit(&t.Fields[i])
	}
	return c.Leave(end)
}

// Present reports whether a field of protobuf is set; others always are.
func (c *Cursor) Present(f *Field) bool {
	if c.x == nil || !c.OK() {
		return c.OK()
	}
	h := c.here
	return h.element || c.x.Count(&h.view, f.Index) > 0
}

// Count returns how many values the list or array at the cursor has: there are bytes for them. In ROS the cursor
// goes to the first one.
func (c *Cursor) Count(f *Field) int {
	if !c.OK() {
		return 0
	}
	if c.x != nil {
		return c.countProto()
	}
	if f.Size == 0 && (f.Type == nil || !f.Type.clock) {
		c.r.Size()
	}
	n := f.Fixed
	if n < 0 {
		n = c.r.Count(f.Least)
	}
	switch {
	case f.Least > 0 && n > c.r.Len()/f.Least:
		c.r.Fail("a list of %d elements, but only %d bytes are left", n, c.r.Len())
	case f.Least == 0 && n > c.fuel:
		c.r.Fail("too many values that take no bytes: %d", n)
	}
	if !c.OK() {
		return 0
	}
	return n
}

// Elements visits the n structs or strings of a list whose values Count has counted; before each the cursor stands
// before it.
func (c *Cursor) Elements(f *Field, n int, visit func(i int)) {
	if c.x == nil {
		for i := 0; i < n && c.OK(); i++ {
			visit(i)
		}
		return
	}
	if !c.OK() {
		return
	}
	h := c.here
	h.element, h.value = true, c.x.First(&h.view, f.Index)
	for i := 0; i < n; i++ {
		if visit(i); !c.OK() {
			return
		}
		h = c.here // the memory of places may be another
		h.value = c.x.Next(&h.view, h.value)
	}
	h.element = false
}

// Bits reads a single number or bool: integers with their sign in 64 bits, floats as their own bits, a bool as the
// byte that it is.
func (c *Cursor) Bits(f *Field) uint64 {
	if c.x != nil {
		return c.bitsProto()
	}
	var v uint64
	switch f.Size {
	case 8:
		return c.r.U64()
	case 4:
		v = uint64(c.r.U32())
	case 2:
		v = uint64(c.r.U16())
	default:
		v = uint64(c.r.U8())
	}
	return f.extend(v)
}

// extend gives a number of fewer than 64 bits its sign.
func (f *Field) extend(v uint64) uint64 {
	if f.Kind == Signed {
		shift := 64 - 8*f.Size
		return uint64(int64(v) << shift >> shift)
	}
	return v
}

// Bits returns the first of the numbers that Numbers returned, as Cursor.Bits does.
func (f *Field) Bits(numbers []byte) uint64 {
	var v uint64
	switch f.Size {
	case 8:
		return binary.LittleEndian.Uint64(numbers)
	case 4:
		v = uint64(binary.LittleEndian.Uint32(numbers))
	case 2:
		v = uint64(binary.LittleEndian.Uint16(numbers))
	default:
		v = uint64(numbers[0])
	}
	return f.extend(v)
}

// Numbers reads n numbers or bools: all of a list or array that Count has counted, or one. They are in little
// endian, f.Size bytes each.
func (c *Cursor) Numbers(f *Field, n int) []byte {
	switch {
	case !c.OK():
		return nil
	case c.x != nil && !f.List:
		c.numbers = appendBits(c.numbers[:0], c.bitsProto(), f.Size)
		return c.numbers
	case c.x != nil:
		return c.numbersProto(n)
	}
	p := c.r.Numbers(n, f.Size)
	if !c.r.BigEndian || f.Size == 1 {
		return p
	}
	c.numbers = append(c.numbers[:0], p...)
	for i := range p {
		c.numbers[i-i%f.Size+f.Size-1-i%f.Size] = p[i]
	}
	return c.numbers
}

// List reads all numbers or bools of a list or array: Count and Numbers in one.
func (c *Cursor) List(f *Field) []byte {
	if c.x == nil || !c.OK() {
		return c.Numbers(f, c.Count(f))
	}
	h := c.here
	if first := c.x.First(&h.view, f.Index); pb.Width(f.wire.Wire) == f.Size && c.x.Count(&h.view, f.Index) == 1 {
		if p := h.view.Numbers(f.wire, &first); len(p)%f.Size == 0 {
			return p // all in one packed list, as writers have them
		}
	}
	return c.numbersProto(c.countProto())
}

// Raw returns numbers as the message itself has them, in its order of bytes: they may be written to. It is nil if the
// message does not have them in this form.
func (c *Cursor) Raw(f *Field, n int) []byte {
	switch {
	case !c.OK():
		return nil
	case c.x == nil:
		return c.r.Numbers(n, f.Size)
	}
	h := c.here
	begin, end, ok := c.x.Single(&h.view, f.Index)
	if !ok || f.List || f.Kind != Float {
		return nil
	}
	return h.view.Message[begin:end]
}

// Text reads a string, or bytes of protobuf. What UTF-16 has that is no text becomes U+FFFD. Other strings are as
// the message has them: whether they are UTF-8 is for utf8.Valid.
func (c *Cursor) Text(f *Field) []byte {
	c.Unterminated, c.Replaced = false, false
	switch {
	case !c.OK():
		return nil
	case c.x != nil:
		p, _ := c.content()
		return p
	case f.Wide:
		units, whole := c.Units()
		var paired bool
		c.text, paired = ros.AppendUTF8(c.text[:0], units, false)
		c.Replaced = !whole || !paired
		return c.text
	}
	p := c.r.Bytes()
	if last := len(p) - 1; c.r.NUL && last >= 0 {
		if p[last] != 0 {
			c.Unterminated = true
			return p
		}
		return p[:last]
	}
	return p
}

// Units reads a wide string as UTF-16. whole is false if something in the string is not UTF-16: it becomes U+FFFD.
func (c *Cursor) Units() (units []uint16, whole bool) {
	c.units, whole = c.r.Wide(c.units[:0])
	return c.units, whole
}

// Time reads a time, since 1970, or a duration, whose parts may each have a sign.
func (c *Cursor) Time(f *Field) (sec, nsec int64) {
	switch {
	case !c.OK():
		return 0, 0
	case c.x != nil:
		return c.timeProto()
	}
	end := c.Enter(f.Type)
	a, b := c.r.U32(), c.r.U32()
	c.Leave(end)
	sec, nsec = int64(int32(a)), int64(b)
	switch {
	case c.r.NUL: // CDR
	case f.Clock == schema.Duration:
		nsec = int64(int32(b))
	default:
		sec = int64(a)
	}
	return sec, nsec
}

// Skip steps over all values of a field. In protobuf it looks at nothing.
func (c *Cursor) Skip(f *Field) {
	if c.x != nil || !c.OK() {
		return
	}
	n := 1
	if f.List {
		n = c.Count(f)
	}
	c.SkipElements(f, n)
}

// SkipElements is Skip for n values of a list that Count has counted.
func (c *Cursor) SkipElements(f *Field, n int) {
	switch {
	case c.x != nil:
		return
	case f.Size > 0:
		c.r.Numbers(n, f.Size)
		return
	case f.Type != nil && f.Type.run.count > 0 && !c.Sized():
		c.r.Numbers(n*f.Type.run.count, f.Type.run.size)
		return
	}
	for i := 0; i < n && c.OK(); i++ {
		switch {
		case f.Type != nil:
			end := c.Enter(f.Type)
			for k := range f.Type.Fields {
				c.Skip(&f.Type.Fields[k])
			}
			c.Leave(end)
		case f.Wide:
			c.r.SkipWide()
		default:
			c.r.Bytes()
		}
	}
}

// Check reads all values of a field and keeps nothing: what does not fit is found.
func (c *Cursor) Check(f *Field) {
	if c.x == nil {
		c.Skip(f)
		return
	}
	n := 1
	if f.List {
		n = c.Count(f)
	}
	switch {
	case f.Type != nil && f.List:
		c.Elements(f, n, func(int) { c.checkStruct(f.Type) })
	case f.Type != nil && c.Present(f):
		c.checkStruct(f.Type)
	case f.Size > 0:
		c.Numbers(f, n)
	}
}

// checkStruct is Check for a struct of protobuf.
func (c *Cursor) checkStruct(t *Type) {
	if _, ok := c.Row(t); !ok {
		c.Fields(t, c.Check)
	}
}
