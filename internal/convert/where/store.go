package where

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// storing returns a function that stores a value as a field has it. What does not fit the field is an error of the
// run, and never another value.
func (k *compiler) storing(n ast.Node, v value, f *message.Field) (func(*run, *Values), error) {
	want, err := k.reading(n, f)
	if err != nil {
		return nil, err
	}
	switch {
	case want.kind == float && v.kind == integer:
		return func(r *run, into *Values) {
			i := v.whole(r)
			x := float64(i)
			if compare(i, x) != 0 || f.Size == 4 && float64(float32(x)) != x {
				r.fail("%d is no float of %d bits, which %s has", i, 8*f.Size, f.Name)
			}
			into.float(r, f, x)
		}, nil
	case want.kind != v.kind && want.kind == integer && v.kind == float:
		return nil, k.of.at(n, "a float for the integer "+f.Name, "write int(...), or int(round(...))")
	case want.kind != v.kind:
		return nil, k.wrong(n, "%s for %s, which is %s", v.kind, f.Name, want.kind)
	}
	switch v.kind {
	case truth:
		return func(r *run, into *Values) {
			var bits uint64
			if v.truth(r) {
				bits = 1
			}
			into.Bits = append(into.Bits, bits)
		}, nil
	case integer:
		return func(r *run, into *Values) { into.integer(r, f, v.whole(r)) }, nil
	case float:
		return func(r *run, into *Values) { into.float(r, f, v.float(r)) }, nil
	case text:
		return func(r *run, into *Values) { into.text(r, f, v.text(r)) }, nil
	}
	return func(r *run, into *Values) { into.clock(r, f, v.whole(r)) }, nil
}

// integer stores an integer.
func (v *Values) integer(r *run, f *message.Field, i int64) {
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	switch bits := 8 * f.Size; {
	case f.Kind == message.Unsigned && bits == 64:
		least = 0
	case f.Kind == message.Unsigned:
		least, most = 0, 1<<bits-1
	case bits < 64:
		least, most = -1<<(bits-1), 1<<(bits-1)-1
	}
	if i < least || i > most {
		r.fail("%d does not fit %s, which has %d to %d", i, f.Name, least, most)
	}
	if p := f.Proto; p != nil && p.Enum() != nil && p.Enum().IsClosed() && p.Enum().Values().ByNumber(
		protoreflect.EnumNumber(i)) == nil {
		r.fail("%d is no value of the enum of %s", i, f.Name)
	}
	v.Bits = append(v.Bits, uint64(i))
}

// float stores a float. NaN and infinite values must come from the message.
func (v *Values) float(r *run, f *message.Field, x float64) {
	if x-x != 0 && !r.odd {
		r.fail("the value for %s is %v", f.Name, x)
	}
	if f.Size == 8 {
		v.Bits = append(v.Bits, math.Float64bits(x))
		return
	}
	y := float32(x)
	if math.IsInf(float64(y), 0) && !math.IsInf(x, 0) {
		r.fail("%v does not fit %s, a float of 32 bits", x, f.Name)
	}
	v.Bits = append(v.Bits, uint64(math.Float32bits(y)))
}

// text stores text.
func (v *Values) text(r *run, f *message.Field, s string) {
	units := len(s)
	if f.Wide {
		units = len(utf16.Encode([]rune(s)))
	}
	switch {
	case f.TextBound > 0 && units > f.TextBound:
		r.fail("text of %d characters for %s, which has %d at most", units, f.Name, f.TextBound)
	case (f.Wide || f.Proto != nil && f.Kind == message.Text) && !utf8.ValidString(s):
		r.fail("the text for %s is not UTF-8", f.Name)
	case f.Proto == nil && strings.IndexByte(s, 0) >= 0:
		r.fail("the text for %s has a NUL", f.Name)
	}
	v.Texts = append(v.Texts, s)
}

// clock stores a time or a duration.
func (v *Values) clock(r *run, f *message.Field, ns int64) {
	sec, nsec := ns/1e9, ns%1e9
	if nsec < 0 && !(f.Proto != nil && f.Clock == schema.Duration) { // a Duration of protobuf has one sign
		sec, nsec = sec-1, nsec+1e9
	}
	if f.Proto == nil {
		first, last := int64(math.MinInt32), int64(math.MaxInt32)
		if f.ROS == schema.Time {
			first, last = 0, math.MaxUint32
		}
		if sec < first || sec > last {
			r.fail("%d seconds do not fit %s, which has %d to %d", sec, f.Name, first, last)
		}
	}
	v.Bits = append(v.Bits, uint64(sec), uint64(nsec))
}
