package build

import (
	"encoding/base64"
	stdjson "encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
)

// CompileJSON makes the program for messages in JSON of a schema; t is the ROS type that it became. Values have the
// names of its fields, or of the properties.
func CompileJSON(t *message.Type, o *jsonschema.Object) (*Program, error) {
	p, err := Compile(t)
	if err != nil {
		return nil, err
	}
	p.json = o
	p.keys(t, o)
	return p, nil
}

// keys indexes the properties of a schema, beside the names of their fields.
func (p *Program) keys(t *message.Type, o *jsonschema.Object) {
	for i := range o.Properties {
		d := &o.Properties[i]
		if _, known := p.index[t][d.Key]; !known {
			p.index[t][d.Key] = i
		}
		if d.Object != nil {
			p.keys(t.Fields[i].Type, d.Object)
		}
	}
}

// A jsonWriter is a message in JSON in the making. What is missing or null is left out.
type jsonWriter struct {
	buf []byte
	source
	depth, limit int
}

// object writes an object, which is there.
func (w *jsonWriter) object(t *message.Type, o *jsonschema.Object, at place) error {
	if w.depth++; w.depth > maxDepth || len(w.buf) > w.limit {
		return refused("the message grows out of proportion to its values, or is nested more than %d deep", maxDepth)
	}
	fr, err := w.open(at, t)
	if err != nil {
		return err
	}
	w.buf = append(w.buf, '{')
	empty := len(w.buf)
	for i := range o.Properties {
		f, d, at := &t.Fields[i], &o.Properties[i], w.member(fr, i)
		if at.at < 0 {
			continue
		}
		if len(w.buf) > empty {
			w.buf = append(w.buf, ',')
		}
		w.quote(d.Key)
		w.buf = append(w.buf, ':')
		if d.List {
			err = w.values(f, d, at)
		} else {
			err = w.one(f, d, at)
		}
		if err != nil {
			return within(f.Name, err)
		}
	}
	w.buf = append(w.buf, '}')
	w.leave(fr)
	w.depth--
	return nil
}

func (w *jsonWriter) quote(text string) {
	b, _ := stdjson.Marshal(text) // a string cannot fail
	w.buf = append(w.buf, b...)
}

// values writes an array.
func (w *jsonWriter) values(f *message.Field, d *jsonschema.Property, at place) error {
	fr, n, err := w.list(at, f)
	if err != nil {
		return err
	}
	w.buf = append(w.buf, '[')
	for i := range n {
		if len(w.buf) > w.limit || n > w.limit {
			return refused("the message grows out of proportion to its values")
		}
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		at := w.element(fr, i)
		if at.at < 0 {
			w.buf = append(w.buf, "null"...)
		} else if err := w.one(f, d, at); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	w.buf = append(w.buf, ']')
	w.leave(fr)
	return nil
}

// one writes one value.
func (w *jsonWriter) one(f *message.Field, d *jsonschema.Property, at place) error {
	switch d.Form {
	case jsonschema.Nested:
		return w.object(f.Type, d.Object, at)
	case jsonschema.Time, jsonschema.Duration:
		return w.clock(f, d, at)
	case jsonschema.Integer, jsonschema.Number, jsonschema.Boolean:
		bits, err := w.number(at, f)
		if err != nil {
			return err
		}
		w.bits(d.Form, bits)
		return nil
	case jsonschema.Base64:
		if !d.List { // else a list of texts
			b, ok, err := w.bytes(at, f)
			if err == nil && !ok {
				err = refused("it is no string of bytes")
			}
			if err != nil {
				return err
			}
			w.quote(base64.StdEncoding.EncodeToString(b))
			return nil
		}
	}
	text, err := w.text(at, f)
	switch {
	case err != nil:
		return err
	case d.Form == jsonschema.Any && stdjson.Valid(text):
		w.buf = append(w.buf, text...)
	case d.Form == jsonschema.Any && len(text) == 0:
		w.buf = append(w.buf, "null"...)
	default:
		w.quote(string(text))
	}
	return nil
}

func (w *jsonWriter) bits(form jsonschema.Form, bits uint64) {
	v := math.Float64frombits(bits)
	switch {
	case form == jsonschema.Boolean:
		w.buf = strconv.AppendBool(w.buf, bits != 0)
	case form == jsonschema.Integer:
		w.buf = strconv.AppendInt(w.buf, int64(bits), 10)
	case math.IsNaN(v):
		w.quote("NaN")
	case math.IsInf(v, 0):
		w.quote(map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0])
	default:
		w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
	}
}

// clock writes an object of seconds and nanoseconds.
func (w *jsonWriter) clock(f *message.Field, d *jsonschema.Property, at place) error {
	sec, nsec, ok := w.time(at, f)
	if !ok {
		fr, err := w.open(at, f.Type)
		if err != nil {
			return err
		}
		words := [2]uint64{}
		for i := range words {
			if at := w.member(fr, i); at.at >= 0 {
				if words[i], err = w.number(at, &f.Type.Fields[i]); err != nil {
					return within(f.Type.Fields[i].Name, err)
				}
			}
		}
		w.leave(fr)
		sec, nsec = int64(words[0]), int64(words[1])
	}
	w.buf = strconv.AppendInt(append(w.buf, `{"sec":`...), sec, 10)
	w.buf = append(w.buf, ',')
	w.quote(d.Nanos)
	w.buf = append(strconv.AppendInt(append(w.buf, ':'), nsec, 10), '}')
	return nil
}
