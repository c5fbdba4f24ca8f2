package phrase

import (
	"strings"
	"unicode"
)

// wide are the characters that take two columns of a terminal: scripts and signs of East Asia, and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x231a, Hi: 0x231b, Stride: 1}, {Lo: 0x23e9, Hi: 0x23ec, Stride: 1},
		{Lo: 0x2614, Hi: 0x2615, Stride: 1}, {Lo: 0x26a1, Hi: 0x26a1, Stride: 1}, {Lo: 0x2705, Hi: 0x2705, Stride: 1},
		{Lo: 0x274c, Hi: 0x274c, Stride: 1}, {Lo: 0x2b50, Hi: 0x2b50, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1}, {Lo: 0xa960, Hi: 0xa97c, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff01, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18aff, Stride: 1}, {Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// columnsOf returns how many columns of a terminal a character takes.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0 // it stands on the one before it
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Columns returns how many columns of a terminal a text takes that Clean has made.
func Columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// Pad adds blanks behind a text until it takes some columns.
func Pad(s string, columns int) string { return s + strings.Repeat(" ", max(0, columns-Columns(s))) }

// Fold breaks a line that is wider than some columns at blanks, never within a word; further lines are indented. Blanks
// between words that stay on one line stay.
func Fold(line string, indent, columns int) string {
	var b strings.Builder
	used := 0
	for rest := line; rest != ""; {
		gap := len(rest) - len(strings.TrimLeft(rest, " "))
		word := rest[gap:]
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word = word[:end]
		}
		rest = rest[gap+len(word):]
		switch width := Columns(word); {
		case word == "":
		case b.Len() > 0 && used+gap+width > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent) + word)
			used = indent + width
		default:
			b.WriteString(strings.Repeat(" ", gap) + word)
			used += gap + width
		}
	}
	return b.String()
}
