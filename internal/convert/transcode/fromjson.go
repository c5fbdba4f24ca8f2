package transcode

import (
	"bytes"
	"encoding/base64"
	"math"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/internal/wire/json"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A FromJSON re-encodes messages in JSON of one schema into ROS 1 serialization of the
// type that the schema became. It may be used by any number of goroutines.
//
// Properties may come in any order; if one comes twice the last counts. What is not
// there, or null, is zero or empty. A value that does not fit the schema is zero or
// empty too, or its JSON if a string stands for it, and is counted; so is a message
// with properties that the schema does not have. As Python writes them, NaN, Infinity
// and -Infinity are numbers, and as protobuf does, strings of these words.
type FromJSON struct {
	root    *jsonschema.Object
	unknown atomic.Int64
	odd     atomic.Int64
}

// CompileFromJSON makes the program for messages of an object.
func CompileFromJSON(o *jsonschema.Object) *FromJSON { return &FromJSON{root: o} }

// Unknown returns the number of messages so far that had properties which their schema does not
// have; those properties are left out.
func (p *FromJSON) Unknown() int64 { return p.unknown.Load() }

// Odd returns the number of messages so far that had values which do not fit their schema.
func (p *FromJSON) Odd() int64 { return p.odd.Load() }

// Losses lists what else the messages so far lost: values out of the schema.
func (p *FromJSON) Losses() []Loss {
	n := p.odd.Load()
	if n == 0 {
		return nil
	}
	return []Loss{{Code: "schema-values", Messages: n,
		Message: "messages have values that do not fit their schema; numbers become 0, and lists empty"}}
}

// Reset sets what Unknown, Odd and Losses count to zero.
func (p *FromJSON) Reset() {
	p.unknown.Store(0)
	p.odd.Store(0)
}

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare.
func (p *FromJSON) SizeHint(n int) int { return 2*n + 256 }

// Append re-encodes src and appends it to dst. On error dst is returned at its old
// length. It keeps neither slice.
func (p *FromJSON) Append(dst, src []byte) ([]byte, error) {
	text, root, wrong := json.Open(src)
	if wrong != nil {
		return dst, &Error{Offset: wrong.At, What: wrong.What}
	}
	if text.First(root) != '{' {
		return dst, &Error{Offset: root, What: "the message is not a JSON object"}
	}
	r := jsonRun{Text: text, w: ros.NewWriter(dst, false), limit: len(dst) + maxExtra + maxGrowth*len(src)}
	if err := r.object(p.root, root); err != nil {
		return dst, err
	}
	if r.unknown {
		p.unknown.Add(1)
	}
	if r.odd {
		p.odd.Add(1)
	}
	return r.w.Buf, nil
}

// A jsonRun is one message on its way. The position of a value that is not there is -1.
type jsonRun struct {
	json.Text
	w       ros.Writer
	limit   int
	spans   []int // where the properties of the objects that are open begin
	unknown bool
	odd     bool // a value does not fit the schema
}

// object writes the object that begins at pos.
func (r *jsonRun) object(o *jsonschema.Object, pos int) error {
	if len(r.w.Buf) > r.limit {
		return r.bad(pos, "the message would grow out of proportion: too many empty objects in it")
	}
	open := len(r.spans)
	for range o.Properties {
		r.spans = append(r.spans, -1)
	}
	r.Members(pos, func(key []byte, at int) {
		if i, ok := o.Index[string(key)]; !ok {
			r.unknown = true
		} else if r.spans[open+i] = at; r.First(at) == 'n' { // null
			r.spans[open+i] = -1
			if o.Properties[i].Form == jsonschema.Any {
				r.spans[open+i] = at
			}
		}
	})
	for i := range o.Properties {
		if err := r.property(&o.Properties[i], r.spans[open+i]); err != nil {
			return err
		}
	}
	r.spans = r.spans[:open]
	return nil
}

// property writes the value at pos; -1: the value is not there.
func (r *jsonRun) property(p *jsonschema.Property, pos int) error {
	if !p.List {
		return r.one(p, pos)
	}
	head := len(r.w.Buf)
	r.w.U32(0)
	if pos < 0 {
		return nil
	}
	if r.First(pos) != '[' {
		r.odd = true
		return nil
	}
	count := int32(0)
	err := r.Elements(pos, func(at int) error {
		count++
		if r.First(at) == 'n' {
			at = -1
		}
		if len(r.w.Buf) > r.limit {
			return r.bad(pos, "the message would grow out of proportion")
		}
		return r.one(p, at)
	})
	putWord(r.w.Buf[head:], count)
	return err
}

// truth returns 1 for true and 0 for false, which some schemas call a number.
func (r *jsonRun) truth(pos int) (n int64, is bool) {
	switch r.First(pos) {
	case 't':
		return 1, true
	case 'f':
		return 0, true
	}
	return 0, false
}

// one writes one value.
func (r *jsonRun) one(p *jsonschema.Property, pos int) error {
	switch p.Form {
	case jsonschema.Integer:
		v, ok := r.Integer(pos)
		if n, is := r.truth(pos); is {
			v, ok = n, true
		}
		r.note(ok, pos)
		r.w.U64(uint64(v))
	case jsonschema.Number:
		v, ok := r.Number(pos)
		if n, is := r.truth(pos); is {
			v, ok = float64(n), true
		}
		r.note(ok, pos)
		r.w.F64(v)
	case jsonschema.Boolean:
		n, is := r.truth(pos)
		r.note(is, pos)
		r.w.Bool(n == 1)
	case jsonschema.Text:
		if r.First(pos) != '"' { // the text of any other value is kept whole
			r.raw(pos)
			break
		}
		r.w.String(r.String(pos))
	case jsonschema.Base64:
		r.note(r.base64(pos), pos)
	case jsonschema.Time, jsonschema.Duration:
		sec, nsec, ok := r.time(p, pos)
		r.note(ok, pos)
		r.w.U32(sec)
		r.w.U32(nsec)
	case jsonschema.Nested:
		if r.First(pos) != '{' {
			r.note(false, pos)
			return r.zero(p.Object)
		}
		return r.object(p.Object, pos)
	default:
		r.raw(pos)
	}
	return nil
}

// note counts a value that does not fit; a value that is not there fits.
func (r *jsonRun) note(ok bool, pos int) { r.odd = r.odd || !ok && pos >= 0 }

// raw writes a value as its text.
func (r *jsonRun) raw(pos int) {
	if pos < 0 {
		r.w.String(nil)
		return
	}
	r.w.String(r.Raw(pos))
}

// zero writes an object that is not there.
func (r *jsonRun) zero(o *jsonschema.Object) error {
	if len(r.w.Buf) > r.limit {
		return r.bad(0, "the message would grow out of proportion")
	}
	for _, f := range o.Message.Fields {
		zeroValue(&r.w, schema.Type{Kind: f.Type.Kind, Message: f.Type.Message, Array: f.Type.Array})
	}
	return nil
}

func (r *jsonRun) bad(at int, what string) error { return &Error{Offset: at, What: what} }

// base64 writes the bytes that a string stands for, with padding or without, and
// reports whether the value is such a string.
func (r *jsonRun) base64(pos int) bool {
	head := len(r.w.Buf)
	r.w.U32(0)
	if r.First(pos) != '"' {
		return false
	}
	out, err := base64.RawStdEncoding.AppendDecode(r.w.Buf, bytes.TrimRight(r.String(pos), "="))
	if err != nil {
		return false
	}
	r.w.Buf = out
	putWord(out[head:], int32(len(out)-head-4))
	return true
}

// time returns the two words of an object of seconds and nanoseconds.
func (r *jsonRun) time(p *jsonschema.Property, pos int) (sec, nsec uint32, ok bool) {
	if r.First(pos) != '{' {
		return 0, 0, false
	}
	var words [2]int64
	fit := [2]bool{true, true}
	r.Members(pos, func(key []byte, at int) {
		i := 0
		switch string(key) {
		case "sec":
		case p.Nanos:
			i = 1
		default:
			r.unknown = true
			return
		}
		if words[i], fit[i] = 0, true; r.First(at) != 'n' {
			words[i], fit[i] = r.Integer(at)
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
