package rosidl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/schema"
)

// describe writes fields as short text: name, type, number, labels.
func describe(m *schema.Message) string {
	var out []string
	for _, f := range m.Fields {
		text := f.Name + " " + f.Type.Text()
		if f.Type.Array == schema.Bounded {
			text += fmt.Sprintf("<=%d", f.Type.Len)
		}
		if f.Member != nil {
			text += fmt.Sprintf(" @%d", f.Member.ID)
			if f.Member.Optional {
				text += "?"
			}
			if f.Member.Labels != nil {
				text += fmt.Sprint(" ", f.Member.Labels)
			}
			if f.Member.Default {
				text += " default"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// TestUnions: what unions, optional members, maps and lists of lists become. The hashes of color and
// shapesize are those of DDS-XTypes 1.3, 7.3.1.2.1.1: 0x0fa5dd70 and 0x047790da.
func TestUnions(t *testing.T) {
	const text = `
		module p {
			enum Color { RED, @value(7) GREEN };
			const long LIMIT = 3;
			module q { typedef Color Shade; };
			union U switch (q::Shade) { case RED: case Color::GREEN: float a; case 9: long b[4]; case LIMIT + 1: sequence<string> c; default: string discriminator; };
			union V switch (boolean) { case TRUE: U u; };
			union W switch (char) { case 'x': octet x; };
			struct T {
				U u;
				@optional sequence<V> v;
				@optional(value=TRUE) long w[3];
				@optional(FALSE) long x;
				@optional string<5> y;
				map<string, sequence<W>> names;
				map<long, map<q::Shade, double>, 4> deep_map;
				sequence<sequence<sequence<long, 2>>> lists;
			};
			@mutable struct M { long a; @id(16) long b; long c; @hashid long color; @hashid("other") @optional long d; };
			@autoid(HASH) @mutable struct H : M { long shapesize; };
			struct N : M { long z; };
			module T_Constants { const Color FIRST = Color::GREEN; const q::Shade SECOND = RED; };
		};`
	for name, want := range map[string]string{
		"U": "discriminator_ enum; a float32[]<=1 @1 [0 7]; b int32[]<=4 @2 [9]; c string[] @3 [4]; discriminator " +
			"string[]<=1 @4 default",
		"V": "discriminator bool; u p/msg/U[]<=1 @1 [1]",
		"W": "discriminator idl char; x byte[]<=1 @1 [120]",
		"T": "u p/msg/U; v p/msg/TVValue[]<=1 @1?; w int32[]<=3 @2?; x int32; y string[]<=1 @4?; names " +
			"p/msg/TNamesEntry[]; deep_map p/msg/TDeepMapEntry[]<=4; lists p/msg/TListsItem2[]",
		"M": "a int32 @0; b int32 @16; c int32 @17; color int32 @262528368; d int32[]<=1 @36855673?",
		"H": "a int32 @0; b int32 @16; c int32 @17; color int32 @262528368; d int32[]<=1 @36855673?; shapesize int32 " +
			"@74944730",
		"N": "a int32 @0; b int32 @16; c int32 @17; color int32 @262528368; d int32[]<=1 @36855673?; z int32 @36855674",
	} {
		m, err := Parse("p::"+name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := describe(m); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
		if m.Union != (name < "X" && name > "T") {
			t.Errorf("%s: a union is %v", name, m.Union)
		}
	}
	m, err := Parse("p::T", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Constants); n < 2 || m.Constants[0] != (schema.Constant{Kind: schema.Int32, Name: "FIRST", Text: "7"}) ||
		m.Constants[1].Text != "0" {
		t.Errorf("constants %+v", m.Constants)
	}
	var names []string
	for _, d := range schema.Dependencies(m) {
		names = append(names, fmt.Sprintf("%s %d: %s", d.Name, d.Extensibility, describe(d)))
	}
	want := "p/msg/TVValue 4: data p/msg/V[], p/msg/TNamesEntry 4: key string; value p/msg/W[], " +
		"p/msg/TDeepMapEntry 4: key int32; value p/msg/TDeepMapEntryValueEntry[], p/msg/TDeepMapEntryValueEntry 4: key " +
		"enum; value float64, " +
		"p/msg/TListsItem2 4: data p/msg/TListsItem[], p/msg/TListsItem 4: data int32[]<=2"
	all := strings.Join(names, ", ")
	for part := range strings.SplitSeq(want, ", ") {
		if !strings.Contains(all, part) {
			t.Errorf("%s is missing in %s", part, all)
		}
	}
	if _, err := schema.RIHS01(m); err == nil {
		t.Error("a type with unions has a type hash")
	}
	if _, err := schema.RIHS01(facts.Plain(m)); err == nil { // enums have none
		t.Error("a type with enums has a type hash")
	}
}
