package cli_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/export"
)

// TestExportSchema: each export.json is what its JSON Schema defines, and the schema has all of its keys.
func TestExportSchema(t *testing.T) {
	schema := loadSchema(t, "export.schema.json")
	dir := t.TempDir()
	bag := filepath.Join(dir, "bad.bag")
	if err := makeBag([]string{"-bad", "-unknown", bag}); err != nil {
		t.Fatal(err)
	}
	silent := filepath.Join(dir, "silent.bag") // a topic without messages
	if err := makeBag([]string{"-n", "0", silent}); err != nil {
		t.Fatal(err)
	}
	demo := filepath.Join(repository, "testdata", "demo.bag")
	for i, args := range [][]string{
		{demo}, {demo, "--format", "npy"}, {bag, "--attach", bag, "--custom-data", "robot=r2", "--qos", "/parts:best_effort"},
		{demo, "-t", "/tf*", "-t", "/imu/data", "--resample", "10Hz"},
		{demo, "--images", "files", "--clouds", "pcd", "--tracks", "tum", "--chain", "map:odom"},
		{demo, "-t", "/cam*", "--video"},
		{filepath.Join(repository, "testdata", "demo.record"), "--clouds", "ply"}, {silent},
	} {
		out := filepath.Join(dir, string(rune('a'+i)))
		_, status := prints(append([]string{"export", "--no-sync", "-q", "-o", out}, args...)...)
		text, err := os.ReadFile(filepath.Join(out, export.IndexName))
		if err != nil {
			t.Fatalf("%v: exit status %d, %v", args, status, err)
		}
		if wrong := schema.validate(text); len(wrong) > 0 {
			t.Errorf("%v: %s\n%.2000s", args, strings.Join(wrong, "\n"), text)
		}
	}
	for name, of := range map[string]any{"": export.Index{}, "topic": export.IndexTopic{}, "file": export.IndexFile{},
		"loss": export.IndexLoss{}} {
		s := schema
		if name != "" {
			s = schema.Defs[name]
		}
		typ := reflect.TypeOf(of)
		for i := range typ.NumField() {
			key, rest, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if s.Properties[key] == nil || slices.Contains(s.Required, key) == (rest == "omitempty") {
				t.Errorf("%s: the schema does not have the key %s as it is written", typ, key)
			}
		}
		if len(s.Properties) != typ.NumField() {
			t.Errorf("%s: the schema has %d keys", typ, len(s.Properties))
		}
	}
}
