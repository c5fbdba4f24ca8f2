package page

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/report"
)

// written is the page of a report.
func written(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWrite: a page has three elements of script and one of style, which the policy names by their sums, and nothing
// of another place; the data in it is the report.
func TestWrite(t *testing.T) {
	text := written(t, sample(t))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-") ||
		strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "http") {
		t.Errorf("the policy is %q", policy)
	}
	allowed := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	for _, m := range regexp.MustCompile(`(?s)<(?:script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(allowed, sum(m[1])) {
			t.Errorf("the policy does not allow %.80q", m[1])
		}
	}
	if n := strings.Count(text, "<script"); n != 3 {
		t.Errorf("%d scripts", n)
	}
	if bad := regexp.MustCompile(`(?:src|href)="(?:https?:)?//|url\(|@import|fetch\(|XMLHttpRequest|innerHTML|insertAdjacent`).FindString(text); bad != "" {
		t.Errorf("the page has %q", bad)
	}
	if !strings.Contains(text, "Copyright (c) 2022 Leon Sorokin") {
		t.Error("the licence of uPlot is not in the page")
	}
	data := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(text)
	want, _ := json.Marshal(sample(t))
	if data == nil || data[1] != string(want) {
		t.Errorf("the data of the page differs from the report")
	}
}

// TestWriteHostile: no name ends an element, and the page stays as small as its data lets it be.
func TestWriteHostile(t *testing.T) {
	text := written(t, hostile())
	if n := strings.Count(text, "<script"); n != 3 || strings.Contains(text, "<img") || strings.ContainsRune(text[strings.Index(text, `id="data"`):], '\u2028') {
		t.Errorf("%d scripts; a name became an element, or U+2028 is in the data", n)
	}
	if len(text) > 200_000 {
		t.Errorf("%d bytes", len(text))
	}
}

// TestWriteNoJSON: a number that JSON cannot hold is an error, not a page without data.
func TestWriteNoJSON(t *testing.T) {
	r := sample(t)
	r.Recordings[0].Duration = math.NaN()
	var b bytes.Buffer
	if err := Write(&b, r); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}

// TestScripts: Write uses each script there is, and none is longer than one can read.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("*.js")
	if err != nil || len(paths) != len(scripts)+1 {
		t.Errorf("%d scripts in the folder, %d in the page, %v", len(paths), len(scripts)+1, err)
	}
	for _, name := range scripts {
		b, err := files.ReadFile(name)
		if lines := bytes.Count(b, []byte("\n")); err != nil || lines > 200 || bytes.Contains(b, []byte("</")) {
			t.Errorf("%s: %d lines, %v; none may have 200, or \"</\"", name, lines, err)
		}
	}
}
