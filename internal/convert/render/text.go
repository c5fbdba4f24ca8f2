package render

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// An out is the text on its way. It knows styles, not messages.
type out struct {
	buf    []byte
	style  Style
	yaml   bool // of all of the text; style may be JSON for a part of it
	bytes  bool
	arrays bool
	indent int
	inline bool // YAML: the next key stands on this line, after a dash
	limit  int  // length that buf may reach
	noted  [len(noteNames)]bool
}

// A label is a field's name as the styles write it.
type label struct {
	json []byte // with what stands before it: `{"x":` for the first field, else `,"x":`
	yaml []byte // `x:`
}

func labelOf(name string, first bool) label {
	j := []byte{','}
	if first {
		j[0] = '{'
	}
	j = append(AppendQuoted(j, []byte(name)), ':')
	return label{j, append(appendYAMLKey(nil, name), ':')}
}

// appendYAMLKey quotes the names that YAML would take for something else.
func appendYAMLKey(b []byte, name string) []byte {
	switch name {
	case "on", "off", "yes", "no", "true", "false", "null",
		"On", "Off", "Yes", "No", "True", "False", "Null",
		"ON", "OFF", "YES", "NO", "TRUE", "FALSE", "NULL":
		return AppendQuoted(b, []byte(name))
	}
	for i := range len(name) {
		c := name[i] | 0x20
		if !(c >= 'a' && c <= 'z' || name[i] == '_' || i > 0 && (name[i] >= '0' && name[i] <= '9' || name[i] == '.')) {
			return AppendQuoted(b, []byte(name))
		}
	}
	if name == "" {
		return append(b, `""`...)
	}
	return append(b, name...)
}

// key begins a field of a struct. A flow value follows on the same line.
func (w *out) key(l *label, flow bool) {
	if w.style != YAML {
		w.buf = append(w.buf, l.json...)
		return
	}
	if !w.inline {
		w.newline()
	}
	w.inline = false
	w.buf = append(w.buf, l.yaml...)
	if flow {
		w.buf = append(w.buf, ' ')
	}
}

const blanks = "                                "

func (w *out) newline() {
	w.buf = append(w.buf, '\n')
	n := 2 * w.indent
	for ; n > len(blanks); n -= len(blanks) {
		w.buf = append(w.buf, blanks...)
	}
	w.buf = append(w.buf, blanks[:n]...)
}

// root begins the outermost struct. In YAML it stands after the name of an outer
// field when it is indented.
func (w *out) root() { w.inline = w.style == YAML && w.indent == 0 }

// close ends a struct that has fields.
func (w *out) close() {
	if w.style != YAML {
		w.buf = append(w.buf, '}')
	}
}

// closeRoot ends the outermost struct, of n fields.
func (w *out) closeRoot(n int) {
	if n > 0 {
		w.close()
	} else {
		w.flow("{}")
	}
}

// element begins element i of a list of structs.
func (w *out) element(i int) {
	switch {
	case w.style == YAML:
		w.newline()
		w.buf = append(w.buf, '-', ' ')
		w.inline = true
	case i > 0:
		w.buf = append(w.buf, ',')
	default:
		w.buf = append(w.buf, '[')
	}
}

// endElements ends a list of n structs.
func (w *out) endElements(n int) {
	switch {
	case n == 0:
		w.flow("[]")
	case w.style != YAML:
		w.buf = append(w.buf, ']')
	}
}

// flow writes a value in one piece, also if a block could stand there.
func (w *out) flow(text string) {
	if w.style == YAML && !w.inline {
		w.buf = append(w.buf, ' ')
	}
	w.inline = false
	w.buf = append(w.buf, text...)
}

// comma stands between the values of a list on one line.
func (w *out) comma() {
	if w.buf = append(w.buf, ','); w.style == YAML {
		w.buf = append(w.buf, ' ')
	}
}

// null writes a value that is not there: an empty cell in CSV. flow means that no
// block could stand in its place.
func (w *out) null(flow bool) {
	switch {
	case w.style == CSV:
	case flow:
		w.buf = append(w.buf, "null"...)
	default:
		w.flow("null")
	}
}

func (w *out) bool(v bool) { w.buf = strconv.AppendBool(w.buf, v) }
func (w *out) int(v int64) { w.buf = strconv.AppendInt(w.buf, v, 10) }

func (w *out) int64(v int64)     { w.buf = appendInt64(w.buf, v, w.style) }
func (w *out) uint64(v uint64)   { w.buf = appendUint64(w.buf, v, w.style) }
func (w *out) float64(v float64) { w.buf = AppendFloat(w.buf, v, 64, w.style) }
func (w *out) float32(v float32) { w.buf = AppendFloat(w.buf, float64(v), 32, w.style) }

// AppendFloat appends a float64, or with 32 bits a float32, in the words of a style: with a point, so that it is read
// as a float everywhere.
func AppendFloat(dst []byte, v float64, bits int, s Style) []byte {
	abs := math.Abs(v)
	switch {
	case math.Float64bits(v) == 0:
		return append(dst, '0', '.', '0')
	case abs < 1<<24 && v == math.Trunc(v):
		if v == 0 { // with its sign
			dst = append(dst, '-')
		}
		return append(strconv.AppendInt(dst, int64(v), 10), '.', '0')
	case abs >= 1e-4 && abs < 1e15:
		dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
		if v == math.Trunc(v) {
			dst = append(dst, '.', '0')
		}
		return dst
	case v != v || abs > math.MaxFloat64:
		return appendNotFinite(dst, v, s)
	}
	return appendExponent(dst, v, bits)
}

// appendExponent writes 1.0e+22: YAML 1.1 takes a number without a point, or an
// exponent without a sign, for a text.
func appendExponent(dst []byte, v float64, bits int) []byte {
	at := len(dst)
	dst = strconv.AppendFloat(dst, v, 'e', -1, bits)
	e := at + bytes.IndexByte(dst[at:], 'e')
	if bytes.IndexByte(dst[at:e], '.') >= 0 {
		return dst
	}
	return slices.Insert(dst, e, '.', '0')
}

func appendNotFinite(dst []byte, v float64, s Style) []byte {
	names := [...][3]string{JSON: {`"NaN"`, `"Infinity"`, `"-Infinity"`}, YAML: {".nan", ".inf", "-.inf"},
		CSV: {"NaN", "Infinity", "-Infinity"}}
	i := 0
	if v > 0 {
		i = 1
	} else if v < 0 {
		i = 2
	}
	return append(dst, names[s][i]...)
}

// A 64-bit integer is a string but in CSV.

func appendInt64(dst []byte, v int64, s Style) []byte {
	if s == CSV {
		return strconv.AppendInt(dst, v, 10)
	}
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
}

func appendUint64(dst []byte, v uint64, s Style) []byte {
	if s == CSV {
		return strconv.AppendUint(dst, v, 10)
	}
	return append(strconv.AppendUint(append(dst, '"'), v, 10), '"')
}

// text writes a string.
func (w *out) text(s []byte) {
	switch {
	case w.style == CSV:
		w.buf = AppendCell(w.buf, s)
	case w.yaml && !utf8.Valid(s):
		w.buf = append(append(w.buf, "!!binary "...), '"')
		w.buf = append(base64.StdEncoding.AppendEncode(w.buf, s), '"')
	default:
		w.buf = AppendQuoted(w.buf, s)
	}
}

// binary writes bytes as base64, or a note of their length.
func (w *out) binary(b []byte, whole bool) {
	if !w.bytes && !whole {
		w.note(noteBytes, len(b))
		return
	}
	if w.style == CSV && len(b) > 0 {
		w.buf = base64.StdEncoding.AppendEncode(w.buf, b)
		return
	}
	w.buf = append(base64.StdEncoding.AppendEncode(append(w.buf, '"'), b), '"')
}

// A note stands in place of a list and has its length.
const (
	noteLength = iota
	noteBytes
)

var noteNames = [...]string{noteLength: "$length", noteBytes: "$bytes"}

// note writes {"$bytes":12} in place of a value.
func (w *out) note(kind, n int) {
	w.noted[kind] = true
	at := len(w.buf)
	w.buf = append(append(append(w.buf, '{', '"'), noteNames[kind]...), '"', ':')
	if w.style == YAML {
		w.buf = append(w.buf, ' ')
	}
	w.buf = append(strconv.AppendInt(w.buf, int64(n), 10), '}')
	if w.style == CSV {
		w.cell(at)
	}
}

// cell quotes what was written from at on as one cell of CSV.
func (w *out) cell(at int) { w.buf = QuoteCell(w.buf, at) }

// QuoteCell quotes what buf has from at on as one cell of CSV, if it has to be.
func QuoteCell(buf []byte, at int) []byte {
	quotes, quote := 0, false
	for _, c := range buf[at:] {
		if c == '"' {
			quotes++
		}
		quote = quote || special[c]&csvQuote != 0
	}
	if !quote {
		return buf
	}
	old := len(buf)
	for range quotes + 2 {
		buf = append(buf, '"')
	}
	to := len(buf) - 2 // of the text, from its end; the last quote stands
	for i := old - 1; i >= at; i-- {
		buf[to] = buf[i]
		if to--; buf[i] == '"' {
			buf[to] = '"'
			to--
		}
	}
	buf[at] = '"'
	return buf
}

// AppendCell appends a text as a cell of CSV. An empty text is "", so that it is
// not an empty cell.
func AppendCell(dst, s []byte) []byte {
	quote := len(s) == 0
	for _, c := range s {
		quote = quote || special[c]&csvQuote != 0
	}
	if !quote {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for _, c := range s {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// special has what is to be done with a byte of a text.
var special = func() (t [256]uint8) {
	for c := range t {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			t[c] |= jsonEscape
		}
	}
	for _, c := range "\",\n\r" {
		t[c] |= csvQuote
	}
	return t
}()

const (
	jsonEscape = 1 << iota
	csvQuote
)

const hexDigits = "0123456789abcdef"

// AppendQuoted appends a text as a string of JSON, which is also a string of YAML.
// Control characters and the line ends of Unicode are escaped.
func AppendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if special[s[i]]&jsonEscape == 0 {
			i++
			continue
		}
		size, r := 1, rune(s[i])
		bad := false
		if r >= utf8.RuneSelf {
			if r, size = utf8.DecodeRune(s[i:]); r == utf8.RuneError && size == 1 {
				bad, r = true, 0xdc00|rune(s[i])
			}
		}
		if r > 0x9f && r != 0x2028 && r != 0x2029 && r != 0xfeff && !bad {
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		switch r {
		case '"', '\\':
			dst = append(dst, '\\', byte(r))
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		}
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
