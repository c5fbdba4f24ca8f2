package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/convert/batch"
)

// TestBatchAllKilled: SIGKILL at ten operations of a batch over all recordings, each
// followed by --resume, ends with the outputs of an undisturbed one, one line per
// input, and nothing else.
func TestBatchAllKilled(t *testing.T) {
	data := allSamples(t)
	if testing.Short() {
		t.Skip("a dozen batches over many files")
	}
	batchOf := func(out string) []string {
		return append([]string{"batch", "-q", "-j", "2", "-O", out, "--resume"}, data...)
	}
	dir := t.TempDir()
	whole, out := filepath.Join(dir, "whole"), filepath.Join(dir, "out")
	total, _ := operations(t, batchOf(whole)...) // some of the files are broken: 5
	want, lines := everything(t, whole), manifest(t, filepath.Join(whole, "manifest.jsonl"))
	t.Logf("%d inputs, %d files, %d operations", len(lines), len(want), total)
	for i := range int64(10) {
		if n := total * (i + 1) / 80; !killAt(t, n, batchOf(out)...) { // the tenth is still within the first batch
			t.Errorf("not killed at operation %d", n)
		}
	}
	if _, status := operations(t, batchOf(out)...); status != 5 {
		t.Fatalf("resumed: exit status %d", status)
	}
	if got := everything(t, out); !equal(got, want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	got := manifest(t, filepath.Join(out, "manifest.jsonl"))
	for path, e := range lines {
		if got[path].Status != e.Status || got[path].Written != e.Written || got[path].OutputSize != e.OutputSize {
			t.Errorf("%+v, want %+v", got[path], e)
		}
	}
	if len(got) != len(lines) {
		t.Errorf("%d lines, want %d", len(got), len(lines))
	}
}

// TestBatchKilled: SIGKILL at ten operations, each followed by --resume, ends with the
// outputs of an undisturbed batch, one line per input, and nothing else; and so do
// ten kills in a row of one batch.
func TestBatchKilled(t *testing.T) {
	in := recordings(t, 0)
	line := func(out string) []string { return []string{"batch", "-q", "-j", "2", "-O", out, in, "--resume"} }
	whole := filepath.Join(t.TempDir(), "whole")
	total, status := operations(t, line(whole)...)
	want, lines := everything(t, whole), len(manifest(t, filepath.Join(whole, "manifest.jsonl")))
	if status != 0 || lines != 6 || len(want) != 12 {
		t.Fatalf("exit status %d, %d inputs, %d files", status, lines, len(want))
	}
	finish := func(out string) {
		t.Helper()
		if status, stderr := bagconv(t, line(out)...); status != 0 {
			t.Fatalf("resumed: exit status %d: %s", status, stderr)
		}
		if got := everything(t, out); !equal(got, want) {
			t.Errorf("%d files, want %d: %v", len(got), len(want), got)
		}
		for _, e := range manifest(t, filepath.Join(out, "manifest.jsonl")) {
			if lines--; e.Status != batch.StatusOK || !e.Stands(nil) {
				t.Errorf("%+v", e)
			}
		}
		if lines != 0 {
			t.Errorf("%d lines are missing", lines)
		}
		lines = 6
	}
	const moments = 10
	for i := range int64(moments) {
		out := filepath.Join(t.TempDir(), "out")
		if n := 1 + i*total/moments; !killAt(t, n, line(out)...) {
			t.Errorf("not killed at operation %d of %d", n, total)
		}
		finish(out)
	}
	out := filepath.Join(t.TempDir(), "out")
	for i := range int64(moments) {
		killAt(t, total*(i%4+1)/(moments+1), line(out)...) // perhaps not: the last runs have little left to do
	}
	finish(out)
}

// TestBatchInterrupted: SIGINT keeps what is finished, and it is in the
// manifest; nothing else stays.
func TestBatchInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGINT to send")
	}
	in := recordings(t, 1)
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(binary, "batch", "-j", "1", "-O", out, in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 1000 { // until one is finished
		if text, _ := os.ReadFile(filepath.Join(out, "manifest.jsonl")); bytes.Contains(text, []byte{'\n'}) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 130 || !strings.Contains(stderr.String(),
		"interrupted; finished outputs stay, and --resume continues with the rest") {
		t.Fatalf("exit status %d: %s", status, &stderr)
	}
	entries := manifest(t, filepath.Join(out, "manifest.jsonl"))
	if len(entries) == 0 || len(entries) == 6 {
		t.Errorf("%d of 6 are finished", len(entries))
	}
	files := everything(t, out)
	if len(files) != 2*len(entries) {
		t.Errorf("%d are finished, and there are %v", len(entries), files)
	}
	for _, e := range entries {
		if e.Status != batch.StatusOK || !e.Stands(nil) {
			t.Errorf("%+v", e)
		}
	}
	if status, text := bagconv(t, "batch", "-q", "-O", out, in, "--resume"); status != 0 ||
		len(manifest(t, filepath.Join(out, "manifest.jsonl"))) != 6 {
		t.Errorf("resumed: exit status %d: %s", status, text)
	}
}
