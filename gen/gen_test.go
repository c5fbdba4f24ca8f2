package gen

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// parsed returns a type of texts by name, in ROS 1 unless the name has /msg/.
func parsed(t *testing.T, name string, texts map[string]string) *schema.Message {
	t.Helper()
	dialect := rosmsg.ROS1
	if strings.Contains(name, "/msg/") {
		dialect = rosmsg.ROS2
	}
	m, err := rosmsg.Parse(name, nil, dialect, func(name string) (string, bool) {
		text, ok := texts[name]
		return text,
			ok
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// file returns the text of one file of the code of an input.
func file(t *testing.T, name string, in *Input) string {
	t.Helper()
	files, err := Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name == name {
			return string(f.Text)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// TestNames: names that C++ does not allow, that are equal, or that mean something else there.
func TestNames(t *testing.T) {
	texts := map[string]string{
		"a/T": "int32 class\nint32 class_\nb/T T\nT2 x__y\nuint8 x_y\nuint8 X=1\nuint8 NULL=2\nuint8 x_y=3\nEmpty[] " +
			"std\nEmpty[0] none\nbool[3] flags",
		"b/T":     "string T\n",
		"a/T2":    "time time_ros\nduration[2] d\n",
		"a/Empty": "",
	}
	in := &Input{Made: "test", Topics: []Topic{
		{Name: "/new", Type: "a/T", Encoding: "ros1", Message: parsed(t, "a/T", texts)},
		{Name: "/new/", Type: "a/T", Encoding: "ros1", Message: parsed(t, "a/T", texts)},
	}}
	types := file(t, "types.h", in)
	for _, want := range []string{
		"std::int32_t class_ = 0;", "std::int32_t class_2 = 0;", "::types::b::T T_2;", "::types::a::T2 x_y;",
		"std::uint8_t x_y_2 = 0;",
		"constexpr std::uint8_t X = 1;", "constexpr std::uint8_t NULL_ = 2;", "constexpr std::uint8_t x_y_3 = 3;",
		"std::vector<::types::a::Empty> std_;", "std::array<::types::a::Empty, 0> none = {};", "bool flags[3] = {};",
		"::time_ros time_ros_;", "::duration_ros d[2];", "std::string T_2;",
	} {
		if !strings.Contains(types, want) {
			t.Errorf("types.h lacks %q:\n%s", want, types)
		}
	}
	if n := strings.Count(types, "struct T {"); n != 2 {
		t.Errorf("a/T and b/T are %d structs", n)
	}
	structure := file(t, "structure.h", in)
	for _, want := range []string{"namespace new_ {", "namespace new_2 {", "using T = ::types::a::T;",
		"using T_2 = ::types::b::T;"} {
		if !strings.Contains(structure, want) {
			t.Errorf("structure.h lacks %q:\n%s", want, structure)
		}
	}
}

// TestTwoDefinitions: one name with two definitions becomes two types, and equal ones one.
func TestTwoDefinitions(t *testing.T) {
	old, new := map[string]string{"a/T": "int32 x"}, map[string]string{"a/T": "int64 x"}
	in := &Input{Made: "test", Topics: []Topic{
		{Name: "/a", Type: "a/T", Encoding: "ros1", Message: parsed(t, "a/T", old)},
		{Name: "/b", Type: "a/T", Encoding: "ros1", Message: parsed(t, "a/T", new)},
		{Name: "/c", Type: "a/T", Encoding: "ros1", Message: parsed(t, "a/T", old)},
	}}
	structure := file(t, "structure.h", in)
	if strings.Count(structure, "using T = ::types::a::T;") != 2 ||
		strings.Count(structure, "using T = ::types::a::T_2;") != 1 {
		t.Error(structure)
	}
	if types := file(t, "types.h", in); strings.Count(types, "struct ") != 2 {
		t.Error(types)
	}
}

// TestRuns: numbers without padding between are read at once, and only these.
func TestRuns(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"float64 x\nfloat64 y", "stream.Run(16, 8, 8)"},
		{"uint32 a\nuint32 b\nstring s", "stream.Run(8, 4, 4)"},
		{"uint8 a\nuint32 b", "stream.Run(5, 1, 0)"},
		{"uint32 a\nuint32 b\nfloat64 c", "stream.Run(16, 4, 8)"},
		{"uint32 a\nfloat64 c\nuint8 d", "stream.Run(13, 4, 0)"},
		{"time a\nfloat32[9] c", "stream.Run(44, 4, 4)"},
		{"string s\nuint32 a", ""},
		{"uint8[] s", ""},
	} {
		m := parsed(t, "a/T", map[string]string{"a/T": c.text})
		code := file(t, "types.cpp", &Input{Topics: []Topic{{Type: "a/T", Encoding: "ros1", Message: m}}})
		if c.want == "" && strings.Contains(code, ".Run(") || !strings.Contains(code, c.want) {
			t.Errorf("%q lacks %q:\n%s", c.text, c.want, code)
		}
	}
}

// TestConstants: the values that texts of constants have.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		kind schema.Kind
		text string
		want constant
	}{
		{schema.Int8, "-128", int64(-128)}, {schema.Int8, "128", nil}, {schema.Uint8, "0xff", uint64(255)}, {schema.Uint8,
			"-1", nil},
		{schema.Int32, "0000001", int64(1)}, {schema.Int32, "010", int64(10)}, {schema.Int64, "-9223372036854775808",
			int64(math.MinInt64)},
		{schema.Uint64, "18446744073709551615", uint64(math.MaxUint64)}, {schema.Uint64, "18446744073709551616", nil},
		{schema.Float32, "1e-3", float64(float32(1e-3))}, {schema.Float64, "inf", math.Inf(1)}, {schema.Float64, "x", nil},
		{schema.Bool, "True", true}, {schema.Bool, "0", false}, {schema.Bool, "2", nil}, {schema.String, " a#b ", " a#b "},
		{schema.Byte, "200", nil},
	} {
		v, ok := constantOf(schema.Constant{Kind: c.kind, Text: c.text}, true)
		if ok != (c.want != nil) || ok && v != c.want {
			t.Errorf("%s %q: %v %v, not %v", c.kind, c.text, v, ok, c.want)
		}
	}
	for v, want := range map[constant]string{
		int64(math.MinInt64): "-9223372036854775807LL - 1", uint64(math.MaxUint64): "18446744073709551615ULL",
		int64(-5): "-5",
		1e22:      "1e+22", 2.0: "2.0", "a\"b\\\n??=\xff": `"a\"b\\\012\?\?=\377"`, true: "true",
	} {
		if got := cppValue(v); got != want {
			t.Errorf("%v: %s, not %s", v, got, want)
		}
	}
}

// TestRefused: types for which there is no code.
func TestRefused(t *testing.T) {
	huge := parsed(t, "a/T", map[string]string{"a/T": "U[100000] x", "a/U": "float64[100000] y"})
	wide := &schema.Message{Name: "a/W", Fields: []schema.Field{{Name: "x", Type: schema.Type{Kind: schema.LongDouble}}}}
	for _, m := range []*schema.Message{huge, wide} {
		if err := Check(&Topic{Type: m.Name, Encoding: "ros1", Message: m}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	one := schema.Type{Kind: schema.Int32}
	inner := func(e schema.Extensibility) schema.Field {
		return schema.Field{Name: "i", Type: schema.Type{Kind: schema.Struct, Message: &schema.Message{Name: "a/I",
			Extensibility: e, Fields: []schema.Field{{Name: "x", Type: one}}}}}
	}
	for want, m := range map[string]*schema.Message{
		"a/T is a union": {Name: "a/T", Union: true, Fields: []schema.Field{{Name: "x", Type: one}}},
		"field x of a/T is @optional": {Name: "a/T",
			Fields: []schema.Field{{Name: "x", Type: one, Member: &schema.Member{Type: one, Optional: true}}}},
		"a/I is @mutable":          {Name: "a/T", Fields: []schema.Field{inner(schema.Mutable)}},
		"a/I is an entry of a map": {Name: "a/T", Fields: []schema.Field{inner(schema.Bare)}},
		"field x of a/T is a list of an enum": {Name: "a/T",
			Fields: []schema.Field{{Name: "x", Type: schema.Type{Kind: schema.Enum, Array: schema.Unbounded}}}},
		"field y of a/T is a list of an enum": {Name: "a/T",
			Fields: []schema.Field{{Name: "y", Type: schema.Type{Kind: schema.Uint8, Enumerated: true, Array: schema.Fixed,
				Len: 3}}}},
		"a/I is @final and a/T @appendable": {Name: "a/T", Extensibility: schema.Appendable,
			Fields: []schema.Field{inner(schema.Final)}},
	} {
		if err := Check(&Topic{Type: m.Name, Encoding: "cdr", Message: m}); !errors.Is(err, ErrUnsupported) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := Check(&Topic{Type: "a/T", Encoding: "cdr", Message: &schema.Message{Name: "a/T", Extensibility: schema.Final,
		Fields: []schema.Field{inner(schema.Final)}}}); err != nil {
		t.Error(err)
	}
}

// TestDeterministic: the same input makes the same files.
func TestDeterministic(t *testing.T) {
	texts := map[string]string{"a/T": "a/U u\nb/U v\nb/U[] w\n", "a/U": "int8 x", "b/U": "a/U x\nstring[] y"}
	var first []File
	for range 5 {
		files, err := Generate(&Input{Made: "test",
			Topics: []Topic{{Name: "/a", Type: "a/T", Encoding: "ros1", Message: parsed(t, "a/T", texts)}}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = files
		}
		for i := range files {
			if files[i].Name != first[i].Name || !bytes.Equal(files[i].Text, first[i].Text) {
				t.Errorf("%s differs", files[i].Name)
			}
		}
	}
}

// TestOddLetters: names with letters that no source code may have, such as a byte order mark.
func TestOddLetters(t *testing.T) {
	texts := map[string]string{"a\ufeff/T\u202e": "int32 x\ufeff\nstring S\ufeff=a\ufeffb\nfloat32 N\ufeff=nan"}
	in := &Input{Made: "test", Topics: []Topic{{Name: "/\ufeffa", Type: "a\ufeff/T\u202e", Encoding: "ros1",
		Message: parsed(t, "a\ufeff/T\u202e", texts)}}}
	files, err := Generate(in)
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		if strings.ContainsAny(string(f.Text), "\ufeff\u202e") {
			t.Errorf("%s has such a letter", f.Name)
		}
	}
}
