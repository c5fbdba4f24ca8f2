package content

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/jsonschema"
)

// FromJSON makes the program from messages in JSON of a schema to a canonical type.
func FromJSON(o *jsonschema.Object, dst *schema.Message, strict bool) (*Program, error) {
	p, err := FromROS(o.Message, schema.ROS1, dst, strict)
	if err != nil {
		return nil, err
	}
	p.json = o
	return p, nil
}

// readJSON reads a message by the values that encoding/json makes of it. Writer.Rest is
// set for properties that the schema does not have, and values that do not fit it.
func readJSON(p *Program, w *Writer, src []byte) error {
	if !json.Valid(src) {
		src = quoteWords(src)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(src, &members); err != nil || members == nil {
		return fmt.Errorf("%w: it is not a JSON object: %v", ErrMalformed, err)
	}
	j := jsonReader{limit: maxExtra + maxGrowth*len(src)}
	j.object(p.json, members)
	if len(j.out) > j.limit {
		return malformed(0, "it grows out of proportion")
	}
	if err := visit(p, w, j.out); err != nil {
		return err
	}
	w.Rest = w.Rest || j.rest
	return nil
}

// quotedMark goes before the words that quoteWords has put into quotes.
const quotedMark = "\x00"

// quoteWords makes strings of the words that Python writes for numbers which JSON does
// not have.
func quoteWords(src []byte) []byte {
	var out []byte
	inside := false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inside && c == '\\' && i+1 < len(src):
			out = append(out, c)
			i++
		case c == '"':
			inside = !inside
		case inside:
		default:
			word := ""
			for _, have := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(src[i:], []byte(have)) {
					word = have
				}
			}
			if word != "" {
				out = append(append(append(out, `"\u0000`...), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		out = append(out, src[i])
	}
	return out
}

func isWord(s string) bool { return s == "NaN" || s == "Infinity" || s == "-Infinity" }

// unquoted returns the text of a value as it was before quoteWords.
func unquoted(raw []byte) []byte {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		raw = bytes.ReplaceAll(raw, []byte(`"\u0000`+word+`"`), []byte(word))
	}
	return raw
}

// A jsonReader writes values as ROS 1 serializes them.
type jsonReader struct {
	out   []byte
	limit int
	rest  bool
}

func (j *jsonReader) u32(v uint32) { j.out = binary.LittleEndian.AppendUint32(j.out, v) }
func (j *jsonReader) u64(v uint64) { j.out = binary.LittleEndian.AppendUint64(j.out, v) }

func (j *jsonReader) text(s []byte) {
	j.u32(uint32(len(s)))
	j.out = append(j.out, s...)
}

func (j *jsonReader) object(o *jsonschema.Object, members map[string]json.RawMessage) {
	for key := range members {
		if _, ok := o.Index[key]; !ok {
			j.rest = true
		}
	}
	for i := range o.Properties {
		p := &o.Properties[i]
		raw, there := members[p.Key]
		if string(raw) == "null" && (p.Form != jsonschema.Any || p.List) {
			there = false
		}
		switch {
		case len(j.out) > j.limit:
			return
		case !p.List:
			j.value(p, raw, there)
		default:
			j.list(p, raw, there)
		}
	}
}

func (j *jsonReader) list(p *jsonschema.Property, raw json.RawMessage, there bool) {
	var items []json.RawMessage
	if there && json.Unmarshal(raw, &items) != nil {
		j.rest = true
	}
	j.u32(uint32(len(items)))
	for _, item := range items {
		if len(j.out) > j.limit {
			return
		}
		j.value(p, item, string(item) != "null")
	}
}

// value writes a value; a zero one if it is not there, or does not fit.
func (j *jsonReader) value(p *jsonschema.Property, raw json.RawMessage, there bool) {
	ok := true
	switch p.Form {
	case jsonschema.Integer:
		var n int64
		if n, ok = wholeNumber(raw); string(raw) == "true" || string(raw) == "false" {
			n, ok = int64(len("false")-len(raw)), true // 1 and 0
		}
		j.u64(uint64(n))
	case jsonschema.Number:
		var f float64
		if f, ok = realNumber(raw); string(raw) == "true" || string(raw) == "false" {
			f, ok = float64(len("false")-len(raw)), true
		}
		j.u64(math.Float64bits(f))
	case jsonschema.Boolean:
		ok = string(raw) == "true" || string(raw) == "false"
		if string(raw) == "true" {
			j.out = append(j.out, 1)
		} else {
			j.out = append(j.out, 0)
		}
	case jsonschema.Text:
		var s string
		ok = json.Unmarshal(raw, &s) == nil
		switch word, quoted := strings.CutPrefix(s, quotedMark); {
		case quoted && isWord(word):
			j.text([]byte(word))
		case ok || !there:
			j.text([]byte(s))
		default: // any other value as text
			j.text(unquoted(raw))
			ok = true
		}
	case jsonschema.Base64:
		var s string
		var b []byte
		if ok = json.Unmarshal(raw, &s) == nil; ok {
			var err error
			if b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=")); err != nil {
				b, ok = nil, false
			}
		}
		j.text(b)
	case jsonschema.Time, jsonschema.Duration:
		ok = j.time(p, raw)
	case jsonschema.Nested:
		var members map[string]json.RawMessage
		ok = json.Unmarshal(raw, &members) == nil && members != nil
		if !ok {
			members = nil
		}
		j.object(p.Object, members)
	default:
		if there {
			j.text(unquoted(raw))
		} else {
			j.text(nil)
		}
	}
	j.rest = j.rest || there && !ok
}

// time writes the two words of a time.
func (j *jsonReader) time(p *jsonschema.Property, raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		j.u64(0)
		return false
	}
	ok := true
	var words [2]int64
	for key, v := range members {
		at := map[string]int{"sec": 1, p.Nanos: 2}[key]
		if at == 0 {
			j.rest = true
			continue
		}
		n, fits := wholeNumber(v)
		words[at-1], ok = n, ok && (fits || string(v) == "null")
	}
	first, last := int64(0), int64(math.MaxUint32)
	if p.Form == jsonschema.Duration {
		first, last = math.MinInt32, math.MaxInt32
	}
	if !ok || words[0] < first || words[0] > last || words[1] < 0 || words[1] > 999_999_999 {
		words, ok = [2]int64{}, false
	}
	j.u32(uint32(words[0]))
	j.u32(uint32(words[1]))
	return ok
}

// wholeNumber returns a whole number of 64 bits; with a point or an exponent one of 53.
func wholeNumber(raw json.RawMessage) (int64, bool) {
	var n int64
	if len(raw) > 0 && raw[0] != 'n' && json.Unmarshal(raw, &n) == nil {
		return n, true
	}
	var f float64
	if len(raw) == 0 || raw[0] == 'n' || json.Unmarshal(raw, &f) != nil || f != math.Floor(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// realNumber returns a number, also one that a word stands for.
func realNumber(raw json.RawMessage) (float64, bool) {
	var f float64
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return 0, false
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		if json.Unmarshal(raw, &f) == nil {
			return f, true
		}
		if raw[0] == '-' { // more than float64 holds
			return math.Inf(-1), false
		}
		return math.Inf(1), false
	}
	var word string
	_ = json.Unmarshal(raw, &word)
	switch strings.TrimPrefix(word, quotedMark) {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}
