package transcode

import (
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/internal/schema/measure"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A compiler makes the program for one layout of the source. It walks both type
// graphs side by side and tracks what is known of the position on either side,
// so that nearly all alignment becomes part of copies, skips and zeros.
type compiler struct {
	rule     func(src, dst *schema.Message) *Rule
	migrate  bool
	from, to ros.Layout
	ops      []op
	barrier  int   // ops before it take nothing more: a loop begins or ends here
	s, d     phase // of the source and of the destination
	marks    int
	work     int
	sizes    measure.Measure // of values of the source
	firsts   map[firstKey]firstByte
	pairings map[[2]*schema.Message]*pairing
	stable   map[bodyStart][2]phase // phases with which a body of that start could be compiled
	notes    notes
}

// notes is what the user should know of the match.
type notes struct {
	dropped, added    pathList
	defaulted         pathList // that only the destination has, with a default
	narrowed, bounded pathList // whose numbers may change; lists and strings that may be cut
	seq               bool     // a Header.seq is dropped
}

// A pathList lists paths of fields, each once.
type pathList struct {
	paths   []string
	numbers map[string]int // of the paths, from 1
}

// add puts a path on the list, unless it is there, and returns its number.
func (l *pathList) add(path string) uint16 {
	number := l.numbers[path]
	if number == 0 {
		if l.numbers == nil {
			l.numbers = map[string]int{}
		}
		l.paths = append(l.paths, path)
		number = len(l.paths)
		l.numbers[path] = number
	}
	return uint16(min(number, math.MaxUint16))
}

var (
	errTooLarge = errors.New("the definition is too large to be compiled")
	errFlat     = fmt.Errorf("%w: with all types that it uses, it has more than %d fields", errTooLarge, maxFlat)
)

// flatFields returns how many fields a type has when all types that it uses are
// written out, or maxFlat+1 if there are more.
func flatFields(m *schema.Message, known map[*schema.Message]int) int {
	n, ok := known[m]
	if ok {
		return n
	}
	for _, f := range m.Fields {
		n++
		if f.Type.Message != nil {
			n += flatFields(f.Type.Message, known)
		}
		n = min(n, maxFlat+1)
	}
	known[m] = n
	return n
}

func newCompiler(from ros.Layout, o Options) *compiler {
	c := &compiler{rule: o.Rule, migrate: o.Migrate, from: from, to: layoutOf(o.To, ros.PlainLE), s: phase{8, 0},
		d:      phase{8, 0},
		firsts: map[firstKey]firstByte{}, pairings: map[[2]*schema.Message]*pairing{}, stable: map[bodyStart][2]phase{}}
	if from.Delimited {
		c.sizes.Struct = 4
	}
	if from.Filler {
		c.sizes.Empty = 1
	}
	return c
}

func compile(p *Plan, from ros.Layout) (*program, error) {
	c := newCompiler(from, p.o)
	if known := map[*schema.Message]int{}; flatFields(p.src, known) > maxFlat || flatFields(p.dst, known) > maxFlat {
		return nil, errFlat
	}
	if err := c.structure(p.src, p.dst, ""); err != nil {
		return nil, err
	}
	if p.main == nil {
		p.notes = c.notes
	}
	return &program{ops: fuse(c.ops), from: c.from, to: c.to}, nil
}

// emit adds an op, or makes the op before it longer.
func (c *compiler) emit(o op) error {
	if c.work++; c.work > maxWork || len(c.ops) >= maxOps {
		return errTooLarge
	}
	if n := len(c.ops); n > c.barrier {
		last := &c.ops[n-1]
		same := last.code == o.code && last.b == o.b && last.drop == o.drop && last.bit == o.bit
		if same && (o.code == opCopy || o.code == opTime || o.code == opSkip || o.code == opZero || o.code == opBool ||
			o.code == opSwap) {
			last.a += o.a
			return nil
		}
		if data := constantOf(o); data != nil && (last.code == opConst || o.code == opConst) {
			if before := constantOf(*last); before != nil {
				*last = op{code: opConst, more: &operand{data: append(before[:len(before):len(before)], data...)}}
				return nil
			}
		}
	}
	c.ops = append(c.ops, o)
	return nil
}

// constantOf returns the bytes of an op that writes the same bytes whatever the message is; nil for other
// ops, and for many zeros.
func constantOf(o op) []byte {
	switch {
	case o.code == opConst:
		return o.more.data
	case o.code == opZero && o.a < len(zeros):
		return zeros[:o.a]
	}
	return nil
}

func (c *compiler) alignSrc(a int) error {
	return c.alignSide(&c.s, min(a, c.from.MaxAlign), opAlignSrc, opSkip)
}

func (c *compiler) alignDst(a int) error {
	return c.alignSide(&c.d, min(a, c.to.MaxAlign), opAlignDst, opZero)
}

// alignSide brings one side to a multiple of a: by the code static when it is
// known how many bytes that takes, else when the program runs.
func (c *compiler) alignSide(at *phase, a int, running, static opcode) error {
	if a == 1 {
		return nil
	}
	n, known := at.pad(a)
	if !known {
		*at = phase{a, 0}
		return c.emit(op{code: running, a: a})
	}
	if n == 0 {
		return nil
	}
	*at = at.add(n)
	return c.emit(op{code: static, a: n})
}

func (c *compiler) align(a int) error {
	if err := c.alignSrc(a); err != nil {
		return err
	}
	return c.alignDst(a)
}

// read and wrote advance what is known of the positions.
func (c *compiler) read(n int)  { c.s = c.s.add(n) }
func (c *compiler) wrote(n int) { c.d = c.d.add(n) }

// transfer compiles one field that both sides have.
func (c *compiler) transfer(src, dst schema.Type, rule *From, path string) error {
	cannot := func() error {
		return fmt.Errorf("field %s: a %s does not become a %s", path, src.Text(), dst.Text())
	}
	value := func() error { return c.value(src, dst, rule, path, cannot) }
	lead := func() (int, int) { return c.lead(src, c.from), c.lead(dst, c.to) }
	switch {
	case src.Array == schema.Single && dst.Array == schema.Single:
		return value()
	case !c.migrate && (src.Array == schema.Single || dst.Array == schema.Single):
		return cannot()
	case src.Array == schema.Single:
		return c.listOfOne(src, dst, value, path)
	case dst.Array == schema.Single: // an array of one has the same bytes
		dst.Array, dst.Len = schema.Fixed, 1
		return c.transfer(src, dst, rule, path)
	case c.migrate && fits(src, dst):
		return c.fit(src, dst, value, path)
	case src.Array == schema.Fixed && (dst.Array != schema.Fixed || dst.Len == src.Len):
		if err := c.listSize(src); err != nil {
			return err
		}
		if dst.Array != schema.Fixed {
			if err := c.alignDst(4); err != nil {
				return err
			}
			if err := c.emit(op{code: opCount, a: src.Len}); err != nil {
				return err
			}
			c.wrote(4)
		}
		return c.repeat(src.Len, elements{src.Message, dst.Message}, c.sizes.Least(single(src)), lead, value)
	case src.Array == schema.Fixed || dst.Array == schema.Fixed:
		return cannot()
	}
	if err := c.listSize(src); err != nil {
		return err
	}
	if err := c.align(4); err != nil {
		return err
	}
	c.wrote(4)
	return c.loop(op{code: opLoop}, elements{src.Message, dst.Message}, c.sizes.Least(single(src)), lead, value)
}

// listSize steps over the size that XCDR2 puts before lists of what is not primitive.
func (c *compiler) listSize(t schema.Type) error {
	primitive := t.Kind.Size() > 0
	if !c.from.Sizes || primitive {
		return nil
	}
	if err := c.alignSrc(4); err != nil {
		return err
	}
	c.read(4)
	return c.emit(op{code: opSkip, a: 4})
}

func single(t schema.Type) schema.Type {
	t.Array, t.Len = schema.Single, 0
	return t
}

// value compiles one value that is no array.
func (c *compiler) value(src, dst schema.Type, rule *From, path string, cannot func() error) error {
	text := func(k schema.Kind) bool { return k == schema.String || k == schema.WString }
	switch {
	case src.Kind == schema.LongDouble || src.Kind == schema.WChar || dst.Kind == schema.LongDouble ||
		dst.Kind == schema.WChar:
		return cannot()
	case src.TimeKind() != schema.Invalid && dst.TimeKind() != schema.Invalid:
		if src.Kind == schema.Struct {
			return c.inside(src.Message, func() error { return c.time(src, dst) })
		}
		return c.time(src, dst)
	case src.Kind == schema.Struct && dst.Kind == schema.Struct:
		return c.structure(src.Message, dst.Message, path)
	case text(src.Kind) && text(dst.Kind):
		return c.boundedText(src, dst, path)
	case numeric(src.Kind) && numeric(dst.Kind) && (rule.Values != nil || rule.Scale != 0 || c.migrate &&
		!sameBits(src.Kind, dst.Kind)):
		return c.cast(cast{from: src.Kind, to: dst.Kind, scale: rule.Scale, offset: rule.Offset, values: rule.Values}, path)
	case rule.Values != nil || rule.Scale != 0:
		return cannot()
	case src.Kind.Size() > 0 && src.Kind.Size() == dst.Kind.Size() && (src.Kind == dst.Kind || isByte(src.Kind) &&
		isByte(dst.Kind) || isInt32(src.Kind) && isInt32(dst.Kind)):
		return c.numbers(1, src.Kind.Size(), dst.Kind == schema.Bool && c.to.Filler)
	}
	return cannot()
}

// time compiles a time or duration. In CDR both are the same; which it is, ROS 1 knows.
func (c *compiler) time(src, dst schema.Type) error {
	kind := src.Kind
	if c.from.MaxAlign > 1 {
		kind = dst.Kind
	}
	if (c.from.MaxAlign > 1) == (c.to.MaxAlign > 1) || kind == schema.Struct {
		return c.numbers(2, 4, false)
	}
	if err := c.align(4); err != nil {
		return err
	}
	c.read(8)
	c.wrote(8)
	if kind == schema.Duration {
		return c.emit(op{code: opTime, bit: durationBit, a: 1})
	}
	return c.emit(op{code: opTime, bit: timeBit, a: 1})
}

func isByte(k schema.Kind) bool {
	return k == schema.Int8 || k == schema.Uint8 || k == schema.Byte || k == schema.Char || k == schema.IDLChar
}

func isInt32(k schema.Kind) bool { return k == schema.Int32 || k == schema.Enum }

// numbers compiles n numbers of width bytes.
func (c *compiler) numbers(n, width int, boolean bool) error {
	if err := c.align(width); err != nil {
		return err
	}
	c.read(n * width)
	c.wrote(n * width)
	switch {
	case boolean:
		return c.emit(op{code: opBool, a: n})
	case c.from.BigEndian && width > 1:
		return c.emit(op{code: opSwap, a: n, b: width})
	}
	return c.emit(op{code: opCopy, a: n * width})
}

// boundedText compiles a string that may have to be cut.
func (c *compiler) boundedText(src, dst schema.Type, path string) error {
	if !c.migrate || dst.StringBound == 0 || 0 < src.StringBound && src.StringBound <= dst.StringBound {
		return c.text(src.Kind, dst.Kind)
	}
	if err := c.align(4); err != nil {
		return err
	}
	if err := c.emit(op{code: opTextStart}); err != nil {
		return err
	}
	if err := c.text(src.Kind, dst.Kind); err != nil {
		return err
	}
	end := op{code: opTextEnd, a: dst.StringBound, drop: c.notes.bounded.add(path)}
	if dst.Kind == schema.WString {
		end.b = 1
	}
	return c.emit(end)
}

func (c *compiler) text(src, dst schema.Kind) error {
	if err := c.align(4); err != nil {
		return err
	}
	c.s, c.d = phase{1, 0}, phase{1, 0}
	code := opString
	switch {
	case src == schema.WString && dst == schema.WString:
		code = opWStringWide
	case src == schema.WString:
		code = opWString
	case dst == schema.WString:
		code = opStringWide
	}
	return c.emit(op{code: code})
}

// lead returns the alignment of the first bytes of a value; 1 without alignment.
func (c *compiler) lead(t schema.Type, l ros.Layout) int {
	return c.first(t, l).align
}

// A firstByte is where a value begins: its alignment, if it has any bytes.
type firstByte struct {
	align int
	any   bool
}

type firstKey struct {
	m *schema.Message
	l ros.Layout
}

// first returns where a single value begins.
func (c *compiler) first(t schema.Type, l ros.Layout) firstByte {
	if t.Kind != schema.Struct {
		n := t.Kind.Size()
		if n == 0 || t.Kind == schema.Time || t.Kind == schema.Duration {
			n = 4
		}
		return firstByte{min(n, l.MaxAlign), true}
	}
	if l.Delimited {
		return firstByte{min(4, l.MaxAlign), true}
	}
	k := firstKey{t.Message, l}
	f, known := c.firsts[k]
	if !known {
		f = firstByte{1, len(t.Message.Fields) == 0 && l.Filler}
		for i := 0; i < len(t.Message.Fields) && !f.any; i++ {
			switch ft := t.Message.Fields[i].Type; {
			case ft.Array == schema.Fixed && ft.Len == 0:
			case ft.Array == schema.Bounded || ft.Array == schema.Unbounded || ft.Array == schema.Fixed && l.Sizes &&
				ft.Kind.Size() == 0:
				f = firstByte{min(4, l.MaxAlign), true}
			default:
				f = c.first(ft, l)
			}
		}
		c.firsts[k] = f
	}
	return f
}
