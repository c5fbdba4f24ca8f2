package build

import (
	"fmt"
	"math"
	"unicode/utf16"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A rosWriter is a message of ROS in the making.
type rosWriter struct {
	ros.Writer
	source
	depth, limit int
}

func newROSWriter(dst []byte, cdr bool, s source, limit int) rosWriter {
	return rosWriter{Writer: ros.NewWriter(dst, cdr), source: s, limit: limit}
}

// structure writes a struct, which is there.
func (w *rosWriter) structure(t *message.Type, at place) error {
	if w.depth++; w.depth > maxDepth || len(w.Buf) > w.limit {
		return refused("the message grows out of proportion to its values, or is nested more than %d deep", maxDepth)
	}
	fr, err := w.open(at, t)
	if err != nil {
		return err
	}
	if len(t.Fields) == 0 && w.CDR() {
		w.U8(0)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if err := w.field(f, w.member(fr, i)); err != nil {
			return within(f.Name, err)
		}
	}
	w.leave(fr)
	w.depth--
	return nil
}

// field writes all of a field.
func (w *rosWriter) field(f *message.Field, at place) error {
	switch {
	case at.at < 0:
		if at.at == null {
			w.seen().null = true
		}
		message.WriteZero(&w.Writer, f, false)
		return nil
	case f.List:
		return w.values(f, at)
	}
	return w.one(f, at)
}

// one writes one value, which is there.
func (w *rosWriter) one(f *message.Field, at place) error {
	switch {
	case f.Clock != schema.Invalid:
		if sec, nsec, ok := w.time(at, f); ok {
			return w.clock(f, sec, nsec)
		}
		return w.structure(f.Type, at)
	case f.Type != nil:
		return w.structure(f.Type, at)
	case f.Kind == message.Text:
		b, err := w.text(at, f)
		if err != nil {
			return err
		}
		return w.string(f, b)
	}
	bits, err := w.number(at, f)
	if err == nil {
		w.Number(f.Size, bits)
	}
	return err
}

// string writes a string.
func (w *rosWriter) string(f *message.Field, b []byte) error {
	if !f.Wide {
		if f.TextBound > 0 && len(b) > f.TextBound {
			return refused("a string of %d bytes, which has at most %d", len(b), f.TextBound)
		}
		w.String(b)
		return nil
	}
	units := utf16.Encode([]rune(string(b)))
	if f.TextBound > 0 && len(units) > f.TextBound {
		return refused("a string of %d characters, which has at most %d", len(units), f.TextBound)
	}
	w.U32(uint32(len(units)))
	for _, u := range units {
		w.U32(uint32(u))
	}
	return nil
}

// clock writes a time or a duration.
func (w *rosWriter) clock(f *message.Field, sec, nsec int64) error {
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	if f.Clock == schema.Time && !w.CDR() {
		low, high = 0, math.MaxUint32
	}
	if sec < low || sec > high {
		return refused("a %s has seconds from %d to %d, and not %d", f.Type.Name, low, high, sec)
	}
	w.U32(uint32(sec))
	w.U32(uint32(nsec))
	return nil
}

// values writes a list or an array.
func (w *rosWriter) values(f *message.Field, at place) error {
	if f.ROS.IsByte() {
		b, ok, err := w.bytes(at, f)
		if err != nil {
			return err
		}
		if ok {
			if err := w.count(f, len(b)); err != nil {
				return err
			}
			w.Buf = append(w.Buf, b...)
			return nil
		}
	}
	fr, n, err := w.list(at, f)
	if err != nil {
		return err
	}
	if err := w.count(f, n); err != nil {
		return err
	}
	if raw, ok := w.numbers(fr, f, n); ok {
		if n > 0 {
			w.Align(f.Size)
			w.Buf = append(w.Buf, raw...)
		}
		w.leave(fr)
		return nil
	}
	for i := range n {
		if len(w.Buf) > w.limit || n > w.limit {
			return refused("the message grows out of proportion to its values")
		}
		at := w.element(fr, i)
		var err error
		if at.at < 0 {
			w.seen().null = true
			message.WriteZero(&w.Writer, f, true)
		} else {
			err = w.one(f, at)
		}
		if err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	w.leave(fr)
	return nil
}

// count writes how many values a list has.
func (w *rosWriter) count(f *message.Field, n int) error {
	switch {
	case f.Fixed >= 0 && n != f.Fixed:
		return refused("%d values for an array of %d", n, f.Fixed)
	case f.Bound > 0 && n > f.Bound:
		return refused("%d values for a list of at most %d", n, f.Bound)
	case f.Fixed < 0:
		w.U32(uint32(n))
	}
	return nil
}
