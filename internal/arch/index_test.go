package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeWord   = regexp.MustCompile("`([^`]+)`")
	identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
)

// TestIndex: what docs/architecture.md names in its index of questions, and on the way of a
// message, is in the files that it names.
func TestIndex(t *testing.T) {
	const root = "../../"
	text, err := os.ReadFile(root + "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Where is it\n")
	index, rest, ok := strings.Cut(rest, "## One message")
	walk, _, ok2 := strings.Cut(rest, "\n## ")
	if !ok || !ok2 {
		t.Fatal("docs/architecture.md has no index, or no walk")
	}
	var sections []string
	for line := range strings.Lines(index) {
		sections = append(sections, line)
	}
	sections = append(sections, regexp.MustCompile(`(?m)^\d+\. `).Split(walk, -1)...)
	files, names := 0, 0
	for _, section := range sections {
		var code strings.Builder
		var words []string
		for _, m := range codeWord.FindAllStringSubmatch(section, -1) {
			paths := []string{m[1]}
			if file, _ := filepath.Glob(root + "formats/*/" + m[1]); strings.HasSuffix(m[1], ".go") && !strings.Contains(m[1],
				"/") {
				paths = file
			} else if !strings.HasSuffix(m[1], ".go") {
				words = append(words, m[1])
				continue
			} else {
				paths[0] = root + m[1]
			}
			for _, path := range paths {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Errorf("the index names %s: %v", m[1], err)
				}
				code.Write(b)
				files++
			}
		}
		for _, w := range words {
			if i := strings.LastIndexByte(w, '.'); i >= 0 {
				w = w[i+1:]
			}
			if code.Len() == 0 || !identifier.MatchString(w) {
				continue
			}
			names++
			if !regexp.MustCompile(`\b` + w + `\b`).MatchString(code.String()) {
				t.Errorf("%q is not in the files of its line: %.90s", w, strings.TrimSpace(section))
			}
		}
	}
	if files < 60 || names < 60 {
		t.Errorf("only %d files and %d names were looked at", files, names)
	}
}
