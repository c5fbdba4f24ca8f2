// Package phrase makes text for people: safe for a terminal, and wrapped. It
// knows nothing of recordings. All of it may be used concurrently.
package phrase

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/bagconv/bagconv/internal/iox"
)

// Clean makes text from files safe for a terminal: control characters, and invisible
// characters that change the order of others, become escapes. URLs are shown without what is
// secret in them.
func Clean(s string) string {
	s = iox.ShowAll(s)
	safe := func(r rune) bool {
		return r >= ' ' && r < 0x7f || r >= 0xa0 && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) || r == 0xfffd }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 0xfffd && s[i] != 0xef:
			fmt.Fprintf(&b, `\x%02x`, s[i]) // not UTF-8
		case safe(r):
			b.WriteRune(r)
		case r > 0xff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\x%02x`, r)
		}
	}
	return b.String()
}

// Wrap breaks a line of words before column 80; further lines are indented.
func Wrap(s string, indent int) string { return WrapAt(s, indent, 80) }

// WrapAt breaks a line of words before a column.
func WrapAt(s string, indent, columns int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(s) {
		switch {
		case i > 0 && column+1+Columns(word) > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += Columns(word)
	}
	return b.String()
}

// OrList is "a, b or c".
func OrList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

// Count returns "1 topic" or "2 topics", with separators in large numbers.
func Count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%s %ss", Grouped(n), what)
}

// Grouped writes a number with a comma after each three digits.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
