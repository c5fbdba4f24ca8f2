package content

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/internal/wire/json"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// FromJSON makes the program from messages in JSON of a schema to a canonical type.
func FromJSON(o *jsonschema.Object, dst *schema.Message, strict bool) (*Program, error) {
	p, err := FromROS(o.Message, serial.ROS1, dst, strict)
	if err != nil {
		return nil, err
	}
	p.json = o
	return p, nil
}

// readJSON reads a message. Writer.Rest is set for properties that the schema does not have, and values that do
// not fit it.
func readJSON(p *Program, w *Writer, src []byte) error {
	text, root, wrong := json.Open(src)
	switch {
	case wrong != nil:
		return malformed(wrong.At, "%s", wrong.What)
	case text.First(root) != '{':
		return malformed(root, "it is not a JSON object")
	}
	j := jsonReader{text: text, w: ros.NewWriter(nil, false), limit: maxExtra + maxGrowth*len(src)}
	j.object(p.json, root)
	if len(j.w.Buf) > j.limit {
		return malformed(0, "it grows out of proportion")
	}
	if err := visit(p, w, j.w.Buf); err != nil {
		return err
	}
	w.Rest = w.Rest || j.rest
	return nil
}

// A jsonReader writes values as ROS 1 serializes them. The position of a value that is not there is -1.
type jsonReader struct {
	text  json.Text
	w     ros.Writer
	limit int
	rest  bool
}

func (j *jsonReader) object(o *jsonschema.Object, pos int) {
	members := make([]int, len(o.Properties)) // 1 more than the position
	if pos >= 0 {
		j.text.Members(pos, func(key []byte, at int) {
			if i, ok := o.Index[string(key)]; ok {
				members[i] = at + 1
			} else {
				j.rest = true
			}
		})
	}
	for i := range o.Properties {
		p, at := &o.Properties[i], members[i]-1
		if j.text.First(at) == 'n' && (p.Form != jsonschema.Any || p.List) {
			at = -1
		}
		switch {
		case len(j.w.Buf) > j.limit:
			return
		case p.List:
			j.list(p, at)
		default:
			j.value(p, at)
		}
	}
}

func (j *jsonReader) list(p *jsonschema.Property, pos int) {
	head, n := len(j.w.Buf), uint32(0)
	j.w.U32(0)
	if j.text.First(pos) != '[' {
		j.rest = j.rest || pos >= 0
		return
	}
	_ = j.text.Elements(pos, func(at int) error {
		if j.text.First(at) == 'n' {
			at = -1
		}
		if n++; len(j.w.Buf) <= j.limit {
			j.value(p, at)
		}
		return nil
	})
	binary.LittleEndian.PutUint32(j.w.Buf[head:], n)
}

// value writes a value, or zero if the value is not there or does not fit.
func (j *jsonReader) value(p *jsonschema.Property, pos int) {
	first, ok := j.text.First(pos), true
	switch p.Form {
	case jsonschema.Integer, jsonschema.Boolean:
		n := int64(0)
		switch {
		case first == 't':
			n = 1
		case first == 'f':
		case p.Form == jsonschema.Integer:
			n, ok = j.text.Integer(pos)
		default:
			ok = false
		}
		if p.Form == jsonschema.Integer {
			j.w.U64(uint64(n))
		} else {
			j.w.U8(byte(n))
		}
	case jsonschema.Number:
		var f float64
		switch first {
		case 't':
			f = 1
		case 'f':
		default:
			f, ok = j.text.Number(pos)
		}
		j.w.U64(math.Float64bits(f))
	case jsonschema.Base64:
		var b []byte
		if ok = first == '"'; ok {
			var err error
			if b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(string(j.text.String(pos)), "=")); err != nil {
				b, ok = nil, false
			}
		}
		j.w.String(b)
	case jsonschema.Time, jsonschema.Duration:
		ok = j.time(p, pos)
	case jsonschema.Nested:
		if ok = first == '{'; ok {
			j.object(p.Object, pos)
		} else {
			j.object(p.Object, -1)
		}
	default: // text; any other value as its text
		switch {
		case pos < 0:
			j.w.String(nil)
		case first == '"' && p.Form == jsonschema.Text:
			j.w.String(j.text.String(pos))
		default:
			j.w.String(j.text.Raw(pos))
		}
	}
	j.rest = j.rest || pos >= 0 && !ok
}

// time writes the two words of a time.
func (j *jsonReader) time(p *jsonschema.Property, pos int) bool {
	ok := j.text.First(pos) == '{'
	var words [2]int64
	fits := [2]bool{true, true}
	if ok {
		j.text.Members(pos, func(key []byte, at int) {
			i := map[string]int{"sec": 1, p.Nanos: 2}[string(key)] - 1
			switch {
			case i < 0:
				j.rest = true
			case j.text.First(at) == 'n':
				words[i], fits[i] = 0, true
			default:
				words[i], fits[i] = j.text.Integer(at)
			}
		})
	}
	first, last := int64(0), int64(math.MaxUint32)
	if p.Form == jsonschema.Duration {
		first, last = math.MinInt32, math.MaxInt32
	}
	ok = ok && fits[0] && fits[1] && words[0] >= first && words[0] <= last && words[1] >= 0 && words[1] <= 999_999_999
	if !ok {
		words = [2]int64{}
	}
	j.w.U32(uint32(words[0]))
	j.w.U32(uint32(words[1]))
	return ok
}
