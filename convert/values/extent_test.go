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
		{"@final", "@final", plain}, {"@appendable", "@appendable", delimited}, {"@final", "", plain}, {"@appendable", "", delimited},
		{"@final", "@appendable", old}, {"@appendable", "@final", old}, {"@extensibility(APPENDABLE)", "@final", old},
		{"@appendable", "@final", inner}, {"@extensibility(APPENDABLE)", "", inner},
		{"@final", "@appendable", outer}, {"@extensibility(value=FINAL)", "", outer},
		{"@final", "@mutable", list}, {"@appendable", "@extensibility(MUTABLE)", list}, {"", "@mutable", numbered},
	} {
		m, err := rosidl.Parse("p::msg::T", []byte("module p { module msg { "+c.inner+" struct I { long a; }; "+c.outer+" struct T { I i; long b; }; }; };"))
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
