package content

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// A rosReader is one message on its way. How values stand in it:
//
//	          ROS 1                       CDR
//	start     nothing                     00, id, two bytes of options; alignment counts from behind them
//	number    n bytes                     n bytes at a multiple of n, but of 4 at most in version 2
//	string    u32 length, bytes           u32 length with NUL, bytes, NUL
//	wstring                               u32 units, 4 bytes for each; version 2: u32 bytes, 2 for each unit
//	T[N]      N values                    N values
//	T[]       u32 count, values           u32 count, values
//	struct    its fields                  its fields; without fields one byte
//
// Version 2 has a u32 size before lists and arrays of what is no number, and when it
// is delimited before structs too. (OMG DDS-XTypes 1.3, section 7.4; the ids are
// those of RTPS, 10.2.1.2, and those of XTypes, 7.6.2.1.2.)
type rosReader struct {
	w     *Writer
	src   []byte
	pos   int
	head  int // bytes before src
	fuel  int
	marks []int

	ros1      bool
	big       bool
	align     int // the largest alignment
	sized     bool
	delimited bool
}

func readROS(p *Program, w *Writer, src []byte) error {
	r := rosReader{w: w, src: src, fuel: maxFuel, align: 1, ros1: !p.cdr}
	if p.cdr {
		if err := r.open(); err != nil {
			return err
		}
	}
	if err := r.structure(p.ros); err != nil {
		return err
	}
	rest := r.src[r.pos:]
	switch {
	case len(rest) == 0:
	case r.ros1:
		return r.bad("%d bytes are left over", len(rest))
	case !isPadding(rest):
		w.Rest = true
	}
	return nil
}

// isPadding tells what middlewares put behind the last field.
func isPadding(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return len(p) < 8
}

// open reads the encapsulation header.
func (r *rosReader) open() error {
	if len(r.src) < 4 {
		return r.bad("CDR begins with 4 bytes, this message ends before")
	}
	id := r.src[1]
	r.big, r.align = id&1 == 0, 8
	switch {
	case r.src[0] != 0:
		id = 0xff
	case id == 6 || id == 7 || id == 0x10 || id == 0x11:
		r.align, r.sized = 4, true
	case id == 8 || id == 9 || id == 0x14 || id == 0x15:
		r.align, r.sized, r.delimited = 4, true, true
	}
	if id > 1 && !r.sized {
		return r.bad("a representation of CDR that is not read: %x", r.src[:2])
	}
	r.src, r.head = r.src[4:], 4
	return nil
}

func (r *rosReader) bad(format string, a ...any) error { return malformed(r.head+r.pos, format, a...) }

// take returns n bytes, behind the padding to a multiple of align.
func (r *rosReader) take(n, align int) ([]byte, error) {
	at := r.pos
	if a := min(align, r.align); a > 1 {
		at = (at + a - 1) &^ (a - 1)
	}
	if n < 0 || at > len(r.src) || n > len(r.src)-at {
		return nil, r.bad("%d bytes wanted, %d are left", n, len(r.src)-r.pos)
	}
	r.pos = at + n
	return r.src[at:r.pos], nil
}

func (r *rosReader) word() (uint32, error) {
	p, err := r.take(4, 4)
	if err != nil {
		return 0, err
	}
	if r.big {
		return binary.BigEndian.Uint32(p), nil
	}
	return binary.LittleEndian.Uint32(p), nil
}

// structure reads a struct.
func (r *rosReader) structure(n *rosNode) error {
	end := -1
	if r.delimited {
		if n.opened {
			return r.bad("%s in delimited CDR cannot be compared with its other form", n.name)
		}
		size, err := r.word()
		if err != nil {
			return err
		}
		if end = r.pos + int(size); end > len(r.src) {
			return r.bad("a struct of %d bytes, and %d are left", size, len(r.src)-r.pos)
		}
	}
	if n.empty && !r.ros1 {
		if _, err := r.take(1, 1); err != nil {
			return err
		}
	}
	open := len(r.marks)
	for range n.marks {
		r.marks = append(r.marks, 0)
	}
	for i := range n.steps {
		s := &n.steps[i]
		var err error
		switch s.op {
		case opValue:
			err = r.value(s)
		case opZero:
			r.w.zeros(s.size)
		case opMark:
			r.marks[open+s.mark] = r.pos
		case opSeek:
			r.pos = r.marks[open+s.mark]
		}
		if err != nil {
			return err
		}
	}
	r.marks = r.marks[:open]
	if end >= 0 {
		if r.pos > end {
			return r.bad("a struct of fewer bytes than its fields have")
		}
		if !isPadding(r.src[r.pos:end]) {
			r.w.Rest = true
		}
		r.pos = end
	}
	return nil
}

// value reads a field.
func (r *rosReader) value(s *rosStep) error {
	n := s.count
	if r.sized && s.form != formNumber && (s.list || s.count != 1 || s.tell) {
		if _, err := r.word(); err != nil {
			return err
		}
	}
	if s.list {
		count, err := r.word()
		if err != nil {
			return err
		}
		n = int(count)
	}
	if n > 1 && s.min > 0 && n > (len(r.src)-r.pos)/s.min {
		return r.bad("%d values, and %d bytes are left", n, len(r.src)-r.pos)
	}
	if s.emit && (s.list || s.tell) {
		r.w.u32(uint32(n))
	}
	if s.form == formNumber {
		return r.numbers(s, n)
	}
	if s.form == formStruct && s.min == 0 && r.ros1 {
		if s.list {
			r.fuel -= n
		}
		if r.fuel < 0 {
			return r.bad("too many values that take no bytes")
		}
		return nil
	}
	for range n {
		was := r.pos
		if err := r.one(s); err != nil {
			return err
		}
		if r.pos == was {
			if r.fuel--; r.fuel < 0 {
				return r.bad("too many values that take no bytes")
			}
		}
	}
	return nil
}

func (r *rosReader) numbers(s *rosStep, n int) error {
	if n == 0 {
		return nil
	}
	p, err := r.take(n*s.size, s.size)
	switch {
	case err != nil || !s.emit:
		return err
	case s.table != nil && s.size == 1:
		for _, v := range p {
			r.w.bytes([]byte{s.table[v]})
		}
	case r.big && s.size > 1:
		r.w.swapped(p, s.class, s.size)
	default:
		r.w.numbers(p, s.class)
	}
	return nil
}

// one reads a value that is no number.
func (r *rosReader) one(s *rosStep) error {
	switch s.form {
	case formStruct:
		return r.structure(s.node)
	case formText:
		return r.text(s.emit)
	case formWide:
		return r.wide(s.emit)
	case formCounter:
		v, err := r.word()
		if err == nil && s.emit {
			r.w.counter(v)
		}
		return err
	}
	if r.delimited {
		if _, err := r.word(); err != nil {
			return err
		}
	}
	sec, err := r.word()
	if err != nil {
		return err
	}
	nsec, err := r.word()
	if err != nil || !s.emit {
		return err
	}
	// time of ROS 1 is u32 and u32, its duration i32 and i32; both are i32 and u32 in ROS 2.
	whole, part := int64(int32(sec)), int64(nsec)
	if r.ros1 && s.form == formTime {
		whole = int64(sec)
	}
	if r.ros1 && s.form == formDuration {
		part = int64(int32(nsec))
	}
	r.w.time(whole, part, s.form == formDuration)
	return nil
}

func (r *rosReader) text(emit bool) error {
	n, err := r.word()
	if err != nil {
		return err
	}
	p, err := r.take(int(n), 1)
	if err != nil || !emit {
		return err
	}
	if !r.ros1 && n > 0 {
		if p[n-1] == 0 {
			p = p[:n-1]
		} else {
			r.w.Open = true
		}
	}
	r.w.text(p)
	return nil
}

// wide reads a wide string. Where 4 bytes for each unit do not fit, 2 are tried: so
// one middleware writes them. A surrogate that stands alone is written as if it
// were a character, and so is different from all others. Some publishers have code
// points in the 4 bytes.
func (r *rosReader) wide(emit bool) error {
	count, err := r.word()
	if err != nil {
		return err
	}
	n, width := int(count), 4
	if r.sized {
		n, width = n/2, 2
	} else if n > (len(r.src)-r.pos)/4 {
		width = 2
	}
	if n > (len(r.src)-r.pos)/width {
		return r.bad("a wide string of %d units, and %d bytes are left", n, len(r.src)-r.pos)
	}
	p, err := r.take(n*width, 1)
	if err != nil || !emit {
		return err
	}
	unit := func(i int) rune {
		u := p[i*width:]
		switch {
		case r.big && width == 4:
			return rune(min(binary.BigEndian.Uint32(u), utf8.MaxRune+1))
		case r.big:
			return rune(binary.BigEndian.Uint16(u))
		case width == 4:
			return rune(min(binary.LittleEndian.Uint32(u), utf8.MaxRune+1))
		}
		return rune(binary.LittleEndian.Uint16(u))
	}
	var out []byte
	for i := 0; i < n; i++ {
		c := unit(i)
		if utf16.IsSurrogate(c) {
			if i+1 < n {
				if full := utf16.DecodeRune(c, unit(i+1)); full != utf8.RuneError {
					out = utf8.AppendRune(out, full)
					i++
					continue
				}
			}
			if r.w.within != nil {
				r.w.Replaced = true
			}
			if r.w.held {
				c = utf8.RuneError
			}
			out = append(out, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
			continue
		}
		if c > utf8.MaxRune && r.w.within != nil {
			r.w.Replaced = true
		}
		out = utf8.AppendRune(out, c)
	}
	if len(out) > math.MaxUint32 {
		return r.bad("a wide string of %d bytes", len(out))
	}
	r.w.text(out)
	return nil
}
