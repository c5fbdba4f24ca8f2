package jsonschema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/schema"
)

// fields writes a type as text: "kind name, ...", structs in braces.
func fields(o *Object) string {
	var out []string
	for i, f := range o.Message.Fields {
		text := f.Type.Text()
		if f.Type.Kind == schema.Struct {
			text = strings.Replace(text, f.Type.Message.Name, f.Type.Message.Name+"{"+fields(o.Properties[i].Object)+"}", 1)
		}
		if o.Properties[i].Form == Any {
			text = "any"
		}
		out = append(out, text+" "+f.Name)
	}
	return strings.Join(out, ", ")
}

func TestParse(t *testing.T) {
	of := func(properties string) string { return `{"type": "object", "properties": {` + properties + `}}` }
	for text, want := range map[string]string{
		of(`"b": {"type": "integer"}, "a": {"type": "number"}, "c": {"type": "boolean"}, "d": {"type": "string"}`):                                                                                             "int64 b, float64 a, bool c, string d",
		of(`"data": {"type": "string", "contentEncoding": "base64"}`):                                                                                                                                          "uint8[] data",
		of(`"l": {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}}`):                                                                                                                 "string[] l",
		of(`"l": {"type": "array", "items": {"type": "number"}}, "m": {"type": "array"}`):                                                                                                                      "float64[] l, any m",
		of(`"l": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}`):                                                                                                                  "any l",
		of(`"r": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]}`):                                                                                                                "int64[] r",
		of(`"r": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}`):                                                                                                                 "any r",
		of(`"t": {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}`):                                                                                                 "time t",
		of(`"t": {"title": "duration", "type": "object", "properties": {"nanosec": {"type": "integer"}, "sec": {"type": "integer"}}}`):                                                                         "duration t",
		of(`"o": {"properties": {"x": {"type": "number"}}}`):                                                                                                                                                   "p/TO{float64 x} o",
		of(`"l": {"items": {"type": "object", "properties": {"x": {"type": "number"}}}}`):                                                                                                                      "p/TL{float64 x}[] l",
		of(`"o": {"type": "object"}, "n": {}, "true": true`):                                                                                                                                                   "any o, any n, any true_field",
		of(`"u": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "v": {"type": ["null", "string"]}`):                                                                                                       "int64 u, string v",
		of(`"u": {"anyOf": [{"type": "integer"}, {"type": "number"}]}, "v": {"type": ["integer", "string"]}`):                                                                                                  "float64 u, any v",
		of(`"u": {"oneOf": [{"title": "A", "const": 0}, {"title": "B", "const": 1}]}, "e": {"enum": ["x", "y", null]}`):                                                                                        "int64 u, string e",
		of(`"clientX": {"type": "number"}, "client_x": {"type": "integer"}, "class": {"type": "string"}, "9": {"type": "string"}`):                                                                             "float64 client_x, int64 client_x2, string class_field, string f_9",
		`{"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"n": {"$ref": "#/$defs/U"}, "m": {"$ref": "#/$defs/U"}}}, "U": {"type": "object", "properties": {"x": {"type": "integer"}}}}}`: "p/U{int64 x} n, p/U{int64 x} m",
		of(`"next": {"$ref": "#"}, "x": {"type": "integer"}`):                                                                                                                                                  "any next, int64 x",
		of(`"a": {"$ref": "other.json"}, "b": {"$ref": "#/nowhere"}, "c": {"$ref": "#/properties/c"}`):                                                                                                         "any a, any b, any c",
		of(`"a": {"allOf": [{"type": "integer"}], "default": 1}`):                                                                                                                                              "int64 a",
		of(`"sec": {"type": "integer"}, "nsec": {"type": "integer"}`):                                                                                                                                          "int64 sec, int64 nsec",
	} {
		o, err := NewNamer().Parse("p/T", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fields(o); got != want || o.Message.Name != "p/T" {
			t.Errorf("%s: %s {%s}, want {%s}", text, o.Message.Name, got, want)
		}
		for i, p := range o.Properties {
			if o.Index[p.Key] != i {
				t.Errorf("%s: index of %s is %d", text, p.Key, o.Index[p.Key])
			}
		}
	}
}

func TestNames(t *testing.T) {
	n := NewNamer()
	for _, c := range []struct{ name, property, want string }{
		{"foxglove.Log", "a", "foxglove/Log"}, {"desktop/WindowInfo", "a", "desktop/WindowInfo"}, {"MouseEvent", "a",
			"json/MouseEvent"},
		{"", "a", "json/Message"}, {"a/msg/B", "a", "a/B"}, {"my-types.v1::odd name", "a", "my_types_v1/OddName"},
		{"MouseEvent", "b", "json/MouseEvent2"}, {"MouseEvent", "a", "json/MouseEvent"},
	} {
		o, err := n.Parse(c.name, []byte(`{"properties": {"`+c.property+`": {"type": "string"}}}`))
		if err != nil || o.Message.Name != c.want {
			t.Errorf("%q is called %v, want %s: %v", c.name, o, c.want, err)
		}
	}
}

func TestRefused(t *testing.T) {
	nest := func(n int) string { // of objects
		return strings.Repeat(`{"properties": {"a": `, n) + `{"type": "string"}` + strings.Repeat("}}", n)
	}
	double := func(n int) string { // each type uses the next one twice
		var b strings.Builder
		b.WriteString(`{"$ref": "#/$defs/0", "$defs": {`)
		for i := range n {
			fmt.Fprintf(&b, `"%d": {"properties": {"a": {"$ref": "#/$defs/%d"}, "b": {"$ref": "#/$defs/%d"}}},`, i, i+1, i+1)
		}
		fmt.Fprintf(&b, `"%d": {"type": "integer"}}}`, n)
		return b.String()
	}
	var choices strings.Builder // each of them one of two that are the next one
	choices.WriteString(`{"properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": {`)
	for i := range 60 {
		fmt.Fprintf(&choices, `"%d": {"anyOf": [{"$ref": "#/$defs/%d"}, {"$ref": "#/$defs/%d"}]},`, i, i+1, i+1)
	}
	choices.WriteString(`"60": {"type": "integer"}}}`)
	var same strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&same, `"a%s": {"properties": {"x%d": {"type": "string"}}},`, strings.Repeat("-", i), i)
	}
	for text, want := range map[string]string{
		"":                        "ends too early",
		"{":                       "ends too early",
		"[1, 2":                   "ends too early",
		"no":                      "not JSON",
		"{} {}":                   "after its end",
		"{}":                      "not an object",
		"[]":                      "not an object",
		"null":                    "not an object",
		`{"type": "array"}`:       "not an object",
		`{"type": "object"}`:      "not an object",
		`{"$ref": "#"}`:           "not an object",
		`{"$ref": "http://a/b"}`:  "not an object",
		nest(150):                 "200 deep",
		strings.Repeat("[", 5000): "200 deep",
		double(40):                "4194304 bytes",
		`{"properties": {` + same.String() + `"z": {}}}`: "1000 types",
		choices.String(): "300,000 schemas",
	} {
		_, err := NewNamer().Parse("p/T", []byte(text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	if _, err := NewNamer().Parse(strings.Repeat("n", 600), []byte(`{"properties": {"a": {}}}`)); err == nil {
		t.Error("a name of 600 bytes")
	}
	if o, err := NewNamer().Parse("p/T", []byte(nest(60))); err != nil || len(o.Properties) != 1 {
		t.Errorf("60 objects in each other: %v", err)
	}
}

// FuzzParse: no schema panics, hangs, or makes a type out of proportion.
func FuzzParse(f *testing.F) {
	f.Add("foxglove.Log", `{"title": "foxglove.Log", "type": "object", "properties": {"timestamp": {"type": "object", "title": "time",
		"properties": {"sec": {"type": "integer", "minimum": 0}, "nsec": {"type": "integer"}}}, "level": {"oneOf": [{"const": 0}, {"const": 1}]}}}`)
	f.Add("T", `{"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"anyOf": [{"type": "null"}, {"type": "number"}]}}}}}`)
	f.Add("", `{"properties": {"l": {"type": "array", "prefixItems": [{"enum": [1, 2.5]}, {"contentEncoding": "base64", "type": "string"}]}}}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		if len(text) > 64<<10 {
			return
		}
		o, err := NewNamer().Parse(name, []byte(text))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no *Error", err)
			}
			return
		}
		count := len(o.Message.Fields)
		for _, d := range schema.Dependencies(o.Message) {
			count += len(d.Fields)
		}
		if count > len(text) {
			t.Fatalf("%d fields of %d bytes", count, len(text))
		}
		if name := schema.Ambiguous(o.Message); name != "" {
			t.Fatalf("two types are called %s", name)
		}
	})
}
