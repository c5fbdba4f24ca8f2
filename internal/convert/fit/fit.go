// Package fit tests whether a serialized message fits a definition. It is stricter than what
// re-encodes messages (internal/convert/transcode), because it decides between definitions: see Test.
//
// It is a visitor of package message. The facts about what writers
// of CDR leave behind are from the code of rmw_cyclonedds (samples are filled up with zeros to a
// multiple of 4 bytes) and rmw_fastrtps (rmw_serialize returns the estimated size, with up to 7
// bytes for each empty list of 8-byte values; padding is what was in the buffer).
package fit

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// Test reads a message as a message of a type. The error is about the place where they do not fit: the
// message ends too early, bytes are left over, a bool is neither 0 nor 1, a list or string is longer
// than its bound; in protobuf a field is cut, or has another wire type than the descriptor says. doubt
// names the first thing that real messages rarely have, or is "": text that is not UTF-8 or
// does not end with NUL, nanoseconds of a second or more, padding that is not zero, more than padding
// at the end, a field that the descriptor does not have.
func Test(t *message.Type, data []byte) (doubt string, err error) {
	w := walk{Cursor: message.Open(t, data), ros: !t.Protobuf()}
	defer w.Close()
	if n := w.Extra(); n > 0 {
		return "", &ros.Error{Offset: len(data), What: fmt.Sprintf("structs with %d more bytes than their fields have", n)}
	}
	w.structure(t)
	unknown, mistyped := w.Strays()
	switch {
	case mistyped != "":
		w.Fail("%s", mistyped)
	case unknown != "":
		w.suspect("%s", unknown)
	case w.OK() && w.ros:
		w.tail(w.Rest(), len(data))
	}
	return w.doubt, w.Err()
}

// A walk is one message on its way.
type walk struct {
	*message.Cursor
	ros   bool // else protobuf
	doubt string
	lists int // empty lists of 8-byte values
}

func (w *walk) suspect(format string, a ...any) {
	if w.doubt == "" {
		w.doubt = fmt.Sprintf(format, a...)
	}
}

// tail looks at what stands behind the last field.
func (w *walk) tail(rest []byte, size int) {
	cdr := w.Layout().NUL
	switch {
	case len(rest) == 0:
	case cdr && ros.IsPadding(rest) && (len(rest) < 4 && size%4 == 0 || size%8 == 4):
	case cdr && ros.IsPadding(rest), cdr && len(rest) <= ros.MaxPadding*w.lists:
		w.suspect("%d bytes behind the last field", len(rest))
	default:
		w.Fail("%d bytes are left over", len(rest))
	}
}

// padding looks at what stands before a value of n bytes.
func (w *walk) padding(n int) {
	if !w.ros {
		return
	}
	if at := w.Pos(); !ros.IsPadding(w.Padding(n)) {
		w.suspect("padding that is not zero at byte %d of the message", at)
	}
}

func (w *walk) structure(t *message.Type) {
	if more := w.Fields(t, w.field); !ros.IsPadding(more) {
		w.Fail("a struct with more bytes than its fields have")
	}
}

// field reads all values of a field.
func (w *walk) field(f *message.Field) {
	n := 1
	if f.List {
		if f.Fixed < 0 {
			w.padding(4)
		}
		n = w.Count(f)
		if f.Bound > 0 && n > f.Bound {
			w.Fail("a list of %d elements, and the definition allows %d", n, f.Bound)
		}
		if n == 0 && f.ROS.Size() == 8 {
			w.lists++
		}
	}
	switch {
	case n == 0:
	case f.Size > 0:
		w.numbers(f, n)
	case f.List:
		w.Elements(f, n, func(int) { w.single(f) })
	case w.Present(f):
		w.single(f)
	}
}

func (w *walk) numbers(f *message.Field, n int) {
	w.padding(f.Size)
	p := w.Numbers(f, n)
	if f.Kind != message.Bool {
		return
	}
	for i, v := range p {
		if v > 1 {
			w.FailAt(w.Pos()-len(p)+i, "a bool is %d", v)
			return
		}
	}
}

// single reads a value that is no number.
func (w *walk) single(f *message.Field) {
	switch {
	case f.Clock != schema.Invalid && w.ros && !w.Layout().Delimited:
		w.padding(4)
		if _, nsec := w.Time(f); nsec >= 1e9 || nsec <= -1e9 {
			w.suspect("%d nanoseconds at byte %d of the message", max(nsec, -nsec), w.Pos())
		}
	case f.Type != nil:
		w.structure(f.Type)
	case f.Kind == message.Text:
		w.text(f)
	}
}

func (w *walk) text(f *message.Field) {
	w.padding(4)
	p := w.Text(f)
	size, unit := len(p), "bytes"
	if f.Wide {
		size, unit = len(utf16.Encode([]rune(string(p)))), "characters"
	}
	switch {
	case f.TextBound > 0 && size > f.TextBound:
		w.Fail("text of %d %s, and the definition allows %d", size, unit, f.TextBound)
	case w.Unterminated:
		w.suspect("text without NUL at its end at byte %d of the message", w.Pos())
	case w.Replaced:
		w.suspect("text that is not Unicode before byte %d of the message", w.Pos())
	case !utf8.Valid(p) && !w.ros:
		w.suspect("text that is not UTF-8 in %s", f.Proto.FullName())
	case !utf8.Valid(p):
		w.suspect("text that is not UTF-8 before byte %d of the message", w.Pos())
	case bytes.IndexByte(p, 0) >= 0 && w.ros && !f.Wide:
		w.suspect("NUL within text before byte %d of the message", w.Pos())
	}
}
