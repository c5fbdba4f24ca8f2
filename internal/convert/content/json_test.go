package content_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
)

// everything is a schema with each form of values.
const everything = `{"type": "object", "properties": {
	"i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"}, "any": {},
	"data": {"type": "string", "contentEncoding": "base64"},
	"t": {"properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}},
	"d": {"title": "duration", "properties": {"sec": {"type": "integer"}, "nanosec": {"type": "integer"}}},
	"o": {"properties": {"x": {"type": "integer"}, "y": {"items": {"type": "number"}}}},
	"l": {"items": {"properties": {"x": {"type": "string"}, "u": {}}}}, "w": {"items": {"type": "string"}}}}`

var messages = []string{
	`{}`, `{"i": 1, "n": 2.5, "b": true, "s": "text", "any": [1, {"a": null}], "data": "AQID"}`,
	`{"t": {"sec": 1, "nsec": 2}, "d": {"sec": -1, "nanosec": 5}, "o": {"x": 3, "y": [1, 2.5, null]}, "l": [{"x": "a", "u": 1}, {}, null]}`,
	`{"i": 1e3, "n": NaN, "s": Infinity, "any": {"x": -Infinity}, "w": ["NaN", "\u00e4\ud800", 5]}`,
	`{"i": "1", "n": "Infinity", "b": 0, "s": 1.50, "data": "A", "t": {"sec": -1}, "o": [], "l": {}, "w": null}`,
	`{"x": 1, "i": 1, "i": 2, "t": {"sec": 1, "zone": 2}, "n": 1e999, "o": {"z": 1}}`, `{"i": 1`, `[]`, "",
	`{"s": "\ud83d\ude00 \\ \/"}`,
}

// sameJSON compares the two readers of JSON.
func sameJSON(t *testing.T, o *jsonschema.Object, message string) {
	t.Helper()
	canon := content.Canonical(o.Message, false)
	judge, err := content.FromJSON(o, canon, true)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := content.FromROS(o.Message, serial.ROS1, canon, true)
	if err != nil {
		t.Fatal(err)
	}
	program := transcode.CompileFromJSON(o)
	made, first := program.Append(nil, []byte(message))
	a, b := content.NewWriter(true), content.NewWriter(true)
	second := judge.Read(a, []byte(message))
	if (first == nil) != (second == nil) {
		t.Fatalf("%q: %v, and %v", message, first, second)
	}
	if first != nil {
		if !errors.Is(second, content.ErrMalformed) {
			t.Fatalf("%q: %v", message, second)
		}
		return
	}
	if err := plain.Read(b, made); err != nil {
		t.Fatalf("%q: %v", message, err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("%q is\n% x, and\n% x", message, a.Bytes(), b.Bytes())
	}
	if rest := program.Unknown()+program.Odd() > 0; rest != a.Rest {
		t.Fatalf("%q: more than the schema has: %t, and %t", message, rest, a.Rest)
	}
}

// TestJSON: the judge and the program of a conversion read the same.
func TestJSON(t *testing.T) {
	o, err := jsonschema.NewNamer().Parse("p/T", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		sameJSON(t, o, m)
		for i := range m {
			sameJSON(t, o, m[:i])
		}
	}
}

// FuzzJSON: so they do for any message.
func FuzzJSON(f *testing.F) {
	o, err := jsonschema.NewNamer().Parse("p/T", []byte(everything))
	if err != nil {
		f.Fatal(err)
	}
	for _, m := range messages {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, message string) {
		sameJSON(t, o, message)
	})
}
