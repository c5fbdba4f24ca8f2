package yaml

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		root string // of Parse: value, or content of a mapping
		one  error
		bad  bool
	}{
		{text: "a: 1\nb: 2\n", root: "a 1 b 2"},
		{text: "", root: "none"},
		{text: "# nothing\n", root: "none"},
		{text: "null\n", root: "null"},
		{text: "a: 1\n---\nb: 2\n", root: "a 1", one: ErrSeveral},
		{text: "a: 1\n---\n}\n", root: "a 1", one: ErrSeveral},
		{text: "a: [\n", bad: true},
	} {
		root, err := Parse(t.Context(), []byte(c.text))
		one, errOne := ParseOne([]byte(c.text))
		if c.bad {
			if err == nil || errOne == nil {
				t.Errorf("%q: %v, %v", c.text, err, errOne)
			}
			continue
		}
		if got := describe(root); err != nil || got != c.root {
			t.Errorf("%q: %s, %v, want %s", c.text, got, err, c.root)
		}
		if !errors.Is(errOne, c.one) || errOne == nil && describe(one) != c.root {
			t.Errorf("%q: only document %s, %v", c.text, describe(one), errOne)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse(ctx, []byte("a: 1\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

func describe(n *Node) string {
	if n == nil {
		return "none"
	}
	text := n.Value
	for _, c := range n.Content {
		text += " " + c.Value
	}
	return strings.TrimSpace(text)
}

func TestDecode(t *testing.T) {
	type value struct {
		A int
		M map[string]int
	}
	var v value
	if err := Decode([]byte("a: 3\nm: {x: 1, y: 2}\n"), &v); err != nil || v.A != 3 || v.M["y"] != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, c := range []struct{ text, want string }{
		{"a: 3\nb: 1\n", "field b not found"},
		{"a: 3\na: 4\n", "already defined"},
		{"a: 3\n---\na: 4\n", ErrSeveral.Error()},
		{"a: x\n", "cannot unmarshal"},
		{"m:\n" + keys(maxKeys+1), "line 2: a mapping has more than 32768 keys"},
	} {
		if err := Decode([]byte(c.text), &v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %s", c.text, err, c.want)
		}
	}
	if err := Decode([]byte("# nothing\n"), &v); err != io.EOF {
		t.Errorf("nothing: %v", err)
	}
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	return b.String()
}

// A bomb panics when it is read or written.
type bomb struct{}

func (bomb) MarshalYAML() (any, error)  { panic("bang") }
func (*bomb) UnmarshalYAML(*Node) error { panic("bang") }

// TestPanic: a panic below is an error.
func TestPanic(t *testing.T) {
	var v struct{ A bomb }
	if err := Decode([]byte("a: 1\n"), &v); err == nil || err.Error() != "yaml: bang" {
		t.Errorf("Decode: %v", err)
	}
	if _, err := Marshal(v); err == nil || err.Error() != "yaml: bang" {
		t.Errorf("Marshal: %v", err)
	}
}

func TestMarshal(t *testing.T) {
	v := map[string]any{"a": map[string]int{"b": 1}}
	for want, marshal := range map[string]func(any) ([]byte, error){"a:\n    b: 1\n": Marshal,
		"a:\n  b: 1\n": MarshalNarrow} {
		if text, err := marshal(v); err != nil || string(text) != want {
			t.Errorf("%q, %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: no text panics, and what is decoded was parsed before.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: &x [1]\nb: *x\n", "? {a: b}\n: c\n", "a: !!binary aGk=\n", "- - - {", "\x00",
		"%YAML 1.1\n---\n", "a: |\n  x\n...\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Parse(t.Context(), text); err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Log("a panic of the module:", err)
		}
		var v struct{ A, B any }
		if err := Decode(text, &v); err == nil {
			if _, err := ParseOne(text); err != nil {
				t.Errorf("decoded, and not parsed: %v", err)
			}
		}
	})
}
