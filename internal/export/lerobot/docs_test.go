package lerobot

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestDocs: the mapping file of docs/lerobot.md is one, with every key; the JSON Schema has the same keys.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/lerobot.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d mapping files", len(blocks))
	}
	if _, err := ParseMapping(string(blocks[0][1])); err != nil {
		t.Error(err)
	}
	schema, err := os.ReadFile("../../../docs/schemas/lerobot-map.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
		if !regexp.MustCompile(`(?m)^` + k.name + `: `).Match(blocks[0][1]) {
			t.Errorf("the mapping file of the document has no %s", k.name)
		}
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(got, names) {
		t.Errorf("the schema has %q, and the file %q", got, names)
	}
}
