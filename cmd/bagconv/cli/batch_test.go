package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestBatchSchemas: what batch prints and writes, for sound and broken inputs, is
// its JSON Schemas.
func TestBatchSchemas(t *testing.T) {
	summary, line := loadSchema(t, "batch.schema.json"), loadSchema(t, "manifest.schema.json")
	out := filepath.Join(t.TempDir(), "out")
	words := append([]string{"batch", "--json", "--no-sync", "-O", out}, anything(t)...)
	run := func(want int, flags ...string) []byte {
		t.Helper()
		text, status := prints(append(words, flags...)...)
		if wrong := summary.validate(text); status != want || len(wrong) > 0 {
			t.Fatalf("%v: exit status %d, %q\n%.3000s", flags, status, wrong, text)
		}
		return text
	}
	run(5, "--dry-run")
	run(5, "--checksum", "--verify", "counts")
	text, err := os.ReadFile(filepath.Join(out, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for l := range bytes.Lines(text) {
		lines++
		if wrong := line.validate(l); len(wrong) > 0 {
			t.Errorf("%q\n%s", wrong, l)
		}
	}
	if lines < 8 {
		t.Errorf("%d lines", lines)
	}
	if again := run(5, "--resume", "--dry-run"); !bytes.Contains(again, []byte(`"action": "skip"`)) {
		t.Errorf("nothing is skipped: %.2000s", again)
	}
	run(5, "--resume")
}
