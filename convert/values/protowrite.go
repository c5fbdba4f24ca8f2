package values

import (
	"bytes"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A protoWriter is a message of protobuf in the making. Fields are written in the order of their
// declaration.
type protoWriter struct {
	buf   []byte
	depth int
}

func writeProto(s *slot, dst []byte, p unsafe.Pointer) ([]byte, error) {
	w := protoWriter{buf: dst}
	err := w.content(s, p)
	return w.buf, err
}

// resolve follows pointers and interfaces; p is nil if there is no value.
func (s *slot) resolve(p unsafe.Pointer) (*slot, unsafe.Pointer, error) {
	for p != nil && (s.form == formPointer || s.form == formAny) {
		if s.form == formPointer {
			s, p = s.elem, *(*unsafe.Pointer)(p)
			continue
		}
		var err error
		if s, p, err = s.dynamic(*(*any)(p)); err != nil {
			return nil, nil, err
		}
	}
	return s.bare(), p, nil
}

// content writes what is in a message.
func (w *protoWriter) content(s *slot, p unsafe.Pointer) error {
	s, p, err := s.resolve(p)
	if err != nil || p == nil || s.form == formSkip {
		return err
	}
	if s.form == formTime || s.form == formNanos {
		sec, nsec := s.clockAt(p)
		w.buf = appendTime(w.buf, sec, nsec)
		return nil
	}
	if w.depth++; w.depth > maxDepth {
		return refused("values are nested more than %d deep", maxDepth)
	}
	n := s.node
	var m map[string]any
	if s.form == formMap {
		m = *(*map[string]any)(p)
		if err := n.knows(m); err != nil {
			return err
		}
	}
	set := make([]bool, n.typ.Wire().Oneofs)
	for i := range n.fields {
		f := &n.fields[i]
		at := unsafe.Add(p, f.offset)
		if s.form == formMap {
			v := m[f.Name]
			at = unsafe.Pointer(&v)
		}
		written, err := w.field(f, at)
		if err == nil && written && f.wire.Oneof >= 0 {
			if set[f.wire.Oneof] {
				err = refused("another field of its oneof is set, too")
			}
			set[f.wire.Oneof] = true
		}
		if err != nil {
			return within(f.Name, err)
		}
	}
	w.depth--
	return nil
}

// field writes a field, unless it is not set.
func (w *protoWriter) field(f *field, p unsafe.Pointer) (written bool, err error) {
	explicit := f.form == formPointer || f.form == formAny
	s, p, err := f.slot.resolve(p)
	if s == nil || s.form == formSkip {
		p = nil
	}
	switch {
	case err != nil:
		return false, err
	case p == nil && (!f.always || f.List):
		return false, nil
	case f.List:
		return false, w.list(f, s, p)
	}
	always := f.always || explicit && f.Presence
	head := len(w.buf)
	w.buf = protowire.AppendTag(w.buf, f.wire.Num, f.wire.Wire)
	if f.wire.Parts {
		empty := len(w.buf) + 1
		if f.wire.Wire == protowire.StartGroupType {
			empty = len(w.buf) + protowire.SizeTag(f.wire.Num)
		}
		if err := w.message(f, s, p); err != nil {
			return false, err
		}
		if !always && len(w.buf) == empty {
			w.buf = w.buf[:head]
			return false, nil
		}
		return true, nil
	}
	if p == nil {
		w.single(f, f.bits, f.text)
		return true, nil
	}
	bits, text, err := f.scalar(s, p)
	if err != nil {
		return false, err
	}
	if !always && bits == f.bits && bytes.Equal(text, f.text) {
		w.buf = w.buf[:head]
		return false, nil
	}
	w.single(f, bits, text)
	return true, nil
}

// message writes a message after its tag.
func (w *protoWriter) message(f *field, s *slot, p unsafe.Pointer) error {
	if f.wire.Wire == protowire.StartGroupType {
		if err := w.content(s, p); err != nil {
			return err
		}
		w.buf = protowire.AppendTag(w.buf, f.wire.Num, protowire.EndGroupType)
		return nil
	}
	w.buf = append(w.buf, 0)
	head := len(w.buf) - 1
	if err := w.content(s, p); err != nil {
		return err
	}
	w.buf = pb.EndBytes(w.buf, head)
	return nil
}

// scalar returns a value that is no message: the bits of a number, or text.
func (f *field) scalar(s *slot, p unsafe.Pointer) (bits uint64, text []byte, err error) {
	switch s.form {
	case formBool:
		if *(*bool)(p) {
			bits = 1
		}
	case formNumber:
		bits = f.narrow(s, load(p, s.goKind, s.goSize))
	case formString:
		text = unsafe.Slice(unsafe.StringData(*(*string)(p)), len(*(*string)(p)))
	case formBytes:
		text = *(*[]byte)(p)
	default:
		v := load(p, s.goKind, s.goSize)
		var ok bool
		if bits, ok = convert(v, s.goKind, s.Kind, s.Size); !ok {
			return 0, nil, refused("%v is no %s", asText(v, s.goKind), s.name())
		}
	}
	if f.wire.Kind == protoreflect.StringKind && f.utf8 && !utf8.Valid(text) {
		return 0, nil, refused("the text is not UTF-8")
	}
	return bits, text, nil
}

// narrow returns what pb.Number returns for a number of the same kind: floats of 32 bits have theirs.
func (f *field) narrow(s *slot, bits uint64) uint64 {
	v, _ := convert(bits, s.Kind, s.Kind, s.Size)
	return v
}

// single writes a value after its tag.
func (w *protoWriter) single(f *field, bits uint64, text []byte) {
	if f.wire.Wire == protowire.BytesType {
		w.buf = protowire.AppendBytes(w.buf, text)
		return
	}
	w.buf = pb.AppendNumber(w.buf, f.wire.Kind, bits)
}

// list writes a list.
func (w *protoWriter) list(f *field, s *slot, p unsafe.Pointer) error {
	n, p, width := s.elements(p)
	if n == 0 {
		return nil
	}
	head := -1
	if f.packed {
		w.buf = append(protowire.AppendTag(w.buf, f.wire.Num, protowire.BytesType), 0)
		head = len(w.buf) - 1
	}
	for i := range n {
		if err := w.element(f, s.elem, unsafe.Add(p, uintptr(i)*width)); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	if head >= 0 {
		w.buf = pb.EndBytes(w.buf, head)
	}
	return nil
}

func (w *protoWriter) element(f *field, s *slot, p unsafe.Pointer) error {
	if !f.packed {
		w.buf = protowire.AppendTag(w.buf, f.wire.Num, f.wire.Wire)
	}
	if f.wire.Parts {
		return w.message(f, s, p)
	}
	s, p, err := s.resolve(p)
	if err != nil || p == nil {
		w.single(f, 0, nil)
		return err
	}
	bits, text, err := f.scalar(s, p)
	if err == nil {
		w.single(f, bits, text)
	}
	return err
}

// appendTime writes a google.protobuf.Timestamp or Duration: {1 int64 seconds, 2 int32 nanos}.
func appendTime(dst []byte, sec, nsec int64) []byte {
	if sec != 0 {
		dst = protowire.AppendVarint(append(dst, 1<<3), uint64(sec))
	}
	if nsec != 0 {
		dst = protowire.AppendVarint(append(dst, 2<<3), uint64(nsec))
	}
	return dst
}
