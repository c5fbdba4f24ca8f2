package xtypes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// Messages by another writer, damaged ones and random types are read in convert/values, where all
// readers are: TestCyclone, TestStoredIDL, FuzzIDL.

// TestPlainTypes: messages of a type that has nothing of IDL alone are left as they are.
func TestPlainTypes(t *testing.T) {
	for text, want := range map[string][3]bool{ // needed in XCDR1, plain and delimited XCDR2
		"struct T { long a; };":                                         {},
		"struct I { long a; }; struct T { I i; };":                      {},
		"@final struct I { long a; }; struct T { I i; };":               {false, false, true},
		"@appendable struct I { long a; }; struct T { I i; };":          {false, true, false},
		"struct T { map<long, long> m; };":                              {false, true, true},
		"enum E { A }; struct T { sequence<E> m; };":                    {false, true, true},
		"struct T { @optional long a; };":                               {true, true, true},
		"union U switch (long) { case 1: long a; }; struct T { U a; };": {true, true, true},
		"@mutable struct I { long a; }; struct T { I i; };":             {true, true, true},
		"@mutable struct T { long a; };":                                {},
	} {
		m, err := rosidl.Parse("T", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c := xtypes.New(m)
		for i, form := range []string{"\x00\x01\x00\x00", "\x00\x07\x00\x00", "\x00\x09\x00\x00"} {
			if c.Needed([]byte(form)) != want[i] {
				t.Errorf("%s: % x: needed is %v", text, form, !want[i])
			}
		}
		if list := c.Needed([]byte("\x00\x03\x00\x00")); list != strings.HasPrefix(text, "@mutable struct T") {
			t.Errorf("%s: needed for a parameter list is %v", text, list)
		}
	}
}

// TestGrowth: a message does not become longer without limit, by members that it does not have.
func TestGrowth(t *testing.T) {
	var text strings.Builder
	text.WriteString("union U switch (octet) {")
	for i := range 200 {
		fmt.Fprintf(&text, "case %d: long m%d;", i, i)
	}
	text.WriteString("}; struct T { sequence<U> list; };")
	m, err := rosidl.Parse("T", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	const n = 1 << 20
	message := append([]byte{0, 1, 0, 0, 0, 0, n >> 16, 0}, make([]byte, n)...)
	for i := range n {
		message[8+i] = 0xff // no member
	}
	out, _, _, err := xtypes.New(m).Plain(nil, message)
	if err == nil || !strings.Contains(err.Error(), "much longer") || len(out) > 0 {
		t.Errorf("%d bytes of %d: %v", len(out), len(message), err)
	}
}
