package rosidl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
		{"parts", schema.Struct, schema.Fixed, 2, 0}, {"more", schema.Struct, schema.Unbounded, 0, 0},
		{"three", schema.Struct, schema.Bounded, 3, 0},
		{"words", schema.String, schema.Unbounded, 0, 5}, {"wide", schema.WString, 0, 0, 0}, {"short_text", schema.String, 0,
			0, 8},
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
	if part != m.Fields[8].Type.Message || part.Name != "p/msg/Part" || len(part.Fields) != 2 ||
		len(part.Fields[1].Type.Message.Fields) != 0 {
		t.Errorf("Part is %+v", part)
	}
	constants := []schema.Constant{{Kind: schema.Uint8, Name: "FIRST", Text: "1"}, {Kind: schema.String, Name: "NAME",
		Text: "one two"},
		{Kind: schema.Int32, Name: "LOW", Text: "-5"}, {Kind: schema.Int32, Name: "SIZE", Text: "4"},
		{Kind: schema.Int32, Name: "MODE_OFF", Text: "7"}, {Kind: schema.Int32, Name: "MODE_ON", Text: "8"}}
	if !slices.Equal(m.Constants, constants) {
		t.Errorf("constants %+v, want %+v", m.Constants, constants)
	}
}

func TestRefused(t *testing.T) {
	wrap := func(s string) string { return "module p { module msg { " + s + " }; };" }
	for text, want := range map[string]string{
		wrap("struct T { p::msg::T t; };"):                                   "contains itself",
		wrap("struct T { sequence<p::msg::U> u; };"):                         "missing",
		wrap("struct T { float a[65536][65536]; };"):                         "2^31",
		wrap("typedef long A[65536]; struct T { A a[65536]; };"):             "2^31",
		"union U switch(long) { case 1: ":                                    "a name is missing",
		wrap("union T switch(float) { case 1: long a; };"):                   "discriminator is a float32",
		wrap("union T switch(long) { };"):                                    "without members",
		wrap("union T switch(long) { long a; };"):                            "a case is missing",
		wrap("union T switch(long) { case X: long a; };"):                    "label X is missing",
		wrap("union T switch(long) { case 1: long a; case 1: long b; };"):    "two cases have the label 1",
		wrap("union T switch(long) { case 1: long a; case 2: long a; };"):    "twice",
		wrap("struct T { map<sequence<long>, long> a; };"):                   "keys of a map",
		wrap("struct T { @id(-1) long a; };"):                                "@id",
		wrap("@mutable struct T { @id(3) long a; @id(3) long b; };"):         "one number",
		wrap("struct B { @id(3) long a; }; @mutable struct T : B { };"):      "numbers of members",
		wrap("struct T : T { long a; };"):                                    "contains itself",
		wrap("enum E { A }; struct T : E { long a; };"):                      "not a struct",
		wrap("struct T { long a; long a; };"):                                "twice",
		wrap("struct T { long a[99999999999]; };"):                           "not a number",
		wrap("typedef p::msg::A A; struct T { p::msg::A a; };"):              "deeply",
		wrap("@bit_bound(0) enum E { A }; struct T { E a; };"):               "@bit_bound",
		wrap("@bit_bound(33) enum E { A }; struct T { E a; };"):              "an enum of more than 32 bits",
		wrap("bitset B { bitfield<60> a; bitfield<5> b; }; struct T {};"):    "more than 64 bits",
		wrap("interface I { long f(in long a); }; struct T { I i; };"):       "an interface is not read",
		wrap("struct T { long a[1/0]; };"):                                   "division",
		wrap("struct T { long a[-1]; };"):                                    "not a number",
		wrap("struct T { long a[UNKNOWN]; };"):                               "not a whole number",
		wrap("struct T { sequence<long, 0> a; };"):                           "not a number",
		wrap("struct T { long a; }; struct T { long b; };"):                  "twice",
		wrap("const long A = 1; const long A = 2;"):                          "twice",
		wrap("typedef long A; typedef short A; struct T { A a; };"):          "twice",
		wrap("enum A { X }; @bit_bound(8) enum A { X }; struct T { A a; };"): "twice",
		wrap("module T_Constants { const long A = 1; };"):                    "missing",
		wrap("map<string, long> a;"):                                         "is not supported",
		wrap("struct T : p::msg::U { long a; };"):                            "is missing",
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

// TestExpressions: values of constants, and bounds that use them.
func TestExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"1 + 2 * 3":            "7",
		"(1 + 2) * 3":          "9",
		"1 << 4 | 1":           "17",
		"256 >> 2 >> 1":        "32",
		"7 & 3 ^ 1":            "2",
		"~0":                   "-1",
		"- - 5":                "5",
		"10 - 2 - 3":           "5",
		"17 % 5 / 2":           "1",
		"BASE * 2":             "16",
		"::p::msg::K::BASE":    "8",
		"0x1F":                 "0x1F",
		"010":                  "8",
		"18446744073709551615": "18446744073709551615",
	} {
		idl := "module p { module msg { module K { const long BASE = 8; }; module T_Constants { const uint64 BASE = 8; " +
			"const uint64 C = " + text +
			"; }; struct T { long x; }; }; };"
		m, err := Parse("p/msg/T", []byte(idl))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := m.Constants[1].Text; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	m, err := Parse("p/msg/T", []byte(`module p { module msg { const long N = 2; struct T {
		string<(N << 2) - 1> s; sequence<sequence_elem, N * 3> q; sequence<string<N>> w; double d[N + 1]; }; struct sequence_elem { long x; }; }; };`))
	if err != nil {
		t.Fatal(err)
	}
	if f := m.Fields; f[0].Type.StringBound != 7 || f[1].Type.Len != 6 || f[2].Type.StringBound != 2 ||
		f[3].Type.Len != 3 {
		t.Errorf("%+v", f)
	}
}

// TestText: text constants that would break a line of .msg text, and float
// constants, which are not computed.
func TestText(t *testing.T) {
	m, err := Parse("p/msg/T", []byte(`module p { module msg { module T_Constants {
		const string A = "one\ntwo"; const wstring B = L"wide" " and wider"; const string C = "say \"hi\" \\ \x41";
		const double D = 10.5; const float E = -1e-3; const boolean F = TRUE; }; struct T { uint8 structure_needs_at_least_one_member; }; }; };`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`one\ntwo`, "wide and wider", `say "hi" \ \x41`, "10.5", "-1e-3", "TRUE"} {
		if got := m.Constants[i].Text; got != want {
			t.Errorf("%s is %q, want %q", m.Constants[i].Name, got, want)
		}
	}
	if len(m.Fields) != 0 {
		t.Error("the place-holder of an empty message is a field")
	}
}

// TestTwice: equal blocks may come twice, others not.
func TestTwice(t *testing.T) {
	m, err := Parse("p/msg/Sample", []byte(sample+sample))
	if err != nil {
		t.Fatal(err)
	}
	once, err := Parse("p/msg/Sample", []byte(sample))
	if err != nil || !schema.Equal(m, once) {
		t.Errorf("not the same as once: %v", err)
	}
}

// TestBombs: text that would be slow or large if names or types were written out.
func TestBombs(t *testing.T) {
	module := func(s string) string { return "module p { module msg { " + s + " }; };" }
	wide := strings.Builder{}
	for i := range 90_000 {
		fmt.Fprintf(&wide, "T63 f%d;", i)
	}
	chain := "typedef long T0;"
	for i := range 63 {
		chain += fmt.Sprintf("typedef T%d T%d;", i, i+1)
	}
	for name, text := range map[string]string{
		"typedefs":    module(chain + "struct T {" + wide.String() + "};"),
		"long name":   module("struct T { " + strings.Repeat("x", 10<<20) + " a; };"),
		"long path":   module("struct T { " + strings.Repeat("x::", 1<<20) + "y a; };"),
		"parentheses": module("const long C = " + strings.Repeat("(", 500_000) + ";"),
		"signs":       module("const long C = " + strings.Repeat("-", 500_000) + "1;"),
		"commas":      strings.Repeat("@a(", 300_000),
	} {
		began := time.Now()
		_, _ = Parse("p/msg/T", []byte(text))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("module p { module msg { union U switch(long) { case 1: long x; }; struct B { long a[2][2]; }; struct Sample " +
		": B { sequence<U> u; }; }; };")
	f.Add("typedef long A[9]; typedef A B[9]; const long N = 1 << 4; module p { module msg { struct Sample { B b[N]; " +
		"string<N> s; }; }; };")
	f.Add(sample)
	f.Add("module p { module msg { struct Sample { long a[3]; }; }; };")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := Parse("p/msg/Sample", []byte(text)); err == nil {
			_ = schema.MD5(m)
			if _, err := schema.RIHS01(m); err != nil {
				return // kinds that only IDL has
			}
			again, err := Parse("p/msg/Sample", []byte(text+"\n"+text))
			if err == nil && !schema.Equal(m, again) {
				t.Error("another message when the text comes twice")
			}
		}
	})
}

// TestOMG: plain IDL, with types in any modules and in none, gets names of ROS 2.
func TestOMG(t *testing.T) {
	const text = `
		union Unused switch (long) { case 1: long a; default: struct_less b; };
		bitmask AlsoUnused { @position(0) X };
		module a { module b {
			@extensibility(FINAL) struct Base { @key unsigned long id; };
			@appendable struct T : Base { float grid[2][3]; char text[4]; ::Plain p; rcl::msg::dds_::Time_ t; };
		}; };
		@final struct Plain { sequence<octet> data; };
		module rcl { module msg { module dds_ { struct Time_ { long sec; }; }; }; };`
	for _, name := range []string{"a::b::T", "::a::b::T", "a_b/msg/T"} {
		m, err := Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range m.Fields {
			got = append(got, f.Type.Text()+" "+f.Name)
		}
		if want := "uint32 id, float32[6] grid, idl char[4] text, idl/msg/Plain p, rcl/msg/Time t"; m.Name != "a_b/msg/T" ||
			strings.Join(got, ", ") != want {
			t.Errorf("%s is %s with %q, want %q", name, m.Name, got, want)
		}
	}
	if m, err := Parse("Plain", []byte(text)); err != nil || m.Name != "idl/msg/Plain" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestVendors: what the IDL of DDS vendors has beyond that of ROS 2.
func TestVendors(t *testing.T) {
	const text = `
		#pragma once
		@annotation Unit { string value; };
		interface Unused { long call(in long a); };
		native Handle;
		exception Broken { long why; };
		module v {
			enum Plain { A, @default_literal B };
			@bit_bound(8) enum Small { @value(3) C };
			@bit_bound(12) enum Middle { D };
			@bit_bound(16) bitmask Flags { @position(0) ON, @position(9) OFF };
			bitmask Wide { X };
			bitset Bits { bitfield<3> a; bitfield<1, boolean> b, c; bitfield<4>; };
			bitset More : Bits { @id(4) bitfield<20> d; };
			typedef long Id, Pair[2];
			const short N = 2 * (1 << 3) - 0x4;
			@mutable @nested struct T {
				@key @id(7) Id id; //@ID 7
				Pair pair; //@key
				Plain plain; Small small; Middle middle; Flags flags; Wide wide; Bits bits; More more;
				@default(-5) long low; @default (value=TRUE) boolean on; @default("a \"b\"") string<N> text;
				@default (value="(1, 2)") int16 two[2]; @default(value="(3,)") sequence<octet> one; @default(B) Plain by_name; @default(1.5) double x;
			};
		};`
	m, err := Parse("v::T", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range m.Fields {
		got = append(got, strings.TrimSpace(f.Type.Text()+" "+f.Name+" "+f.Default))
	}
	want := `int32 id, int32[2] pair, enum plain, int8 small, int16 middle, uint16 flags, uint32 wide, uint16 bits, uint32 more, ` +
		`int32 low -5, bool on true, string text "a \"b\"", int16[2] two [1, 2], byte[] one [3], enum by_name 1, float64 x 1.5`
	if all := strings.Join(got, ", "); all != want || m.Fields[11].Type.StringBound != 12 {
		t.Errorf("%s\nwant %s", all, want)
	}
}

// TestBases: fields of bases are counted, and so is how deep bases go.
func TestBases(t *testing.T) {
	chain := func(n, fields int) string {
		var b strings.Builder
		for i := range n {
			base := ""
			if i > 0 {
				base = fmt.Sprintf(": S%d", i-1)
			}
			fmt.Fprintf(&b, "struct S%d %s {", i, base)
			for k := range fields {
				fmt.Fprintf(&b, "long f%d_%d;", i, k)
			}
			b.WriteString("};")
		}
		return b.String()
	}
	if m, err := Parse("S29", []byte(chain(30, 5))); err != nil || len(m.Fields) != 150 || m.Fields[0].Name != "f0_0" {
		t.Errorf("30 structs of 5 fields, each the base of the next: %v", err)
	}
	for text, want := range map[string]string{chain(100, 1): "deeply", chain(40, 1000): "100,000 fields"} {
		name := "S99"
		if want != "deeply" {
			name = "S39"
		}
		if _, err := Parse(name, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestEnums: the values of enums are constants of each message that has a field of them, once, under
// names that nothing else has.
func TestEnums(t *testing.T) {
	const text = `
		module a { enum Mode { OFF, @value(5) slowAhead, @value(value = 1 << 3) ON, NEXT }; };
		module b { @bit_bound(8) enum Mode { @value(-2) OFF, ON }; };
		enum Odd { @value("x") X, Y };
		enum Wide { @value(2147483647) X, Y };
		typedef a::Mode Modes[3], Renamed;
		module T_Constants { const long MODE_ON = 77; };
		struct Base { Renamed mode; };
		@mutable struct T : Base { sequence<Renamed, 2> some; Modes three; b::Mode small; Odd odd; Wide wide; long MODE_NEXT; };`
	m, err := Parse("T", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range m.Constants {
		got = append(got, c.Kind.String()+" "+c.Name+"="+c.Text)
	}
	want := "int32 MODE_ON=77, int32 MODE_OFF=0, int32 MODE_SLOWAHEAD=5, int32 MODE_ON2=8, int32 MODE_NEXT2=9, int8 " +
		"MODE_OFF2=-2, int8 MODE_ON3=-1"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("%s\nwant %s", all, want)
	}
	base, err := Parse("Base", []byte(text))
	if err != nil || len(base.Constants) != 4 || base.Constants[2].Name != "MODE_ON" {
		t.Errorf("%+v, %v", base, err)
	}
	for _, again := range []string{"module a { enum Mode { OFF }; };",
		"module a { enum Mode { OFF, slowAhead, ON, NEXT }; };"} {
		if _, err := Parse("T", []byte(text+again)); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", again, err)
		}
	}
}

// TestManyEnumerators: constants are counted as fields are, and a name that many others become is
// found without trying all numbers.
func TestManyEnumerators(t *testing.T) {
	var names, structs strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&names, "E%s, ", strings.ReplaceAll(fmt.Sprintf("%b", i), "1", "_"))
	}
	for i := range 60 {
		fmt.Fprintf(&structs, "struct S%d { Many m; };", i)
	}
	text := "enum Many { " + names.String() + "};" + structs.String() + "struct T {"
	for i := range 60 {
		text += fmt.Sprintf("S%d f%d;", i, i)
	}
	if _, err := Parse("T", []byte(text+"};")); err == nil || !strings.Contains(err.Error(), "100,000") {
		t.Error(err)
	}
	if m, err := Parse("S1", []byte(text+"};")); err != nil || len(m.Constants) != 2000 {
		t.Error(err)
	}
}

// TestNoBound: the largest number of 32 bits is no bound, as eProsima's tools write it.
func TestNoBound(t *testing.T) {
	text := "struct T {\nsequence<octet, 4294967295> a;\nstring<4294967295> b;\nmap<long, long, 4294967295> " +
		"c;\nsequence<octet, 7> d;\n};\n"
	msg, err := Parse("T", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []schema.Array{schema.Unbounded, schema.Single, schema.Unbounded, schema.Bounded} {
		if f := msg.Fields[i]; f.Type.Array != want || f.Type.StringBound != 0 {
			t.Errorf("%s: %+v", f.Name, f.Type)
		}
	}
	for _, bad := range []string{"0", "-1", "4294967296", "99999999999"} {
		if _, err := Parse("T", []byte("struct T {\nsequence<octet, "+bad+"> a;\n};\n")); err == nil {
			t.Errorf("a bound of %s", bad)
		}
	}
}
