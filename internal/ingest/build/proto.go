package build

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A protoWriter is a message of protobuf in the making. Fields are written in the order of their declaration.
type protoWriter struct {
	buf []byte
	source
	depth, limit int
}

// content writes what is in a message, which is there.
func (w *protoWriter) content(t *message.Type, at place) error {
	if w.depth++; w.depth > maxDepth || len(w.buf) > w.limit {
		return refused("the message grows out of proportion to its values, or is nested more than %d deep", maxDepth)
	}
	fr, err := w.open(at, t)
	if err != nil {
		return err
	}
	wire := t.Wire()
	var set uint64 // of the first 64 oneofs
	for i := range t.Fields {
		f, wf := &t.Fields[i], &wire.Fields[i]
		written, err := w.field(f, wf, w.member(fr, i), t.Entry)
		if err == nil && written && wf.Oneof >= 0 && wf.Oneof < 64 {
			if set>>wf.Oneof&1 != 0 {
				err = refused("another field of its oneof is set, too")
			}
			set |= 1 << wf.Oneof
		}
		if err != nil {
			return within(f.Name, err)
		}
	}
	w.leave(fr)
	w.depth--
	return nil
}

// field writes a field, unless it is not set.
func (w *protoWriter) field(f *message.Field, wf *pb.Field, at place, entry bool) (written bool, err error) {
	always := f.Proto.Cardinality() == protoreflect.Required || entry
	switch {
	case at.at < 0 && at.at == null && f.Type == nil && wf.Oneof < 0:
		w.seen().null = true
		fallthrough
	case at.at < 0:
		if always && !f.List {
			w.unset(f, wf)
		}
		return false, nil
	case f.List:
		return false, w.values(f, wf, at)
	case wf.Parts:
		w.buf = protowire.AppendTag(w.buf, wf.Num, wf.Wire)
		return true, w.message(f, wf, at)
	}
	bits, text, err := w.scalar(f, wf, at)
	if err != nil {
		return false, err
	}
	defaultBits, defaultText := f.Default()
	if !always && wf.Oneof < 0 && bits == defaultBits && bytes.Equal(text, defaultText) {
		return false, nil
	}
	w.buf = protowire.AppendTag(w.buf, wf.Num, wf.Wire)
	w.single(wf, bits, text)
	return true, nil
}

// unset writes a required field without a value.
func (w *protoWriter) unset(f *message.Field, wf *pb.Field) {
	w.buf = protowire.AppendTag(w.buf, wf.Num, wf.Wire)
	switch {
	case wf.Parts && wf.Wire == protowire.StartGroupType:
		w.buf = protowire.AppendTag(w.buf, wf.Num, protowire.EndGroupType)
	case wf.Parts:
		w.buf = append(w.buf, 0)
	default:
		bits, text := f.Default()
		w.single(wf, bits, text)
	}
}

// message writes a message after its tag.
func (w *protoWriter) message(f *message.Field, wf *pb.Field, at place) error {
	if wf.Wire == protowire.StartGroupType {
		if err := w.inner(f, at); err != nil {
			return err
		}
		w.buf = protowire.AppendTag(w.buf, wf.Num, protowire.EndGroupType)
		return nil
	}
	w.buf = append(w.buf, 0)
	head := len(w.buf) - 1
	if err := w.inner(f, at); err != nil {
		return err
	}
	w.buf = pb.EndBytes(w.buf, head)
	return nil
}

// inner writes what is in the message of a field.
func (w *protoWriter) inner(f *message.Field, at place) error {
	if f.Clock != schema.Invalid {
		if sec, nsec, ok := w.time(at, f); ok {
			if f.Clock == schema.Duration && sec < 0 && nsec > 0 { // both have one sign
				sec, nsec = sec+1, nsec-1e9
			}
			if sec != 0 {
				w.buf = protowire.AppendVarint(append(w.buf, 1<<3), uint64(sec))
			}
			if nsec != 0 {
				w.buf = protowire.AppendVarint(append(w.buf, 2<<3), uint64(nsec))
			}
			return nil
		}
	}
	b, ok, err := w.bytes(at, f)
	switch {
	case err != nil:
		return err
	case ok: // as it is
		w.buf = append(w.buf, b...)
		return nil
	case f.Type == nil:
		return refused("the descriptors lack its message, and only its bytes can be written")
	}
	return w.content(f.Type, at)
}

// scalar returns a value that is no message: the bits of a number, or text.
func (w *protoWriter) scalar(f *message.Field, wf *pb.Field, at place) (bits uint64, text []byte, err error) {
	if f.Size > 0 {
		bits, err = w.number(at, f)
		return bits, nil, err
	}
	if f.Kind == message.Bytes {
		var ok bool
		if text, ok, err = w.bytes(at, f); err == nil && !ok {
			err = refused("it is no string of bytes")
		}
		return 0, text, err
	}
	text, err = w.text(at, f)
	if err == nil && f.Proto.ParentFile().Syntax() != protoreflect.Proto2 && !utf8.Valid(text) {
		err = refused("the text is not UTF-8")
	}
	return 0, text, err
}

// single writes a value after its tag.
func (w *protoWriter) single(wf *pb.Field, bits uint64, text []byte) {
	if wf.Wire == protowire.BytesType {
		w.buf = protowire.AppendBytes(w.buf, text)
		return
	}
	w.buf = pb.AppendNumber(w.buf, wf.Kind, bits)
}

// values writes a list.
func (w *protoWriter) values(f *message.Field, wf *pb.Field, at place) error {
	fr, n, err := w.list(at, f)
	if err != nil {
		return err
	}
	head := -1
	packed := f.Proto.IsPacked()
	if packed && n > 0 {
		w.buf = append(protowire.AppendTag(w.buf, wf.Num, protowire.BytesType), 0)
		head = len(w.buf) - 1
	}
	for i := range n {
		if len(w.buf) > w.limit || n > w.limit {
			return refused("the message grows out of proportion to its values")
		}
		if err := w.value(f, wf, w.element(fr, i), packed); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	if head >= 0 {
		w.buf = pb.EndBytes(w.buf, head)
	}
	w.leave(fr)
	return nil
}

// value writes a value of a list.
func (w *protoWriter) value(f *message.Field, wf *pb.Field, at place, packed bool) error {
	if at.at < 0 {
		w.seen().null = true
		if !packed {
			w.unset(f, wf)
			return nil
		}
		w.single(wf, 0, nil)
		return nil
	}
	if !packed {
		w.buf = protowire.AppendTag(w.buf, wf.Num, wf.Wire)
	}
	if wf.Parts {
		return w.message(f, wf, at)
	}
	bits, text, err := w.scalar(f, wf, at)
	if err == nil {
		w.single(wf, bits, text)
	}
	return err
}
