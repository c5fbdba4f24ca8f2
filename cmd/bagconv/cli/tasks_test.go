package cli_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTaskSchemas: what plan, work and collect print and write, for sound and broken inputs, is
// their JSON Schemas.
func TestTaskSchemas(t *testing.T) {
	task, result, summary := loadSchema(t, "task.schema.json"), loadSchema(t, "result.schema.json"), loadSchema(t,
		"collect.schema.json")
	line := loadSchema(t, "manifest.schema.json")
	dir := t.TempDir()
	out, plan, results := filepath.Join(dir, "out"), filepath.Join(dir, "plan.jsonl"), filepath.Join(dir, "results.jsonl")
	valid := func(s *jsonSchema, text []byte, least int) {
		t.Helper()
		lines := 0
		for l := range bytes.Lines(text) {
			lines++
			if wrong := s.validate(l); len(wrong) > 0 {
				t.Errorf("%q\n%s", wrong, l)
			}
		}
		if lines < least {
			t.Errorf("%d lines, want %d", lines, least)
		}
	}
	words := []string{"plan", "--no-sync", "-O", out}
	for i, path := range anything(t) {
		if i < 10 || i%16 == 0 {
			words = append(words, path)
		}
	}
	text, status := prints(words...)
	if valid(task, text, 8); status != 0 {
		t.Fatalf("plan: exit status %d", status)
	}
	write(t, plan, string(text)+"nonsense\n")
	text, status = prints("work", "-q", "--task", plan)
	if valid(result, text, 9); status != 5 {
		t.Fatalf("work: exit status %d", status)
	}
	write(t, results, string(text))
	tasks, _ := os.ReadFile(plan)
	write(t, plan, strings.TrimSuffix(string(tasks), "nonsense\n"))
	text, status = prints("collect", plan, results, "--json")
	if wrong := summary.validate(text); len(wrong) > 0 || status != 5 {
		t.Errorf("collect: exit status %d, %q\n%s", status, wrong, text)
	}
	manifest, _ := os.ReadFile(filepath.Join(out, "manifest.jsonl"))
	valid(line, manifest, 8)
	failures, _ := os.ReadFile(filepath.Join(out, "failures.jsonl"))
	valid(task, failures, 1)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestContract: every engine may count on this. However tasks are divided, repeated, run at the same
// time and killed, the outputs are those of batch, byte by byte, and nothing else is left.
func TestContract(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes")
	}
	bagconv, err := exec.LookPath("bagconv") // of TestMain
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const files = 12
	for i := range files {
		args := []string{"-n", fmt.Sprint(10 + 40*i), filepath.Join(dir, "in", fmt.Sprint(i%3), fmt.Sprintf("%02d.bag", i))}
		if err := os.MkdirAll(filepath.Dir(args[2]), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := makeBag(args); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want int, args ...string) []byte {
		t.Helper()
		var e bytes.Buffer
		cmd := exec.Command(bagconv, args...)
		cmd.Stderr = &e
		out, _ := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Fatalf("%v: exit status %d, want %d: %s", args, got, want, e.String())
		}
		return out
	}
	in, alone := filepath.Join(dir, "in"), filepath.Join(dir, "alone")
	run(0, "batch", "-q", "-O", alone, in)
	want := treeOf(t, alone)
	plan := func(name string) (out, file string) {
		out, file = filepath.Join(dir, name), filepath.Join(dir, name+".jsonl")
		run(0, "plan", "-q", "-O", out, "-o", file, in)
		return out, file
	}
	collected := func(out, file string, args ...string) {
		t.Helper()
		run(0, append([]string{"collect", "-q", file}, args...)...)
		if got := treeOf(t, out); got != want {
			t.Errorf("%s: other outputs than those of batch\n%s\nwant\n%s", out, got, want)
		}
		text, _ := os.ReadFile(filepath.Join(out, "manifest.jsonl"))
		if n := strings.Count(string(text), `"status":"ok"`); n != files {
			t.Errorf("%s: %d inputs in the manifest", out, n)
		}
	}

	t.Run("shares", func(t *testing.T) {
		out, file := plan("shares")
		results := filepath.Join(dir, "results.jsonl")
		var text []byte
		for i := range 5 {
			text = append(text, run(0, "work", "-q", "--task", file, "--shard", fmt.Sprintf("%d/5", i))...)
		}
		write(t, results, string(text))
		collected(out, file, results)
		again := run(0, "work", "-q", "--task", file)
		if n := bytes.Count(again, []byte(`"skipped":true`)); n != files {
			t.Errorf("%d of %d tasks are skipped", n, files)
		}
		collected(out, file)
	})

	t.Run("at once", func(t *testing.T) {
		out, file := plan("once")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if out, err := exec.Command(bagconv, "work", "-q", "-j", "2", "--task", file).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		all.Wait()
		collected(out, file)
	})

	t.Run("killed", func(t *testing.T) {
		out, file := plan("killed")
		kills := 0
		for i := range 30 {
			cmd := exec.Command(bagconv, "work", "-q", "--task", file)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(5+i*4) * time.Millisecond)
			_ = cmd.Process.Kill()
			if cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
				kills++
			}
		}
		if kills == 0 {
			t.Error("nothing was killed")
		}
		run(0, "work", "-q", "--task", file)
		collected(out, file)
		t.Logf("%d kills", kills)
	})
}

// treeOf describes the outputs in a folder: names, and hashes of files.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if d != nil && d.IsDir() && d.Name() == ".bagconv" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || strings.HasSuffix(rel, ".jsonl") {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", rel, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
