// Package fit tests whether a serialized ROS message fits a definition. It is stricter than what
// re-encodes messages (convert/transcode), because it decides between definitions: see Test.
//
// Where a value stands in its bytes is known to internal/wire/ros. The facts about what writers
// of CDR leave behind are from the code of rmw_cyclonedds (samples are filled up with zeros to a
// multiple of 4 bytes) and rmw_fastrtps (rmw_serialize returns the estimated size, with up to 7
// bytes for each empty list of 8-byte values; padding is what was in the buffer).
package fit

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
)

// maxFuel is how many values without bytes one message may have.
const maxFuel = 1 << 16

// Test reads a message as one of msg, in CDR or else in the serialization of ROS 1. The error is
// about the place where they do not fit: the message ends too early, bytes are left over, a bool
// is neither 0 nor 1, a list or string is longer than its bound. doubt names the first thing that
// real messages have rarely, "" if there is none: text that is not UTF-8 or does not end with NUL,
// nanoseconds of a second or more, padding that is not zero, more than padding at the end.
func Test(msg *schema.Message, data []byte, cdr bool) (doubt string, err error) {
	w := walk{fuel: maxFuel, least: schema.Measure{}}
	message, size := data, len(data)
	var rest []byte
	if c := special(msg, data, cdr); c != nil {
		var extra int
		if message, rest, extra, err = c.Plain(nil, data); err != nil {
			return "", err
		}
		if extra > 0 {
			return "", &ros.Error{Offset: size, What: fmt.Sprintf("structs with %d more bytes than their fields have", extra)}
		}
	}
	if err := w.Open(message, cdr); err != nil {
		return "", err
	}
	if w.Filler {
		w.least.Empty = 1
	}
	w.message(msg)
	if w.OK() {
		if rest == nil {
			rest = w.Rest()
		}
		w.tail(rest, cdr, size)
	}
	return w.doubt, w.Err()
}

// special returns what makes a message plain whose type only IDL has, nil if it is plain.
func special(msg *schema.Message, data []byte, cdr bool) *xtypes.Converter {
	if !cdr {
		return nil
	}
	if c := xtypes.New(msg); c.Needed(data) {
		return c
	}
	return nil
}

// A walk is one message on its way.
type walk struct {
	ros.Reader
	least schema.Measure
	doubt string
	fuel  int // values without bytes that are left
	lists int // empty lists of 8-byte values
}

func (w *walk) suspect(format string, a ...any) {
	if w.doubt == "" {
		w.doubt = fmt.Sprintf(format, a...)
	}
}

// tail looks at what stands behind the last field.
func (w *walk) tail(rest []byte, cdr bool, size int) {
	switch {
	case len(rest) == 0:
	case cdr && ros.IsPadding(rest) && (len(rest) < 4 && size%4 == 0 || size%8 == 4):
	case cdr && ros.IsPadding(rest), cdr && len(rest) <= ros.MaxPadding*w.lists:
		w.suspect("%d bytes behind the last field", len(rest))
	default:
		w.Fail("%d bytes are left over", len(rest))
	}
}

// align steps over the padding before a value of n bytes.
func (w *walk) align(n int) {
	rest, at := w.Rest(), w.Pos()
	w.Align(n)
	if k := w.Pos() - at; w.OK() && k > 0 && !ros.IsPadding(rest[:k]) {
		w.suspect("padding that is not zero at byte %d of the message", at+ros.HeaderSize)
	}
}

func (w *walk) message(msg *schema.Message) {
	end := w.Struct()
	if len(msg.Fields) == 0 && w.Filler {
		w.U8()
	}
	for i := range msg.Fields {
		if w.field(&msg.Fields[i].Type); !w.OK() {
			return
		}
	}
	if end >= 0 && !ros.IsPadding(w.End(end)) {
		w.Fail("a struct with more bytes than its fields have")
	}
}

// field reads all values of a field.
func (w *walk) field(t *schema.Type) {
	one := schema.Type{Kind: t.Kind, Message: t.Message, StringBound: t.StringBound}
	size, n := t.Kind.Size(), 1
	if t.Array != schema.Single && size == 0 {
		w.Size()
	}
	switch t.Array {
	case schema.Fixed:
		n = t.Len
		if least := w.least.Least(one); least > 0 && n > w.Len()/least {
			w.Fail("%d values, and %d bytes are left", n, w.Len())
		}
	case schema.Bounded, schema.Unbounded:
		w.align(4)
		n = w.Count(w.least.Least(one))
		if t.Array == schema.Bounded && n > t.Len {
			w.Fail("a list of %d elements, and the definition allows %d", n, t.Len)
		}
		if n == 0 && size == 8 {
			w.lists++
		}
	}
	switch {
	case !w.OK() || n == 0:
	case t.Kind == schema.Time || t.Kind == schema.Duration:
		for range n {
			w.time(t.Kind == schema.Duration)
		}
	case size > 0:
		w.numbers(t.Kind, n, size)
	default:
		w.values(&one, n)
	}
}

func (w *walk) numbers(kind schema.Kind, n, size int) {
	w.align(size)
	p := w.Numbers(n, size)
	if kind != schema.Bool {
		return
	}
	for i, v := range p {
		if v > 1 {
			w.Seek(w.Pos() - len(p) + i)
			w.Fail("a bool is %d", v)
			return
		}
	}
}

// values reads values that are no numbers.
func (w *walk) values(t *schema.Type, n int) {
	for range n {
		at := w.Pos()
		switch t.Kind {
		case schema.Struct:
			w.structure(t.Message)
		case schema.String:
			w.text(t.StringBound)
		case schema.WString:
			w.wide(t.StringBound)
		default:
			w.Fail("a %s cannot be read", t.Kind)
		}
		if w.Pos() == at {
			w.fuel--
		}
		if w.fuel < 0 {
			w.Fail("too many values that take no bytes")
		}
		if !w.OK() {
			return
		}
	}
}

func (w *walk) structure(msg *schema.Message) {
	if !w.Delimited && msg.TimeKind() != schema.Invalid {
		w.time(false)
		return
	}
	w.message(msg)
}

// time reads seconds and nanoseconds, which may be negative in a duration of ROS 1.
func (w *walk) time(signed bool) {
	w.align(4)
	w.U32()
	nsec := int64(w.U32())
	if signed && nsec > 1<<31 {
		nsec = 1<<32 - nsec
	}
	if w.OK() && nsec >= 1e9 {
		w.suspect("%d nanoseconds at byte %d of the message", nsec, w.Pos())
	}
}

func (w *walk) text(bound int) {
	w.align(4)
	p := w.Bytes()
	if last := len(p) - 1; w.NUL && last >= 0 {
		if p[last] != 0 {
			w.suspect("text without NUL at its end at byte %d of the message", w.Pos())
		} else {
			p = p[:last]
		}
	}
	if bound > 0 && len(p) > bound {
		w.Fail("text of %d bytes, and the definition allows %d", len(p), bound)
	}
	switch {
	case !utf8.Valid(p):
		w.suspect("text that is not UTF-8 before byte %d of the message", w.Pos())
	case bytes.IndexByte(p, 0) >= 0:
		w.suspect("NUL within text before byte %d of the message", w.Pos())
	}
}

func (w *walk) wide(bound int) {
	w.align(4)
	units, whole := w.Wide(nil)
	if bound > 0 && len(units) > bound {
		w.Fail("text of %d characters, and the definition allows %d", len(units), bound)
	}
	if !whole {
		w.suspect("text that is not Unicode before byte %d of the message", w.Pos())
	}
}
