package rosidl

import (
	"errors"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/schema"
)

const sample = `================================================================================
IDL: p/msg/Sample
// generated from rosidl_adapter/resource/msg.idl.em
#include "builtin_interfaces/msg/Time.idl"
module p {
  module msg {
    typedef double double__9[9];
    typedef p::msg::Part p__msg__Part__2[2];
    enum Mode { @value(7) OFF, ON };
    module Sample_Constants {
      const uint8 FIRST = 1;
      @verbatim (language="comment", text="two" "halves (of it)")
      const string NAME = "one " "two";
      const int32 LOW = -5;
      const long SIZE = 4;
    };
    @verbatim (language="comment", text=
      "A comment; with } in it")
    struct Sample {
      @default (value=TRUE)
      boolean on;
      octet raw;
      int8 a, b;
      unsigned long long big;
      long small;
      double__9 k;
      p__msg__Part__2 parts;
      sequence<p::msg::Part> more;
      sequence<p::msg::Part, 3> three;
      sequence<string<5>> words;
      wstring wide;
      string<8> short_text;
      float f[Sample_Constants::SIZE];
      builtin_interfaces::msg::Time stamp;
      Mode mode;
    };
  };
};
================================================================================
IDL: p/msg/Part
module p { module msg { struct Part { @key @unit (value="m") float x; ::p::msg::Nothing n; }; struct Nothing { uint8 structure_needs_at_least_one_member; }; }; };
`

func TestParse(t *testing.T) {
	m, err := Parse("p/msg/Sample", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	type field struct {
		name  string
		kind  schema.Kind
		array schema.Array
		n     int
		bound int
	}
	want := []field{
		{"on", schema.Bool, 0, 0, 0}, {"raw", schema.Byte, 0, 0, 0}, {"a", schema.Int8, 0, 0, 0}, {"b", schema.Int8, 0, 0, 0},
		{"big", schema.Uint64, 0, 0, 0}, {"small", schema.Int32, 0, 0, 0}, {"k", schema.Float64, schema.Fixed, 9, 0},
		{"parts", schema.Struct, schema.Fixed, 2, 0}, {"more", schema.Struct, schema.Unbounded, 0, 0}, {"three", schema.Struct, schema.Bounded, 3, 0},
		{"words", schema.String, schema.Unbounded, 0, 5}, {"wide", schema.WString, 0, 0, 0}, {"short_text", schema.String, 0, 0, 8},
		{"f", schema.Float32, schema.Fixed, 4, 0}, {"stamp", schema.Struct, 0, 0, 0}, {"mode", schema.Enum, 0, 0, 0},
	}
	if len(m.Fields) != len(want) {
		t.Fatalf("%d fields, want %d", len(m.Fields), len(want))
	}
	for i, f := range m.Fields {
		if got := (field{f.Name, f.Type.Kind, f.Type.Array, f.Type.Len, f.Type.StringBound}); got != want[i] {
			t.Errorf("field %d is %+v, want %+v", i, got, want[i])
		}
	}
	part := m.Fields[7].Type.Message
	if part != m.Fields[8].Type.Message || part.Name != "p/msg/Part" || len(part.Fields) != 2 || len(part.Fields[1].Type.Message.Fields) != 0 {
		t.Errorf("Part is %+v", part)
	}
	constants := []schema.Constant{{Kind: schema.Uint8, Name: "FIRST", Text: "1"}, {Kind: schema.String, Name: "NAME", Text: "one two"},
		{Kind: schema.Int32, Name: "LOW", Text: "-5"}, {Kind: schema.Int32, Name: "SIZE", Text: "4"}}
	for i, c := range m.Constants {
		if c != constants[i] {
			t.Errorf("constant %+v, want %+v", c, constants[i])
		}
	}
}

func TestRefused(t *testing.T) {
	wrap := func(s string) string { return "module p { module msg { " + s + " }; };" }
	for text, want := range map[string]string{
		wrap("struct T { p::msg::T t; };"):                      "contains itself",
		wrap("struct T { sequence<p::msg::U> u; };"):            "missing",
		wrap("struct T { float a[2][3]; };"):                    "dimension",
		wrap("union T switch(long) { case 1: long a; };"):       "not in the part",
		wrap("struct T { long a; long a; };"):                   "twice",
		wrap("struct T { long a[99999999999]; };"):              "no number",
		wrap("struct T { sequence<sequence<long>> a; };"):       "lists of lists",
		wrap("typedef p::msg::A A; struct T { p::msg::A a; };"): "deeply",
		"/* no end":                          "without an end",
		"module p { module msg { struct T {": "missing",
		strings.Repeat("module a {", 100):    "deeply",
		"":                                   "missing",
	} {
		_, err := Parse("p/msg/T", []byte(text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("module p { module msg { struct T { long a[3]; }; }; };")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := Parse("p/msg/Sample", []byte(text)); err == nil {
			_ = schema.MD5(m)
			_, _ = schema.RIHS01(m)
		}
	})
}
