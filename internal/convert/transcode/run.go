package transcode

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A state is one message on its way.
type state struct {
	prog     *program
	lost     *LossCounter
	src      []byte // without the encapsulation header
	dst      []byte
	base     int // where the body begins in dst
	fuel     int
	valued   bool // a dropped field had a value
	replaced bool // text has U+FFFD for what it cannot be
	changed  bool // a number has another value in the destination
	cut      bool // a list or string is cut

	wrapped    bool // a time has another value in the destination
	normalized bool // a time has other words of the same value

	textAt int // where the last bounded string begins in dst
	marks  [maxMarks]int
	ends   []int // of the delimited structs that it is in
	extra  int   // bytes of fields that delimited structs have and their definitions have not
}

var zeros [64]byte

// run executes ops[from:to] with the source at position pos, and returns where
// it ends there.
func (s *state) run(pos, from, to int) (int, error) {
	src, ops := s.src, s.prog.ops
	for i := from; i < to; i++ {
		o := &ops[i]
		switch o.code {
		case opCopy:
			if o.a > len(src)-pos {
				return pos, s.short(pos, o.a)
			}
			s.dst = appendBytes(s.dst, src[pos:pos+o.a])
			pos += o.a
		case opTime:
			n := 8 * o.a
			if n > len(src)-pos {
				return pos, s.short(pos, n)
			}
			if o.a == 1 && !s.prog.from.BigEndian { // nearly all
				v := binary.LittleEndian.Uint64(src[pos:])
				if v>>(o.bit&63)&1 != 0 {
					v = s.unusual(v, o.bit)
				}
				s.dst = binary.LittleEndian.AppendUint64(s.dst, v)
			} else {
				s.times(src[pos:pos+n], o.bit)
			}
			pos += n
		case opSkip:
			if o.a > len(src)-pos {
				return pos, s.short(pos, o.a)
			}
			s.leave(o, src[pos:pos+o.a])
			pos += o.a
		case opZero:
			if s.fuel -= o.a / len(zeros); s.fuel < 0 {
				return pos, &Error{Offset: pos, What: "too many bytes of fields that the message does not have"}
			}
			s.zero(o.a)
		case opAlignSrc:
			pos += ros.Padding(pos, o.a)
			if pos > len(src) {
				return pos, s.short(len(src), pos-len(src))
			}
		case opAlignDst:
			s.zero(ros.Padding(len(s.dst)-s.base, o.a))
		case opString:
			var err error
			if pos, err = s.text(pos); err != nil {
				return pos, err
			}
		case opTextBlock:
			var err error
			if pos, err = s.textBlock(pos, o); err != nil {
				return pos, err
			}
		case opBlock:
			var err error
			if pos, err = s.block(pos, o); err != nil {
				return pos, err
			}
		case opList, opSkipList, opListBool, opListTime, opListSwap, opListCast:
			var err error
			if pos, err = s.plainList(pos, o); err != nil {
				return pos, err
			}
		case opLoop, opSkipLoop, opRepeat, opFit:
			var err error
			if pos, err = s.loop(pos, i+1, o); err != nil {
				return pos, err
			}
			i += o.n
		default:
			var err error
			if pos, err = s.rare(pos, o); err != nil {
				return pos, err
			}
		}
	}
	return pos, nil
}

// appendBytes appends bytes, without a call for the bytes of a time.
func appendBytes(dst, p []byte) []byte {
	if len(p) == 8 {
		return binary.LittleEndian.AppendUint64(dst, binary.LittleEndian.Uint64(p))
	}
	return append(dst, p...)
}

// plainList copies or skips a list whose elements need no ops of their own.
func (s *state) plainList(pos int, o *op) (int, error) {
	n, at, err := s.list(pos, o)
	if err != nil {
		return pos, err
	}
	end := at + n
	switch o.code {
	case opList:
		s.dst = append(s.dst, s.src[at:end]...)
	case opListBool:
		s.bools(s.src[at:end])
	case opListTime:
		s.times(s.src[at:end], o.bit)
	case opListSwap:
		s.swap(s.src[at:end], o.b)
	case opListCast:
		s.casts(&o.more.cast, s.src[at:end])
	}
	return end, nil
}

// loop executes the o.n ops from from on for each element of a list, or of an array.
func (s *state) loop(pos, from int, o *op) (_ int, err error) {
	n := o.a
	switch {
	case o.code == opFit:
		return s.fit(pos, from, o)
	case o.code != opRepeat:
		if n, pos, err = s.list(pos, o); err != nil {
			return pos, err
		}
	case o.b == 0:
		if s.fuel -= n; s.fuel < 0 {
			return pos, &Error{Offset: pos, What: "too many elements that take no bytes"}
		}
	case n > (len(s.src)-pos)/o.b:
		return pos, s.short(pos, n*o.b)
	}
	for range n {
		if pos, err = s.run(pos, from, from+o.n); err != nil {
			return pos, err
		}
	}
	return pos, nil
}

// rare executes the ops that most messages do not have.
func (s *state) rare(pos int, o *op) (int, error) {
	src := s.src
	switch o.code {
	case opBool, opCast, opSwap:
		n := o.a
		switch o.code {
		case opSwap:
			n *= o.b
		case opCast:
			n *= o.more.cast.from.Size()
		}
		if n > len(src)-pos {
			return pos, s.short(pos, n)
		}
		switch o.code {
		case opBool:
			s.bools(src[pos : pos+n])
		case opCast:
			s.casts(&o.more.cast, src[pos:pos+n])
		case opSwap:
			s.swap(src[pos:pos+n], o.b)
		}
		return pos + n, nil
	case opSkipString:
		n, at, err := s.length(pos)
		if err == nil && o.drop != 0 && !isZero(src[at:at+n]) {
			s.value(o)
		}
		return at + n, err
	case opEmpty:
		if s.prog.to.NUL {
			s.dst = append(s.dst, 1, 0, 0, 0, 0)
		} else {
			s.dst = append(s.dst, 0, 0, 0, 0)
		}
		return pos, nil
	case opCount:
		s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(o.a))
		return pos, nil
	case opMark:
		s.marks[o.a] = pos
		return pos, nil
	case opSeek:
		return s.marks[o.a], nil
	case opConst:
		s.dst = append(s.dst, o.more.data...)
		return pos, nil
	case opTextStart:
		s.textAt = len(s.dst)
		return pos, nil
	case opTextEnd:
		s.cutText(o)
		return pos, nil
	case opStringWide:
		n, at, err := s.length(pos)
		if err != nil {
			return pos, err
		}
		text := src[at : at+n]
		if s.prog.from.NUL && n > 0 && text[n-1] == 0 {
			text = text[:n-1]
		}
		s.replaced = s.replaced || !utf8.Valid(text)
		s.wide(utf16.Encode([]rune(string(text))))
		return at + n, nil
	}
	if o.code == opEnter || o.code == opLeave {
		return s.delimited(pos, o)
	}
	return s.wstring(pos, o) // opWString, opWStringWide, opSkipWString
}

// delimited reads the size before a delimited struct, or goes to the end that it has.
func (s *state) delimited(pos int, o *op) (int, error) {
	if o.code == opEnter {
		n, at, err := s.count(pos)
		if err == nil && n > len(s.src)-at {
			err = &Error{Offset: pos, What: fmt.Sprintf("a struct of %d bytes, but only %d are left", n, len(s.src)-at)}
		}
		s.ends = append(s.ends, at+n)
		return at, err
	}
	last := len(s.ends) - 1
	end := s.ends[last]
	s.ends = s.ends[:last]
	if pos > end {
		return pos, &Error{Offset: pos, What: "a struct of fewer bytes than its fields have"}
	}
	if last == 0 {
		return pos, nil // what follows is the caller's to report
	}
	if o.a != 0 {
		s.extra += Trailing(s.src[pos:end])
	}
	return end, nil
}

// count reads a u32 and returns it with the position after it.
func (s *state) count(pos int) (n, at int, err error) {
	if len(s.src)-pos < 4 {
		return 0, pos, s.short(pos, 4)
	}
	if s.prog.from.BigEndian {
		return int(binary.BigEndian.Uint32(s.src[pos:])), pos + 4, nil
	}
	return int(binary.LittleEndian.Uint32(s.src[pos:])), pos + 4, nil
}

// list reads the count of a list, writes it, and aligns both sides to the first
// element. For loops n is the number of elements, else their bytes.
func (s *state) list(pos int, o *op) (n, at int, err error) {
	count, at, err := s.count(pos)
	if err != nil {
		return 0, at, err
	}
	write := o.code != opSkipList && o.code != opSkipLoop
	if write {
		s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(count))
	}
	if count == 0 {
		return 0, at, nil
	}
	if o.drop != 0 {
		s.value(o)
	}
	if a := o.a >> 4; a > 1 {
		at += ros.Padding(at, a)
	}
	if a := o.a & 15; a > 1 && write {
		s.zero(ros.Padding(len(s.dst)-s.base, a))
	}
	if o.b == 0 {
		if s.fuel -= count; s.fuel < 0 {
			return 0, at, &Error{Offset: pos, What: "too many elements that take no bytes"}
		}
	} else if at > len(s.src) || count > (len(s.src)-at)/o.b {
		return 0, at, &Error{Offset: pos, What: fmt.Sprintf("a list of %d elements, but only %d bytes are left", count,
			max(0, len(s.src)-at))}
	}
	if o.code == opLoop || o.code == opSkipLoop {
		return count, at, nil
	}
	return count * o.b, at, nil
}

// leave notes what is skipped.
func (s *state) leave(o *op, p []byte) {
	if o.drop != 0 && !isZero(p) {
		s.value(o)
	}
}

// value notes that the field which an op skips has a value.
func (s *state) value(o *op) {
	s.valued = true
	s.lost.dropped.hit(o.drop)
}

func (s *state) zero(n int) {
	for n > len(zeros) {
		s.dst = append(s.dst, zeros[:]...)
		n -= len(zeros)
	}
	s.dst = append(s.dst, zeros[:n]...)
}

// bools copies bytes, making each 0 or 1: ROS 2 refuses others. Nearly all bytes
// are so already, eight at a time.
func (s *state) bools(p []byte) {
	at := len(s.dst)
	s.dst = append(s.dst, p...)
	d := s.dst[at:]
	for len(d) >= 8 && binary.LittleEndian.Uint64(d)&^0x0101010101010101 == 0 {
		d = d[8:]
	}
	for i, v := range d {
		if v > 1 {
			d[i] = 1
		}
	}
}

// swap copies numbers, turning their bytes around.
func (s *state) swap(p []byte, width int) {
	at := len(s.dst)
	s.dst = append(s.dst, p...)
	d := s.dst[at:]
	switch width {
	case 2:
		for ; len(d) >= 2; d = d[2:] {
			binary.LittleEndian.PutUint16(d, binary.BigEndian.Uint16(d))
		}
	case 4:
		for ; len(d) >= 4; d = d[4:] {
			binary.LittleEndian.PutUint32(d, binary.BigEndian.Uint32(d))
		}
	case 8:
		for ; len(d) >= 8; d = d[8:] {
			binary.LittleEndian.PutUint64(d, binary.BigEndian.Uint64(d))
		}
	}
}

func (s *state) short(pos, want int) error {
	return &Error{Offset: pos, What: fmt.Sprintf("the message ends too early: %d bytes needed, %d left", want,
		len(s.src)-pos)}
}
