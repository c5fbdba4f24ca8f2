package pb

import (
	"bytes"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// varint reads a varint by the drawing in the package comment.
func varint(p []byte) (v uint64, n int) {
	for i, b := range p {
		if i == 9 && b > 1 || i > 9 {
			return 0, -1
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, i + 1
		}
	}
	return 0, -1
}

// reference reads the field at the start of p by the same drawing; n is negative if it
// is none. Numbers beyond those of protobuf, 2^29-1, are some. Groups end with their own number, and lie at most 10,000
// deep.
func reference(p []byte, depth int) (num uint64, wire byte, head, n int) {
	tag, head := varint(p)
	num, wire = tag>>3, byte(tag&7)
	if head < 0 || num == 0 || num > math.MaxInt32 {
		return 0, 0, 0, -1
	}
	rest := p[head:]
	switch wire {
	case 0:
		_, n = varint(rest)
	case 1, 5:
		if n = map[byte]int{1: 8, 5: 4}[wire]; len(rest) < n {
			n = -1
		}
	case 2:
		size, k := varint(rest)
		if n = -1; k >= 0 && size <= uint64(len(rest)-k) {
			n = k + int(size)
		}
	case 3:
		for at := 0; ; {
			inner, w, h, size := reference(rest[at:], depth+1)
			switch {
			case w == 4 && h > 0 && inner == num:
				return num, wire, head, at + h
			case size < 0 || depth > 10_000:
				return num, wire, head, -1
			}
			at += h + size
		}
	default:
		n = -1
	}
	return num, wire, head, n
}

func compare(t *testing.T, message []byte) {
	t.Helper()
	at := 0
	s := Scan(message)
	for s.Next() {
		num, wire, head, n := reference(message[at:], 0)
		if n < 0 || uint64(s.Num) != num || byte(s.Wire) != wire || s.Pos() != at+head || s.End() != at+head+n ||
			!bytes.Equal(s.Value(), message[at+head:at+head+n]) {
			t.Fatalf("% x: field %d, wire type %d, from %d to %d, not %d, %d, %d bytes after %d", message, s.Num, s.Wire,
				s.Pos(), s.End(), num, wire, n, at+head)
		}
		if s.Wire == protowire.BytesType {
			if _, k := varint(s.Value()); !bytes.Equal(s.Content(), s.Value()[k:]) {
				t.Fatalf("% x: content % x", message, s.Content())
			}
		}
		if s.Wire == protowire.StartGroupType && !bytes.HasPrefix(s.Value(), s.Content()) {
			t.Fatalf("% x: group % x", message, s.Content())
		}
		at += head + n
	}
	where, what := s.Wrong()
	if (what == "") != (at == len(message)) || where != at {
		t.Fatalf("% x: %q at %d, the reference is at %d", message, what, where, at)
	}
	if at < len(message) {
		if _, _, _, n := reference(message[at:], 0); n >= 0 {
			t.Fatalf("% x: %s at %d, and the reference reads it", message, what, at)
		}
	}
	for kind := protoreflect.BoolKind; kind <= protoreflect.GroupKind; kind++ {
		if wire, number := WireOf(kind); number {
			v, n := Number(kind, message)
			want, m := referenceNumber(kind, byte(wire), message)
			if n != m && (n >= 0 || m >= 0) || n >= 0 && v != want {
				t.Fatalf("% x as %s: %x of %d bytes, not %x of %d", message, kind, v, n, want, m)
			}
		}
	}
}

// referenceNumber reads a number by the documentation of protobuf.
func referenceNumber(k protoreflect.Kind, wire byte, p []byte) (v uint64, n int) {
	if wire == 0 {
		v, n = varint(p)
	} else if n = map[byte]int{1: 8, 5: 4}[wire]; len(p) < n {
		return 0, -1
	}
	if wire != 0 {
		for i, b := range p[:n] {
			v |= uint64(b) << (8 * i)
		}
	}
	low := v & math.MaxUint32
	signed := func(v uint64) uint64 {
		if v > math.MaxInt32 {
			return v | math.MaxUint32<<32
		}
		return v
	}
	switch k {
	case protoreflect.BoolKind:
		v = min(v, 1)
	case protoreflect.Uint32Kind:
		v = low
	case protoreflect.Int32Kind, protoreflect.EnumKind, protoreflect.Sfixed32Kind:
		v = signed(low)
	case protoreflect.Sint32Kind:
		if v = low / 2; low%2 == 1 {
			v = signed(^v & math.MaxUint32)
		}
	case protoreflect.Sint64Kind:
		if odd := v % 2; odd == 1 {
			v = ^(v / 2)
		} else {
			v /= 2
		}
	}
	return v, n
}

func TestAgainstReference(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for _, rest := range []string{"", "\x01", "\x80\x01", "\x01\x02\x03\x04\x05\x06\x07\x08\x09",
				"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x0c\x14\x1c"} {
				compare(t, append([]byte{byte(a), byte(b)}, rest...))
			}
		}
	}
}

func TestPacked(t *testing.T) {
	for _, c := range []struct {
		wire protowire.Type
		p    string
		want int
	}{{protowire.VarintType, "\x01\x80\x01\x80", 2}, {protowire.Fixed32Type, "123456789", 2},
		{protowire.Fixed64Type, "123456789", 1}, {protowire.VarintType, "", 0}} {
		if got := Count(c.wire, []byte(c.p)); got != c.want {
			t.Errorf("%d numbers of wire type %d in %x, not %d", got, c.wire, c.p, c.want)
		}
	}
}
