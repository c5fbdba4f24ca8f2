package transcode

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A fit is a list that becomes a list of at most, or exactly, limit elements. Three bodies follow its
// op: an element that is written, one that is skipped, and one that the source does not have.
//
//	source       n elements:  written written written | skipped skipped
//	destination  limit:       written written written
//
//	source       n elements:  written
//	destination  exactly:     written zero zero
type fit struct {
	limit   int
	exactly bool   // the destination is an array
	bodies  [3]int // lengths, in ops
	width   int    // of a zero element that is a number; else 0
	number  uint16 // of the field among the fields that are cut
}

// becomes reports whether values of a field can become values of another, when types may differ.
func becomes(src, dst schema.Type) bool {
	if (src.Array == schema.Single) != (dst.Array == schema.Single) {
		return false
	}
	text := func(k schema.Kind) bool { return k == schema.String || k == schema.WString }
	switch {
	case src.TimeKind() != schema.Invalid && dst.TimeKind() != schema.Invalid, text(src.Kind) && text(dst.Kind):
		return true
	case src.Kind == schema.Struct && dst.Kind == schema.Struct:
		return true
	}
	return numeric(src.Kind) && numeric(dst.Kind)
}

// fits reports whether an array or list has to be fitted into another, which may have room for
// fewer elements, or for more.
func fits(src, dst schema.Type) bool {
	if src.Array == schema.Single || dst.Array == schema.Single || dst.Array == schema.Unbounded {
		return false
	}
	if dst.Array == schema.Fixed {
		return src.Array != schema.Fixed || src.Len != dst.Len
	}
	return src.Array == schema.Unbounded || src.Len > dst.Len
}

// fit compiles an array or list that has to be fitted. value compiles one element.
func (c *compiler) fit(src, dst schema.Type, value func() error, path string) error {
	if err := c.listSize(src); err != nil {
		return err
	}
	if src.Array == schema.Fixed {
		return c.fitArray(src, dst, value, path)
	}
	if err := c.alignSrc(4); err != nil {
		return err
	}
	f := fit{limit: dst.Len, exactly: dst.Array == schema.Fixed, number: c.notes.bounded.add(path)}
	if !f.exactly {
		if err := c.alignDst(4); err != nil {
			return err
		}
		c.wrote(4)
	}
	c.read(4)
	s, d := c.s, c.d // an empty list ends here
	ls, ld := c.lead(src, c.from), c.lead(dst, c.to)
	if ls > 4 {
		c.s = phase{ls, 0}
	}
	if ld > 4 || f.exactly {
		c.d = phase{ld, 0}
	}
	of := elements{src.Message, dst.Message}
	var ops []op
	for i, element := range []func() error{value, func() error { return c.skipValue(single(src), 0) },
		func() error { return c.zeroValue(single(dst)) }} {
		if i == 2 {
			if !f.exactly {
				break
			}
			c.d = phase{1, 0}
			of = elements{dst: dst.Message}
		}
		body, err := c.body(of, element)
		if err != nil {
			return err
		}
		f.bodies[i] = len(body)
		ops = append(ops, body...)
		of = elements{src: src.Message}
	}
	if size := dst.Kind.Size(); f.exactly && size > 0 {
		if size > maxZero/max(1, f.limit) {
			return errTooLarge
		}
		f.width = size
	}
	c.s, c.d = s.join(c.s), d.join(c.d)
	return c.close(op{code: opFit, a: alignments(ls, ld), b: c.sizes.Least(single(src)), more: &operand{fit: f}}, ops)
}

// listOfOne compiles a single value that becomes the only element of a list, or the first one of an
// array. Only rules ask for that.
func (c *compiler) listOfOne(src, dst schema.Type, value func() error, path string) error {
	if dst.Array == schema.Fixed && dst.Len == 0 {
		return c.skipValue(src, c.notes.dropped.add(path))
	}
	if dst.Array != schema.Fixed {
		if err := c.alignDst(4); err != nil {
			return err
		}
		if err := c.emit(op{code: opCount, a: 1}); err != nil {
			return err
		}
		c.wrote(4)
	}
	if err := value(); err != nil {
		return err
	}
	if dst.Array == schema.Fixed && dst.Len > 1 {
		dst.Len--
		return c.zero(dst)
	}
	return nil
}

// fitArray compiles an array when it is known how many elements fit.
func (c *compiler) fitArray(src, dst schema.Type, value func() error, path string) error {
	n := min(src.Len, dst.Len)
	if dst.Array != schema.Fixed {
		if err := c.alignDst(4); err != nil {
			return err
		}
		if err := c.emit(op{code: opCount, a: n}); err != nil {
			return err
		}
		c.wrote(4)
	}
	ls, ld := c.lead(src, c.from), c.lead(dst, c.to)
	least := c.sizes.Least(single(src))
	err := c.repeat(n, elements{src.Message, dst.Message}, least, func() (int, int) { return ls, ld }, value)
	if err != nil {
		return err
	}
	if rest := src.Len - n; rest > 0 {
		drop := c.notes.dropped.add(fmt.Sprintf("%s[%d:]", path, n))
		return c.repeat(rest, elements{src: src.Message}, least, func() (int, int) { return ls, 1 },
			func() error { return c.skipValue(single(src), drop) })
	}
	if dst.Array == schema.Fixed && dst.Len > n {
		more := dst
		more.Len -= n
		return c.zero(more)
	}
	return nil
}

// fit runs the bodies of a fit.
func (s *state) fit(pos, from int, o *op) (int, error) {
	f := &o.more.fit
	n, at, err := s.count(pos)
	if err != nil {
		return pos, err
	}
	kept := min(n, f.limit)
	if !f.exactly {
		s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(kept))
	}
	if n > 0 {
		if a := o.a >> 4; a > 1 {
			at += ros.Padding(at, a)
		}
		if a := o.a & 15; a > 1 && kept > 0 {
			s.zero(ros.Padding(len(s.dst)-s.base, a))
		}
	}
	if o.b == 0 {
		s.fuel -= n
	}
	if s.fuel < 0 || o.b > 0 && (at > len(s.src) || n > (len(s.src)-at)/o.b) {
		return pos, &Error{Offset: pos, What: fmt.Sprintf("a list of %d elements, and %d bytes are left", n,
			max(0, len(s.src)-at))}
	}
	if n > kept {
		s.lost.cut.hit(f.number)
		s.cut = true
	}
	pos = at
	for i, times := range []int{kept, n - kept} {
		if pos, err = s.repeat(pos, from, f.bodies[i], times); err != nil {
			return pos, err
		}
		from += f.bodies[i]
	}
	missing := f.limit - kept
	if !f.exactly || missing == 0 {
		return pos, nil
	}
	if f.width > 0 {
		if s.fuel -= missing * f.width / len(zeros); s.fuel < 0 {
			return pos, &Error{Offset: pos, What: "too many bytes of elements that the message does not have"}
		}
		s.zero(ros.Padding(len(s.dst)-s.base, min(f.width, s.prog.to.MaxAlign)))
		s.zero(missing * f.width)
		return pos, nil
	}
	if s.fuel -= missing; s.fuel < 0 {
		return pos, &Error{Offset: pos, What: "too many elements that the message does not have"}
	}
	return s.repeat(pos, from, f.bodies[2], missing)
}

// repeat executes the n ops from from on so many times. A body that is one op runs once, on all.
func (s *state) repeat(pos, from, n, times int) (int, error) {
	if n == 1 && times > 1 {
		o := s.prog.ops[from]
		switch o.code {
		case opCopy, opSkip, opBool, opCast, opSwap, opTime:
			o.a *= times
			return s.single(pos, &o)
		}
	}
	for range times {
		var err error
		if pos, err = s.run(pos, from, from+n); err != nil {
			return pos, err
		}
	}
	return pos, nil
}

// single executes one op on values of a fixed size.
func (s *state) single(pos int, o *op) (int, error) {
	n := o.a
	switch o.code {
	case opCopy, opSkip:
	case opTime:
		n *= 8
	default:
		return s.rare(pos, o)
	}
	if n > len(s.src)-pos {
		return pos, s.short(pos, n)
	}
	switch o.code {
	case opCopy:
		s.dst = append(s.dst, s.src[pos:pos+n]...)
	case opTime:
		s.times(s.src[pos:pos+n], o.bit)
	}
	return pos + n, nil
}

// cutText cuts the string that ends here to the bytes that the destination allows, or characters
// of a wide one, between two characters.
func (s *state) cutText(o *op) {
	text := s.dst[s.textAt+4:]
	n := int(binary.LittleEndian.Uint32(s.dst[s.textAt:]))
	wide := o.b != 0
	if !wide && s.prog.to.NUL {
		n--
	}
	if n <= o.a {
		return
	}
	n = o.a
	switch {
	case wide:
		if n > 0 && utf16.IsSurrogate(rune(binary.LittleEndian.Uint32(text[4*n:]))) &&
			utf16.IsSurrogate(rune(binary.LittleEndian.Uint32(text[4*(n-1):]))) {
			n-- // half a character
		}
		s.dst = s.dst[:s.textAt+4+4*n]
	default:
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		s.dst = s.dst[:s.textAt+4+n]
		if s.prog.to.NUL {
			s.dst = append(s.dst, 0)
			n++
		}
	}
	binary.LittleEndian.PutUint32(s.dst[s.textAt:], uint32(n))
	s.lost.cut.hit(o.drop)
	s.cut = true
}
