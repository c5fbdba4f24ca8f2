// Package json walks over messages in JSON (RFC 8259), once to see that they are, and then from value to value by
// their positions in the text:
//
//	t, root, err := json.Open(message)
//	t.Members(root, func(key []byte, at int) { ... t.First(at), t.Raw(at), t.String(at) })
//
// A message is one value with blanks around it, nested up to 1000 deep. Keys may come twice. NaN, Infinity and
// -Infinity, which Python writes for numbers, are values too. What is read points into the message or into memory of
// the Text, and is valid until its next call.
package json

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// An Error is where a message is not JSON.
type Error struct {
	At   int // offset in the message, bytes
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.At) }

// A Text is a message that is JSON. It may be used by one goroutine at a time.
type Text struct {
	scanner
	scratch []byte
}

// Open looks at all of a message, and returns where its value begins.
func Open(message []byte) (t Text, root int, err *Error) {
	s := scanner{message}
	root = s.space(0)
	end, err := s.value(root, 0)
	if err == nil {
		if end = s.space(end); end < len(message) {
			err = bad(end, "there is text after the message")
		}
	}
	return Text{scanner: s}, root, err
}

func bad(at int, what string) *Error { return &Error{at, what} }

// A scanner looks at what it walks over.
type scanner struct{ src []byte }

// maxDepth is how deep values may be nested.
const maxDepth = 1000

// words are values. The last three are Python's.
var words = []string{"true", "false", "null", "NaN", "Infinity", "-Infinity"}

// space returns the position after blanks.
func (s *scanner) space(at int) int {
	for at < len(s.src) && (s.src[at] == ' ' || s.src[at] == '\n' || s.src[at] == '\r' || s.src[at] == '\t') {
		at++
	}
	return at
}

// value steps over a value and returns where it ends.
func (s *scanner) value(at, depth int) (int, *Error) {
	if at >= len(s.src) {
		return at, bad(at, "the message ends too early")
	}
	if depth > maxDepth {
		return at, bad(at, "values are nested too deeply")
	}
	switch c := s.src[at]; {
	case c == '"':
		return s.quoted(at)
	case c == '{' || c == '[':
		return s.nested(at, depth)
	case c == '-' || c >= '0' && c <= '9':
		if end, ok := s.digits(at); ok {
			return end, nil
		}
	}
	for _, w := range words {
		if end := at + len(w); end <= len(s.src) && string(s.src[at:end]) == w {
			return end, nil
		}
	}
	return at, bad(at, "the text is not JSON")
}

// nested steps over an object or an array.
func (s *scanner) nested(at, depth int) (int, *Error) {
	object := s.src[at] == '{'
	last := s.src[at] + 2 // the closing sign
	at = s.space(at + 1)
	if at < len(s.src) && s.src[at] == last {
		return at + 1, nil
	}
	for {
		if object {
			if at >= len(s.src) || s.src[at] != '"' {
				return at, bad(at, "a key is missing")
			}
			end, err := s.quoted(at)
			if err != nil {
				return end, err
			}
			if at = s.space(end); at >= len(s.src) || s.src[at] != ':' {
				return at, bad(at, "a colon is missing")
			}
			at = s.space(at + 1)
		}
		end, err := s.value(at, depth+1)
		if err != nil {
			return end, err
		}
		at = s.space(end)
		switch {
		case at >= len(s.src):
			return at, bad(at, "the message ends too early")
		case s.src[at] == last:
			return at + 1, nil
		case s.src[at] != ',':
			return at, bad(at, "a comma is missing")
		}
		at = s.space(at + 1)
	}
}

// quoted steps over a string.
func (s *scanner) quoted(at int) (int, *Error) {
	for i := at + 1; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '"':
			return i + 1, nil
		case c < ' ':
			return i, bad(i, "a string has a control character")
		case c != '\\':
		case i+1 < len(s.src) && bytes.IndexByte([]byte(`"\/bfnrt`), s.src[i+1]) >= 0:
			i++
		case i+5 < len(s.src) && s.src[i+1] == 'u' && isHex(s.src[i+2:i+6]):
			i += 5
		default:
			return i, bad(i, "a string has a wrong escape")
		}
	}
	return len(s.src), bad(len(s.src), "a string does not end")
}

func isHex(p []byte) bool {
	_, err := strconv.ParseUint(string(p), 16, 16)
	return err == nil && p[0] != '+' && p[0] != '_'
}

// digits steps over a number.
func (s *scanner) digits(at int) (int, bool) {
	run := func() bool {
		from := at
		for at < len(s.src) && s.src[at] >= '0' && s.src[at] <= '9' {
			at++
		}
		return at > from
	}
	if s.src[at] == '-' {
		at++
	}
	if zero := at; !run() || at > zero+1 && s.src[zero] == '0' {
		return at, false
	}
	if at < len(s.src) && s.src[at] == '.' {
		if at++; !run() {
			return at, false
		}
	}
	if at < len(s.src) && s.src[at]|0x20 == 'e' {
		if at++; at < len(s.src) && (s.src[at] == '+' || s.src[at] == '-') {
			at++
		}
		if !run() {
			return at, false
		}
	}
	return at, true
}

// First returns the first byte of the value at pos, which tells what it is: " of a string, { of an object, [ of an
// array, t, f and n of true, false and null, N of NaN, I of Infinity, and - or a digit of a number or -Infinity.
// It is 0 for pos -1, which stands for a value that is not there.
func (t *Text) First(pos int) byte {
	if pos < 0 {
		return 0
	}
	return t.src[pos]
}

// Raw returns the value at pos as its text.
func (t *Text) Raw(pos int) []byte { return t.src[pos:t.end(pos)] }

// end returns where the value at pos ends, in text that was looked at.
func (t *Text) end(pos int) int {
	switch t.src[pos] {
	case '"':
		for i := pos + 1; ; i++ {
			i += bytes.IndexByte(t.src[i:], '"')
			escapes := 0
			for t.src[i-1-escapes] == '\\' {
				escapes++
			}
			if escapes%2 == 0 {
				return i + 1
			}
		}
	case '{', '[':
		for depth := 0; ; pos++ {
			switch t.src[pos] {
			case '"':
				pos = t.end(pos) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return pos + 1
				}
			}
		}
	}
	for pos < len(t.src) && bytes.IndexByte([]byte(",]} \n\r\t"), t.src[pos]) < 0 {
		pos++
	}
	return pos
}

// Members calls f with each key of the object at pos, and where its value begins.
func (t *Text) Members(pos int, f func(key []byte, at int)) {
	for at := t.space(pos + 1); t.src[at] == '"'; {
		key := t.String(at)
		at = t.space(t.space(t.end(at)) + 1) // after the colon
		f(key, at)
		if at = t.space(t.end(at)); t.src[at] == ',' {
			at = t.space(at + 1)
		}
	}
}

// Elements calls f with the position of each value of the array at pos, until f fails.
func (t *Text) Elements(pos int, f func(at int) error) error {
	for at := t.space(pos + 1); t.src[at] != ']'; {
		if err := f(at); err != nil {
			return err
		}
		if at = t.space(t.end(at)); t.src[at] == ',' {
			at = t.space(at + 1)
		}
	}
	return nil
}

// String returns the string at pos in UTF-8. A half of a surrogate pair, and bytes that are not UTF-8, are U+FFFD.
func (t *Text) String(pos int) []byte { return t.unquoted(pos, false) }

// Escaped is String, but that a low half of a surrogate pair from \udc80 to \udcff that stands alone is the byte 80 to
// ff: so Python (surrogateescape) and package render write bytes that are not UTF-8.
func (t *Text) Escaped(pos int) []byte { return t.unquoted(pos, true) }

func (t *Text) unquoted(pos int, escapes bool) []byte {
	p := t.src[pos+1 : t.end(pos)-1]
	if bytes.IndexByte(p, '\\') < 0 && utf8.Valid(p) {
		return p
	}
	out := t.scratch[:0]
	for i := 0; i < len(p); {
		switch {
		case p[i] != '\\':
			c, n := utf8.DecodeRune(p[i:])
			out = utf8.AppendRune(out, c)
			i += n
		case p[i+1] == 'u':
			c := unit(p[i:])
			i += 6
			if escapes && c >= 0xdc80 && c <= 0xdcff {
				out = append(out, byte(c))
				continue
			}
			if utf16.IsSurrogate(c) {
				pair := rune(utf8.RuneError)
				if i+6 <= len(p) && p[i] == '\\' && p[i+1] == 'u' {
					pair = utf16.DecodeRune(c, unit(p[i:]))
				}
				if c = pair; pair != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, c)
		default:
			out = append(out, unescaped(p[i+1]))
			i += 2
		}
	}
	t.scratch = out
	return out
}

// Integer returns the number at pos if it is an integer of 64 bits, or of 53 if it has a point or an exponent.
func (t *Text) Integer(pos int) (int64, bool) {
	if c := t.First(pos); c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	text := string(t.Raw(pos))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64) // 1.0, 1e3
	if err != nil || f != math.Trunc(f) || f < -1<<53 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// Number returns the number at pos. Numbers that JSON does not have are words, which may be in a string. A number that
// a float64 does not hold is infinite, and ok is false.
func (t *Text) Number(pos int) (f float64, ok bool) {
	var text []byte
	switch first := t.First(pos); {
	case first == '"':
		text = t.String(pos)
	case first == '-' || first >= '0' && first <= '9', first == 'N', first == 'I':
		text = t.Raw(pos)
	}
	switch string(text) {
	case "":
		return 0, false
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if t.First(pos) == '"' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil
}

// unit returns the number of an escape \uXXXX.
func unit(p []byte) rune {
	n, _ := strconv.ParseUint(string(p[2:6]), 16, 16)
	return rune(n)
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
