package values

import (
	"bytes"
	"testing"

	"github.com/bagconv/bagconv/schema/rosidl"
)

// TestExtensibility: structs with and without a size in XCDR2, also within each other.
func TestExtensibility(t *testing.T) {
	const (
		old       = "\x00\x01\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
		plain     = "\x00\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
		inner     = "\x00\x07\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
		outer     = "\x00\x09\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
		delimited = "\x00\x09\x00\x00\x0c\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
		list      = "\x00\x03\x00\x00\x00\x00\x04\x00\x01\x00\x00\x00\x01\x00\x04\x00\x02\x00\x00\x00\x02\x3f\x00\x00"
		numbered  = "\x00\x0b\x00\x00\x18\x00\x00\x00\x00\x00\x00\x40\x08\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x20\x02\x00\x00\x00"
	)
	value := map[string]any{"i": map[string]any{"a": 1.0}, "b": 2.0}
	for _, c := range []struct{ inner, outer, data string }{
		{"", "", plain}, {"", "", delimited}, {"", "", old},
		{"@final", "@final", plain}, {"@appendable", "@appendable", delimited}, {"@final", "", plain}, {"@appendable", "",
			delimited},
		{"@final", "@appendable", old}, {"@appendable", "@final", old}, {"@extensibility(APPENDABLE)", "@final", old},
		{"@appendable", "@final", inner}, {"@extensibility(APPENDABLE)", "", inner},
		{"@final", "@appendable", outer}, {"@extensibility(value=FINAL)", "", outer},
		{"@final", "@mutable", list}, {"@appendable", "@extensibility(MUTABLE)", list}, {"", "@mutable", numbered},
	} {
		m, err := rosidl.Parse("p::msg::T", []byte("module p { module msg { "+c.inner+" struct I { long a; }; "+c.outer+
			" struct T { I i; long b; }; }; };"))
		if err != nil {
			t.Fatal(err)
		}
		r := newIDLReaders(t, m)
		if r.check(t, []byte(c.data), value); t.Failed() {
			t.Fatalf("%s in %s", c.inner, c.outer)
		}
		if out, err := r.plan.Append(nil, []byte(c.data)); err != nil || !bytes.Equal(out, []byte(old)) {
			t.Errorf("%s in %s: % x, %v", c.inner, c.outer, out, err)
		}
	}
}

// TestBitmasks: lists of bitmasks, and of enums of few bits, with a size in XCDR2 and without one. Read
// as a list of numbers, the first message would have six of them, and no bytes left over.
func TestBitmasks(t *testing.T) {
	const (
		sized   = "\x00\x07\x00\x00\x06\x00\x00\x00\x02\x00\x00\x00\x01\x02\x00\x00\x05\x00\x00\x00"
		unsized = "\x00\x07\x00\x00\x02\x00\x00\x00\x01\x02\x00\x00\x05\x00\x00\x00"
		old     = "\x00\x01\x00\x00\x02\x00\x00\x00\x01\x02\x00\x00\x05\x00\x00\x00"
	)
	for text, list := range map[string]any{
		"@bit_bound(8) bitmask F { A, B };": "AQI=",
		"bitset F { bitfield<5> a; };":      "AQI=",
		"@bit_bound(4) enum F { A, B, C };": []any{1.0, 2.0},
	} {
		m, err := rosidl.Parse("T", []byte(text+" struct T { sequence<F> f; long b; };"))
		if err != nil {
			t.Fatal(err)
		}
		r := newIDLReaders(t, m)
		for _, data := range []string{sized, unsized, old} {
			r.check(t, []byte(data), map[string]any{"f": list, "b": 5.0})
			if out, err := r.plan.Append(nil, []byte(data)); err != nil || string(out) != old {
				t.Errorf("%s % x: % x, %v", text, data, out, err)
			}
		}
	}
}

// TestDefaults: members that a message does not have take their default, and those of a struct that it
// does not have theirs.
func TestDefaults(t *testing.T) {
	m, err := rosidl.Parse("T", []byte(`enum Color { RED, GREEN };
		@final union U switch (@default(1) long) { case 1: long x; };
		@final struct I { long z, y; @default(-2) short a; double b; @default("in") string s; @optional long o; U u; long long l; };
		@mutable struct T {
			@default(7) long a; @default(TRUE) boolean yes; @default(1.5) double x; @default(GREEN) Color c; long none;
			@default("text") string s; @default("wide") wstring w; @default(value="(1, -2)") short two[2];
			@default(value="(3,)") sequence<long> list; I i[2]; sequence<I> more; U u; @default(9) long last; };`))
	if err != nil {
		t.Fatal(err)
	}
	u := map[string]any{"discriminator": 0.0, "x": nil}
	i := map[string]any{"z": 0.0, "y": 0.0, "a": -2.0, "b": 0.0, "s": "in", "o": nil, "u": u, "l": "0"}
	want := map[string]any{"a": 7.0, "yes": true, "x": 1.5, "c": 1.0, "none": 0.0, "s": "text", "w": "wide",
		"two":  []any{1.0, -2.0},
		"list": []any{3.0}, "i": []any{i, i}, "more": []any{}, "u": u, "last": 8.0}
	r := newIDLReaders(t, m)
	for _, data := range []string{
		"\x00\x03\x00\x00\x0c\x00\x04\x00\x08\x00\x00\x00\x02\x3f\x00\x00",
		"\x00\x0b\x00\x00\x08\x00\x00\x00\x0c\x00\x00\x20\x08\x00\x00\x00",
	} {
		r.check(t, []byte(data), want)
	}
}
