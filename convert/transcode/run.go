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
	wrapped  bool // a time has another value in the destination
	marks    [maxMarks]int
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
			s.dst = append(s.dst, src[pos:pos+o.a]...)
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
			if o.drop != 0 && !isZero(src[pos:pos+o.a]) {
				s.value(o)
			}
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
			n, at, err := s.length(pos)
			if err != nil {
				return pos, err
			}
			text := src[at : at+n]
			pos = at + n
			if s.prog.from.NUL && n > 0 && text[n-1] == 0 {
				text = text[:n-1]
			}
			if s.prog.to.NUL {
				s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(len(text)+1))
				s.dst = append(append(s.dst, text...), 0)
			} else {
				s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(len(text)))
				s.dst = append(s.dst, text...)
			}
		case opList, opSkipList, opListBool, opListTime, opListSwap:
			n, at, err := s.list(pos, o)
			if err != nil {
				return pos, err
			}
			pos = at + n
			switch o.code {
			case opList:
				s.dst = append(s.dst, src[at:pos]...)
			case opListBool:
				s.bools(src[at:pos])
			case opListTime:
				s.times(src[at:pos], o.bit)
			case opListSwap:
				s.swap(src[at:pos], o.b)
			}
		case opLoop, opSkipLoop:
			n, at, err := s.list(pos, o)
			if err != nil {
				return pos, err
			}
			pos = at
			for range n {
				if pos, err = s.run(pos, i+1, i+1+o.n); err != nil {
					return pos, err
				}
			}
			i += o.n
		case opRepeat:
			if o.b == 0 {
				if s.fuel -= o.a; s.fuel < 0 {
					return pos, &Error{Offset: pos, What: "too many elements that take no bytes"}
				}
			} else if o.a > (len(src)-pos)/o.b {
				return pos, s.short(pos, o.a*o.b)
			}
			var err error
			for range o.a {
				if pos, err = s.run(pos, i+1, i+1+o.n); err != nil {
					return pos, err
				}
			}
			i += o.n
		case opMark:
			s.marks[o.a] = pos
		case opSeek:
			pos = s.marks[o.a]
		default:
			var err error
			if pos, err = s.rare(pos, o); err != nil {
				return pos, err
			}
		}
	}
	return pos, nil
}

// rare executes the ops that most messages do not have.
func (s *state) rare(pos int, o *op) (int, error) {
	src := s.src
	switch o.code {
	case opBool, opTable, opSwap:
		n := o.a
		if o.code == opSwap {
			n *= o.b
		}
		if n > len(src)-pos {
			return pos, s.short(pos, n)
		}
		switch o.code {
		case opBool:
			s.bools(src[pos : pos+n])
		case opTable:
			for _, v := range src[pos : pos+n] {
				s.dst = append(s.dst, o.tab[v])
			}
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
	return s.wstring(pos, o) // opWString, opWStringWide, opSkipWString
}

// wstring reads a wide string: u32 number of UTF-16 units, then, as all ROS 2
// middlewares write it, 4 bytes for each; in XCDR2 a number of bytes, then 2 for
// each. Where 4 do not fit, 2 are tried.
func (s *state) wstring(pos int, o *op) (int, error) {
	n, at, err := s.count(pos)
	if err != nil {
		return pos, err
	}
	width := 4
	if s.prog.from.Sizes {
		width, n = 2, n/2
	} else if n > (len(s.src)-at)/4 {
		width = 2
	}
	if n > (len(s.src)-at)/width {
		return pos, s.short(at, n*width)
	}
	end := at + n*width
	if o.code == opSkipWString {
		if o.drop != 0 && n > 0 {
			s.value(o)
		}
		return end, nil
	}
	units := make([]uint16, 0, n)
	for p := s.src[at:end]; len(p) > 0; p = p[width:] {
		switch {
		case width == 2 && s.prog.from.BigEndian:
			units = append(units, binary.BigEndian.Uint16(p))
		case width == 2:
			units = append(units, binary.LittleEndian.Uint16(p))
		case s.prog.from.BigEndian:
			units = s.unit(units, binary.BigEndian.Uint32(p))
		default:
			units = s.unit(units, binary.LittleEndian.Uint32(p))
		}
	}
	if o.code == opWStringWide {
		s.wide(units)
		return end, nil
	}
	head := len(s.dst)
	s.dst = append(s.dst, 0, 0, 0, 0)
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if i+1 < len(units) {
				second = rune(units[i+1])
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				s.replaced = true
			} else {
				i++
			}
		}
		s.dst = utf8.AppendRune(s.dst, r)
	}
	if s.prog.to.NUL {
		s.dst = append(s.dst, 0)
	}
	binary.LittleEndian.PutUint32(s.dst[head:], uint32(len(s.dst)-head-4))
	return end, nil
}

// unit appends a character of four bytes: a UTF-16 unit, or a code point where a
// publisher's characters are that wide.
func (s *state) unit(units []uint16, v uint32) []uint16 {
	if v <= 0xffff {
		return append(units, uint16(v))
	}
	s.replaced = s.replaced || v > utf8.MaxRune
	return utf16.AppendRune(units, rune(min(v, utf8.MaxRune+1)))
}

// wide writes a wide string.
func (s *state) wide(units []uint16) {
	s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(len(units)))
	for _, u := range units {
		s.dst = binary.LittleEndian.AppendUint32(s.dst, uint32(u))
	}
}

// count reads a u32 and returns it with the position behind it.
func (s *state) count(pos int) (n, at int, err error) {
	if len(s.src)-pos < 4 {
		return 0, pos, s.short(pos, 4)
	}
	if s.prog.from.BigEndian {
		return int(binary.BigEndian.Uint32(s.src[pos:])), pos + 4, nil
	}
	return int(binary.LittleEndian.Uint32(s.src[pos:])), pos + 4, nil
}

// length reads the length of a string that is wholly there.
func (s *state) length(pos int) (n, at int, err error) {
	if n, at, err = s.count(pos); err == nil && n > len(s.src)-at {
		err = s.short(at, n)
	}
	return n, at, err
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
		return 0, at, &Error{Offset: pos, What: fmt.Sprintf("a list of %d elements, and %d bytes are left", count, max(0, len(s.src)-at))}
	}
	if o.code == opLoop || o.code == opSkipLoop {
		return count, at, nil
	}
	return count * o.b, at, nil
}

// value notes that the field which an op skips has a value.
func (s *state) value(o *op) {
	s.valued = true
	s.lost.value(o.drop)
}

func (s *state) zero(n int) {
	for n > len(zeros) {
		s.dst = append(s.dst, zeros[:]...)
		n -= len(zeros)
	}
	s.dst = append(s.dst, zeros[:n]...)
}

// bools copies bytes, making each 0 or 1: ROS 2 refuses others. Nearly all are
// so already, eight at a time.
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
	return &Error{Offset: pos, What: fmt.Sprintf("the message ends: %d bytes wanted, %d left", want, len(s.src)-pos)}
}
