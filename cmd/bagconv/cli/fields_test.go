package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

// TestFieldsDocs: each command of docs/fields.md writes something, and takes a part of the recording or changes it. The
// program prints the error that the page shows.
func TestFieldsDocs(t *testing.T) {
	text := readText(t, "docs/fields.md")
	t.Chdir(withDemos(t))
	edits := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)[1]
	if err := os.WriteFile("edits.yaml", []byte(edits), 0o666); err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`'[^']*'|\S+`)
	tried := 0
	for _, line := range regexp.MustCompile("(?m)^\\| [^`]* \\| `(bagconv .*)` \\|$").FindAllStringSubmatch(text, -1) {
		words := word.FindAllString(strings.ReplaceAll(line[1], `\|`, "|"), -1)
		for i, w := range words {
			words[i] = strings.Trim(w, "'")
		}
		status, said := runWords(words)
		if tried++; status != 0 || !strings.Contains(said, "left out by --where") && !strings.Contains(said, "from 2023") &&
			!strings.Contains(said, "changed by edits") && !strings.Contains(said, "notes: transforms-added") &&
			!strings.Contains(said, "no transform of them is left") && words[1] != "cat" ||
			strings.Contains(said, "edit-unused") && !strings.Contains(said, "--strip-frame-slash: nothing") {
			t.Errorf("%s: status %d: %s", line[1], status, said)
		}
		if lines := strings.Count(said, "\n"); words[1] == "cat" && (lines == 0 || lines > 30) {
			t.Errorf("%s prints %d lines", line[1], lines)
		}
		for _, out := range []string{"out.bag", "out.mcap", "out.record", "tables"} {
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d commands", tried)
	}
	example := regexp.MustCompile("(?m)^\\$ (bagconv .*)\n(.*)$").FindStringSubmatch(text)
	words := word.FindAllString(example[1], -1)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	if status, said := runWords(words); status != 1 || strings.TrimSpace(said) != example[2] {
		t.Errorf("status %d: %s\nwant %s", status, said, example[2])
	}
}

func runWords(words []string) (status int, said string) {
	var out bytes.Buffer
	status = cli.Run(context.Background(), words, cli.Stdio{Out: &out, Err: &out}, all.Registry())
	return status, out.String()
}

// withDemos returns a folder with the recordings of testdata.
func withDemos(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"demo.bag", "demo.record"} {
		text, err := os.ReadFile("../../../testdata/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
