package transcode

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/schema"
)

// elements are the types of the elements of a list or array on either side; nil
// for elements that are not structs, or are not written.
type elements struct{ src, dst *schema.Message }

// A bodyStart is what is known when the body of a list is begun.
type bodyStart struct {
	of   elements
	s, d phase
}

// body compiles the elements of a list or array: what is known of the positions
// must hold before each of them, so the body is compiled again until it does.
// Only what a shorter phase can prove is left in the end, and usually that is all.
// What has held is remembered: lists in lists would take twice the time for each
// level otherwise.
func (c *compiler) body(of elements, element func() error) (ops []op, err error) {
	start, barrier := len(c.ops), c.barrier
	s, d, marks := c.s, c.d, c.marks
	key := bodyStart{of, s, d}
	if phases, ok := c.stable[key]; ok {
		s, d = phases[0], phases[1]
	}
	for {
		c.ops, c.barrier, c.marks = c.ops[:start], start, marks
		c.s, c.d = s, d
		if err := element(); err != nil {
			return nil, err
		}
		s2, d2 := s.join(c.s), d.join(c.d)
		if s2 == s && d2 == d {
			break
		}
		s, d = s2, d2
	}
	c.s, c.d = s, d
	if of.src != nil || of.dst != nil {
		c.stable[key] = [2]phase{s, d}
	}
	ops = append(ops, c.ops[start:]...)
	c.ops, c.barrier = c.ops[:start], barrier
	return ops, nil
}

// close ends a loop: ops that follow are not part of its body.
func (c *compiler) close(head op, body []op) error {
	head.n = len(body)
	if err := c.emit(head); err != nil {
		return err
	}
	if len(c.ops)+len(body) > maxOps {
		return errTooLarge
	}
	c.ops = append(c.ops, body...)
	c.barrier = len(c.ops)
	return nil
}

// loop compiles a list, whose count the source has at its position. If the
// body is one copy, the whole list is.
func (c *compiler) loop(head op, of elements, minSize int, lead func() (src, dst int), element func() error) error {
	c.read(4)
	s, d := c.s, c.d // after the count: an empty list ends here
	ls, ld := lead()
	if ls > 4 {
		c.s = phase{ls, 0}
	}
	if ld > 4 {
		c.d = phase{ld, 0}
	}
	body, err := c.body(of, element)
	if err != nil {
		return err
	}
	c.s, c.d = s.join(c.s), d.join(c.d)
	// Alignment up to 4 needs no step: a count has just been there.
	if ls <= 4 {
		ls = 1
	}
	if ld <= 4 {
		ld = 1
	}
	code := head.code
	head.a, head.b = alignments(ls, ld), minSize
	if len(body) == 1 && body[0].a > 0 {
		switch o := body[0]; {
		case o.code == opCopy && code == opLoop:
			return c.close(op{code: opList, a: head.a, b: o.a}, nil)
		case o.code == opSkip && code == opSkipLoop:
			return c.close(op{code: opSkipList, drop: head.drop, a: head.a, b: o.a}, nil)
		case o.code == opBool && o.a == 1:
			return c.close(op{code: opListBool, a: head.a, b: 1}, nil)
		case o.code == opTime && o.a == 1:
			return c.close(op{code: opListTime, bit: o.bit, a: head.a, b: 8}, nil)
		case o.code == opCast && o.a == 1:
			return c.close(op{code: opListCast, a: head.a, b: o.more.cast.from.Size(), more: o.more}, nil)
		case o.code == opSwap && o.a == 1:
			return c.close(op{code: opListSwap, a: head.a, b: o.b}, nil)
		}
	}
	return c.close(head, body)
}

// repeat compiles n values in a row.
func (c *compiler) repeat(n int, of elements, minSize int, lead func() (src, dst int), element func() error) error {
	if n == 0 {
		return nil
	}
	ls, ld := lead()
	if err := c.alignSrc(ls); err != nil {
		return err
	}
	if err := c.alignDst(ld); err != nil {
		return err
	}
	body, err := c.body(of, element)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return nil
	}
	if len(body) == 1 {
		switch o := body[0]; o.code {
		case opCopy, opSkip, opZero, opBool, opSwap, opTime, opCast:
			if o.a > (1<<40)/n || o.code == opZero && o.a*n > maxZero {
				return errTooLarge
			}
			o.a *= n
			return c.emit(o)
		}
	}
	return c.close(op{code: opRepeat, a: n, b: minSize}, body)
}

// skip compiles a field of the source that is not written, or is written later.
// drop is its number among the dropped fields, 0 when its value does not matter.
func (c *compiler) skip(t schema.Type, drop uint16) error {
	lead := func() (int, int) { return c.lead(t, c.from), 1 }
	value := func() error { return c.skipValue(t, drop) }
	switch t.Array {
	case schema.Single:
		return value()
	case schema.Fixed:
		if err := c.listSize(t); err != nil {
			return err
		}
		return c.repeat(t.Len, elements{src: t.Message}, c.sizes.Least(single(t)), lead, value)
	}
	if err := c.listSize(t); err != nil {
		return err
	}
	if err := c.alignSrc(4); err != nil {
		return err
	}
	value = func() error { return c.skipValue(t, 0) } // that the list is not empty is enough
	return c.loop(op{code: opSkipLoop, drop: drop}, elements{src: t.Message}, c.sizes.Least(single(t)), lead, value)
}

func (c *compiler) skipValue(t schema.Type, drop uint16) error {
	switch t.Kind {
	case schema.Struct:
		if err := c.enter(t.Message); err != nil {
			return err
		}
		for i, f := range t.Message.Fields {
			number := drop
			if facts.IsSeq(t.Message, i) {
				number = 0
			}
			if err := c.skip(f.Type, number); err != nil {
				return err
			}
		}
		return c.leave(false) // of a field that is lost as a whole, or read once more
	case schema.String, schema.WString:
		if err := c.alignSrc(4); err != nil {
			return err
		}
		c.s = phase{1, 0}
		code := opSkipString
		if t.Kind == schema.WString {
			code = opSkipWString
		}
		return c.emit(op{code: code, drop: drop})
	case schema.LongDouble, schema.WChar:
		return fmt.Errorf("a %s cannot be read", t.Kind)
	}
	size := t.Kind.Size()
	if err := c.alignSrc(min(size, c.lead(t, c.from))); err != nil {
		return err
	}
	c.read(size)
	return c.emit(op{code: opSkip, drop: drop, a: size})
}

// enter steps over what stands before the fields of a source struct; leave follows it.
func (c *compiler) enter(m *schema.Message) error {
	if c.from.Delimited {
		if err := c.alignSrc(4); err != nil {
			return err
		}
		c.read(4)
		if err := c.emit(op{code: opEnter}); err != nil {
			return err
		}
	}
	if len(m.Fields) > 0 || !c.from.Filler {
		return nil
	}
	c.read(1)
	return c.emit(op{code: opSkip, a: 1})
}

// leave goes to the end of a source struct, after fields that its definition does not
// have. With report they are counted as lost.
func (c *compiler) leave(report bool) error {
	if !c.from.Delimited {
		return nil
	}
	c.s = phase{1, 0}
	o := op{code: opLeave}
	if report {
		o.a = 1
	}
	return c.emit(o)
}

// zero compiles a field that only the destination has.
func (c *compiler) zero(t schema.Type) error {
	switch t.Array {
	case schema.Single:
		return c.zeroValue(t)
	case schema.Fixed:
		return c.repeat(t.Len, elements{dst: t.Message}, 0, func() (int, int) { return 1, c.lead(t, c.to) },
			func() error { return c.zeroValue(t) })
	}
	return c.zeros(4, 4)
}

func (c *compiler) zeroValue(t schema.Type) error {
	switch {
	case t.Kind == schema.Struct:
		if len(t.Message.Fields) == 0 && c.to.Filler {
			return c.zeros(1, 1)
		}
		for _, f := range t.Message.Fields {
			if err := c.absent(slot{path: f.Name, typ: f.Type, def: f.Default}, From{}, ""); err != nil {
				return err
			}
		}
		return nil
	case t.Kind == schema.String:
		if err := c.alignDst(4); err != nil {
			return err
		}
		c.wrote(4)
		if c.to.NUL {
			c.wrote(1)
		}
		return c.emit(op{code: opEmpty})
	case t.Kind == schema.WString:
		return c.zeros(4, 4)
	case t.Kind == schema.LongDouble || t.Kind == schema.WChar:
		return fmt.Errorf("a %s cannot be written", t.Kind)
	}
	return c.zeros(t.Kind.Size(), c.lead(t, c.to))
}

func (c *compiler) zeros(n, align int) error {
	if err := c.alignDst(align); err != nil {
		return err
	}
	c.wrote(n)
	return c.emit(op{code: opZero, a: n})
}
