package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A jsonSchema is one of docs/schemas: what of JSON Schema these files use, and
// no more. Other keywords make loading fail, so that none is skipped.
type jsonSchema struct {
	Schema      string                 `json:"$schema"`
	ID          string                 `json:"$id"`
	Title       string                 `json:"title"`
	Description string                 `json:"description"`
	Defs        map[string]*jsonSchema `json:"$defs"`

	Ref        string                 `json:"$ref"`
	Type       jsonTypes              `json:"type"`
	Const      any                    `json:"const"`
	Enum       []any                  `json:"enum"`
	OneOf      []*jsonSchema          `json:"oneOf"`
	Properties map[string]*jsonSchema `json:"properties"`
	Required   []string               `json:"required"`
	Additional *jsonSchema            `json:"additionalProperties"`
	Items      *jsonSchema            `json:"items"`
	MinItems   int                    `json:"minItems"`
	MinLength  int                    `json:"minLength"`
	Minimum    *float64               `json:"minimum"`
	Pattern    string                 `json:"pattern"`
}

// jsonTypes is one name of a type or several.
type jsonTypes []string

func (t *jsonTypes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = jsonTypes{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

func loadSchema(t *testing.T, name string) *jsonSchema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../docs/schemas", name))
	if err != nil {
		t.Fatal(err)
	}
	s := &jsonSchema{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if s.Schema != "https://json-schema.org/draft/2020-12/schema" || !strings.HasSuffix(s.ID, "/"+name) ||
		s.Description == "" {
		t.Errorf("%s: head %q, %q, %q", name, s.Schema, s.ID, s.Description)
	}
	return s
}

// validate returns what is wrong with a text. Stricter than JSON Schema, an
// object that lists its properties may have no others: the commands print
// nothing that the schema does not have.
func (s *jsonSchema) validate(text []byte) []string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return []string{err.Error()}
	}
	if dec.More() {
		return []string{"more than one value"}
	}
	return s.check(s, v, "$")
}

func (s *jsonSchema) check(root *jsonSchema, v any, path string) (wrong []string) {
	say := func(format string, a ...any) { wrong = append(wrong, path+": "+fmt.Sprintf(format, a...)) }
	if s.Ref != "" {
		def := root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if def == nil {
			return []string{path + ": no definition " + s.Ref}
		}
		return def.check(root, v, path)
	}
	kind := kindOf(v)
	if len(s.Type) > 0 && !slices.Contains(s.Type, kind) && !(kind == "integer" && slices.Contains(s.Type, "number")) {
		say("%s, not %v", kind, s.Type)
		return wrong
	}
	if s.Const != nil && fmt.Sprint(v) != fmt.Sprint(s.Const) {
		say("%v, not %v", v, s.Const)
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool {
		return fmt.Sprint(e) == fmt.Sprint(v) &&
			kindOf(v) != "null"
	}) {
		say("%v is none of %v", v, s.Enum)
	}
	if s.OneOf != nil {
		var fits int
		var why []string
		for _, o := range s.OneOf {
			w := o.check(root, v, path)
			if why = append(why, w...); len(w) == 0 {
				fits++
			}
		}
		if fits != 1 {
			say("fits %d of %d forms: %v", fits, len(s.OneOf), why)
		}
	}
	switch x := v.(type) {
	case string:
		if len(x) < s.MinLength {
			say("%q is too short", x)
		}
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(x) {
			say("%q does not match %s", x, s.Pattern)
		}
	case json.Number:
		if f, _ := x.Float64(); s.Minimum != nil && f < *s.Minimum {
			say("%v is less than %v", x, *s.Minimum)
		}
	case []any:
		if len(x) < s.MinItems {
			say("%d elements, fewer than %d", len(x), s.MinItems)
		}
		for i := 0; s.Items != nil && i < len(x); i++ {
			wrong = append(wrong, s.Items.check(root, x[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		for _, k := range s.Required {
			if _, ok := x[k]; !ok {
				say("no key %s", k)
			}
		}
		for k, e := range x {
			switch p := s.Properties[k]; {
			case p != nil:
				wrong = append(wrong, p.check(root, e, path+"."+k)...)
			case s.Additional != nil:
				wrong = append(wrong, s.Additional.check(root, e, path+"."+k)...)
			case s.Properties != nil:
				say("the schema does not have the key %s", k)
			}
		}
	}
	return wrong
}

func kindOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(x.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

// TestValidator: the validator itself finds what is wrong.
func TestValidator(t *testing.T) {
	s := &jsonSchema{}
	if err := json.Unmarshal([]byte(`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/n"},"b":{"type":["string","null"],"pattern":"^x","minLength":2},
		"c":{"enum":["u",3]},"d":{"type":"array","items":{"type":"boolean"},"minItems":1},"e":{"oneOf":[{"type":"integer"},{"type":"number"}]},
		"f":{"type":"object","additionalProperties":{"const":1}}},"$defs":{"n":{"type":"integer","minimum":0}}}`),
		s); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		`{"a":1}`: 0, `{"a":0,"b":null,"c":3,"d":[true],"e":1.5,"f":{"q":1}}`: 0, `{"a":3,"b":"xy","c":"u"}`: 0,
		`{}`: 1, `[]`: 1, `{"a":-1}`: 1, `{"a":1.5}`: 1, `{"a":"1"}`: 1, `{"a":1,"z":1}`: 1, `{"a":1,"b":"y"}`: 2,
		`{"a":1,"b":3}`: 1, `{"a":1,"c":4}`: 1, `{"a":1,"c":null}`: 1,
		`{"a":1,"d":[]}`: 1, `{"a":1,"d":[1,true]}`: 1, `{"a":1,"e":1}`: 1, `{"a":1,"f":{"q":2}}`: 1, `{"a":1} {}`: 1, `{`: 1,
		`{"a":null}`: 1,
	} {
		if got := s.validate([]byte(text)); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
