package transcode

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// text copies a string.
func (s *state) text(pos int) (int, error) {
	n, at, err := s.count(pos)
	if err == nil && n > len(s.src)-at {
		err = s.short(at, n)
	}
	if err != nil {
		return pos, err
	}
	text := s.src[at : at+n]
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
	return at + n, nil
}

// wstring reads a wide string: u32 number of UTF-16 units, then, as all ROS 2
// middlewares write it, 4 bytes for each; in XCDR2 a number of bytes, then 2 for
// each. If 4 do not fit, 2 are tried.
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
	var paired bool
	s.dst, paired = ros.AppendUTF8(s.dst, units, false)
	s.replaced = s.replaced || !paired
	if s.prog.to.NUL {
		s.dst = append(s.dst, 0)
	}
	binary.LittleEndian.PutUint32(s.dst[head:], uint32(len(s.dst)-head-4))
	return end, nil
}

// unit appends a character of four bytes: a UTF-16 unit, or a code point if a
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

// length reads the length of a string that is wholly there.
func (s *state) length(pos int) (n, at int, err error) {
	if n, at, err = s.count(pos); err == nil && n > len(s.src)-at {
		err = s.short(at, n)
	}
	return n, at, err
}
