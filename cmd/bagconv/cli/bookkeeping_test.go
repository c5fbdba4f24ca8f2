package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/convert/tasks"
)

// TestBookkeeping: of many tasks each is counted once, with results and without. All outputs are one
// file here.
func TestBookkeeping(t *testing.T) {
	n := 2500
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		n = 100_000
	}
	dir := t.TempDir()
	output := filepath.Join(dir, "all.bag")
	if err := makeBag([]string{output}); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(output)
	if err != nil {
		t.Fatal(err)
	}
	var plan, results bytes.Buffer
	store := &tasks.Store{}
	for i := range n {
		task := &tasks.Task{
			SchemaVersion: tasks.TaskVersion, Source: fmt.Sprintf("/in/%06d.bag", i), OutputDir: filepath.Join(dir, "out"),
			Output: filepath.Join(dir, "out", fmt.Sprintf("%06d.bag", i)), Recipe: recipe.Recipe{Format: "bag"},
		}
		task.SetID()
		plan.Write(tasks.Line(task))
		r := task.Pending()
		r.Status, r.OutputFiles, r.OutputSize, r.Written, r.DurationNS = batch.StatusOK, []string{output}, st.Size(), 2, "1"
		if i%100 == 7 {
			continue // not done
		}
		if i%2 == 0 {
			results.Write(tasks.Line(r))
		}
		if err := store.Save(task, r, false); err != nil {
			t.Fatal(err)
		}
	}
	name := func(n string) string { return filepath.Join(dir, n) }
	write(t, name("plan.jsonl"), plan.String())
	write(t, name("results.jsonl"), results.String())
	for _, args := range [][]string{{"collect", "-q", "--json", name("plan.jsonl")},
		{"collect", "-q", "--json", name("plan.jsonl"), name("results.jsonl")}} {
		out, status := prints(args...)
		for _, want := range []string{fmt.Sprintf(`"tasks": %d,`, n), fmt.Sprintf(`"ok": %d,`, n-n/100),
			fmt.Sprintf(`"missing": %d,`, n/100), fmt.Sprintf(`"messages": %d`, 2*(n-n/100))} {
			if status != 75 || !strings.Contains(string(out), want) {
				t.Fatalf("exit status %d, no %s in %s", status, want, out)
			}
		}
		manifest, _ := os.ReadFile(name("out/manifest.jsonl"))
		if got := bytes.Count(manifest, []byte("\n")); got != n-n/100 {
			t.Errorf("%d lines in the manifest", got)
		}
	}
	out, status := prints("work", "-q", "--task", name("plan.jsonl"))
	if skipped := bytes.Count(out, []byte(`"skipped":true`)); status != 5 || skipped != n-n/100 {
		t.Errorf("exit status %d, %d tasks are skipped", status, skipped)
	}
}
