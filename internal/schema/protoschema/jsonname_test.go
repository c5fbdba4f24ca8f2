package protoschema

import (
	"testing"

	"github.com/bagconv/bagconv/schema"
)

// TestJSONNames: fields whose names in JSON would be the same have names of their
// own there; Python's protobuf refuses the descriptor otherwise. All others have
// the usual one.
func TestJSONNames(t *testing.T) {
	m := &schema.Message{Name: "p/M"}
	for _, name := range []string{"a_b", "aB", "a__b", "A_B", "AB", "frame_id"} {
		m.Fields = append(m.Fields, schema.Field{Name: name, Type: schema.Type{Kind: schema.Bool}})
	}
	data, name, err := Describe(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	md, err := set.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range md.Fields().Len() {
		f := md.Fields().Get(i)
		if seen[f.JSONName()] {
			t.Errorf("%s is %s in JSON, as another field is", f.Name(), f.JSONName())
		}
		seen[f.JSONName()] = true
	}
	if f := md.Fields().ByName("frame_id"); f == nil || f.JSONName() != "frameId" {
		t.Errorf("frame_id is %v", f)
	}
}
