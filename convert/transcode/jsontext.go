package transcode

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/schema/jsonschema"
)

// A jsonText walks over JSON (RFC 8259). Positions are bytes of src. value looks at what
// it walks over; all else takes text that it has seen.
type jsonText struct{ src []byte }

// maxJSONDepth is how deep values may be nested.
const maxJSONDepth = 1000

// words that are values. The last three are Python's.
var jsonWords = []string{"true", "false", "null", "NaN", "Infinity", "-Infinity"}

// space returns the position after blanks.
func (t *jsonText) space(at int) int {
	for at < len(t.src) && (t.src[at] == ' ' || t.src[at] == '\n' || t.src[at] == '\r' || t.src[at] == '\t') {
		at++
	}
	return at
}

// value steps over a value and returns where it ends.
func (t *jsonText) value(at, depth int) (int, error) {
	if at >= len(t.src) {
		return at, t.bad(at, "the message ends too early")
	}
	if depth > maxJSONDepth {
		return at, t.bad(at, "values are nested too deeply")
	}
	switch c := t.src[at]; {
	case c == '"':
		return t.quoted(at)
	case c == '{' || c == '[':
		return t.nested(at, depth)
	case c == '-' || c >= '0' && c <= '9':
		if end, ok := t.digits(at); ok {
			return end, nil
		}
	}
	for _, w := range jsonWords {
		if end := at + len(w); end <= len(t.src) && string(t.src[at:end]) == w {
			return end, nil
		}
	}
	return at, t.bad(at, "the text is not JSON")
}

// nested steps over an object or an array.
func (t *jsonText) nested(at, depth int) (int, error) {
	object := t.src[at] == '{'
	last := t.src[at] + 2 // the closing sign
	at = t.space(at + 1)
	if at < len(t.src) && t.src[at] == last {
		return at + 1, nil
	}
	for {
		if object {
			if at >= len(t.src) || t.src[at] != '"' {
				return at, t.bad(at, "a key is missing")
			}
			end, err := t.quoted(at)
			if err != nil {
				return end, err
			}
			if at = t.space(end); at >= len(t.src) || t.src[at] != ':' {
				return at, t.bad(at, "a colon is missing")
			}
			at = t.space(at + 1)
		}
		end, err := t.value(at, depth+1)
		if err != nil {
			return end, err
		}
		at = t.space(end)
		switch {
		case at >= len(t.src):
			return at, t.bad(at, "the message ends too early")
		case t.src[at] == last:
			return at + 1, nil
		case t.src[at] != ',':
			return at, t.bad(at, "a comma is missing")
		}
		at = t.space(at + 1)
	}
}

// quoted steps over a string.
func (t *jsonText) quoted(at int) (int, error) {
	for i := at + 1; i < len(t.src); i++ {
		switch c := t.src[i]; {
		case c == '"':
			return i + 1, nil
		case c < ' ':
			return i, t.bad(i, "a string has a control character")
		case c != '\\':
		case i+1 < len(t.src) && bytes.IndexByte([]byte(`"\/bfnrt`), t.src[i+1]) >= 0:
			i++
		case i+5 < len(t.src) && t.src[i+1] == 'u' && isHex(t.src[i+2:i+6]):
			i += 5
		default:
			return i, t.bad(i, "a string has a wrong escape")
		}
	}
	return len(t.src), t.bad(len(t.src), "a string does not end")
}

func isHex(p []byte) bool {
	_, err := strconv.ParseUint(string(p), 16, 16)
	return err == nil && p[0] != '+' && p[0] != '_'
}

// digits steps over a number.
func (t *jsonText) digits(at int) (int, bool) {
	run := func() bool {
		from := at
		for at < len(t.src) && t.src[at] >= '0' && t.src[at] <= '9' {
			at++
		}
		return at > from
	}
	if t.src[at] == '-' {
		at++
	}
	if zero := at; !run() || at > zero+1 && t.src[zero] == '0' {
		return at, false
	}
	if at < len(t.src) && t.src[at] == '.' {
		if at++; !run() {
			return at, false
		}
	}
	if at < len(t.src) && t.src[at]|0x20 == 'e' {
		if at++; at < len(t.src) && (t.src[at] == '+' || t.src[at] == '-') {
			at++
		}
		if !run() {
			return at, false
		}
	}
	return at, true
}

// end returns where the value at pos ends, in text that value has looked at.
func (r *jsonRun) end(pos int) int {
	switch r.src[pos] {
	case '"':
		for i := pos + 1; ; i++ {
			i += bytes.IndexByte(r.src[i:], '"')
			escapes := 0
			for r.src[i-1-escapes] == '\\' {
				escapes++
			}
			if escapes%2 == 0 {
				return i + 1
			}
		}
	case '{', '[':
		for depth := 0; ; pos++ {
			switch r.src[pos] {
			case '"':
				pos = r.end(pos) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return pos + 1
				}
			}
		}
	}
	for pos < len(r.src) && bytes.IndexByte([]byte(",]} \n\r\t"), r.src[pos]) < 0 {
		pos++
	}
	return pos
}

// members calls f with each key of the object at pos, and where its value begins.
func (r *jsonRun) members(pos int, f func(key []byte, at int)) {
	for at := r.space(pos + 1); r.src[at] == '"'; {
		key := r.text(at)
		at = r.space(r.space(r.end(at)) + 1) // after the colon
		f(key, at)
		if at = r.space(r.end(at)); r.src[at] == ',' {
			at = r.space(at + 1)
		}
	}
}

// elements calls f with the position of each value of the array at pos.
func (r *jsonRun) elements(pos int, f func(at int) error) error {
	for at := r.space(pos + 1); r.src[at] != ']'; {
		if err := f(at); err != nil {
			return err
		}
		if at = r.space(r.end(at)); r.src[at] == ',' {
			at = r.space(at + 1)
		}
	}
	return nil
}

// text returns the string at pos in UTF-8, valid until the next call. A half of a
// surrogate pair, and bytes that are not UTF-8, are U+FFFD.
func (r *jsonRun) text(pos int) []byte {
	if pos < 0 {
		return nil
	}
	p := r.src[pos+1 : r.end(pos)-1]
	if bytes.IndexByte(p, '\\') < 0 && utf8.Valid(p) {
		return p
	}
	out := r.scratch[:0]
	for i := 0; i < len(p); {
		switch {
		case p[i] != '\\':
			c, n := utf8.DecodeRune(p[i:])
			out = utf8.AppendRune(out, c)
			i += n
		case p[i+1] == 'u':
			c := unit(p[i:])
			i += 6
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
	r.scratch = out
	return out
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

// token returns the text of a value at pos that is not a string, array or object.
func (r *jsonRun) token(pos int) string {
	return string(r.src[pos:r.end(pos)])
}

// integer returns the value of a whole number of 64 bits.
func (r *jsonRun) integer(pos int) (int64, bool) {
	if pos < 0 || r.src[pos] != '-' && (r.src[pos] < '0' || r.src[pos] > '9') {
		return 0, false
	}
	text := r.token(pos)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64) // 1.0, 1e3
	if err != nil || f != math.Trunc(f) || f < -1<<53 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// number returns the value of a number, or of a word for one that JSON does not have.
func (r *jsonRun) number(pos int) (float64, bool) {
	if pos < 0 {
		return 0, false
	}
	var text string
	switch c := r.src[pos]; {
	case c == '"':
		text = string(r.text(pos))
	case c == '{' || c == '[':
		return 0, false
	default:
		text = r.token(pos)
	}
	switch text {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if r.src[pos] == '"' {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// base64 writes the bytes that a string stands for, with padding or without, and
// reports whether it is one.
func (r *jsonRun) base64(pos int) bool {
	head := len(r.w.Buf)
	r.w.U32(0)
	if pos < 0 || r.src[pos] != '"' {
		return false
	}
	out, err := base64.RawStdEncoding.AppendDecode(r.w.Buf, bytes.TrimRight(r.text(pos), "="))
	if err != nil {
		return false
	}
	r.w.Buf = out
	putWord(out[head:], int32(len(out)-head-4))
	return true
}

// time returns the two words of an object of seconds and nanoseconds.
func (r *jsonRun) time(p *jsonschema.Property, pos int) (sec, nsec uint32, ok bool) {
	if pos < 0 || r.src[pos] != '{' {
		return 0, 0, false
	}
	var words [2]int64
	fit := [2]bool{true, true}
	r.members(pos, func(key []byte, at int) {
		i := 0
		switch string(key) {
		case "sec":
		case p.Nanos:
			i = 1
		default:
			r.unknown = true
			return
		}
		if words[i], fit[i] = 0, true; r.src[at] != 'n' {
			words[i], fit[i] = r.integer(at)
		}
	})
	first, last := int64(0), int64(math.MaxUint32)
	if p.Form == jsonschema.Duration {
		first, last = math.MinInt32, math.MaxInt32
	}
	if !fit[0] || !fit[1] || words[0] < first || words[0] > last || words[1] < 0 || words[1] >= 1e9 {
		return 0, 0, false
	}
	return uint32(words[0]), uint32(words[1]), true
}
