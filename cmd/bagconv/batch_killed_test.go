package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert/batch"
)

// TestBatchAllKilled: kill -9 at ten random moments of a batch over all
// recordings, each followed by --resume, ends with the outputs of an
// undisturbed one, one line per input, and nothing else.
func TestBatchAllKilled(t *testing.T) {
	data := allSamples(t)
	if testing.Short() {
		t.Skip("a dozen batches over many files")
	}
	batchOf := func(out string) *exec.Cmd {
		return exec.Command(binary, append([]string{"batch", "-q", "-j", "2", "-O", out, "--no-sync", "--resume"}, data...)...)
	}
	dir := t.TempDir()
	whole, out := filepath.Join(dir, "whole"), filepath.Join(dir, "out")
	began := time.Now()
	_ = batchOf(whole).Run() // some of the files are broken: 5
	took := time.Since(began)
	want, lines := everything(t, whole), manifest(t, filepath.Join(whole, "manifest.jsonl"))
	seed := uint64(began.UnixNano())
	t.Logf("seed %d; %d inputs, %d files in %v", seed, len(lines), len(want), took)
	rng := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for range 10 {
		cmd := batchOf(out)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(took) / 5))) // the tenth moment is still within the first batch
		_ = cmd.Process.Kill()
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() < 0 {
			killed++
		}
	}
	cmd := batchOf(out)
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != 5 {
		t.Fatalf("resumed: %v", cmd.ProcessState)
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
	if len(got) != len(lines) || killed == 0 {
		t.Errorf("%d lines, want %d; %d of 10 runs were killed in time", len(got), len(lines), killed)
	}
}

// TestBatchKilled: kill -9 at ten random moments, each followed by --resume, ends with
// the outputs of an undisturbed batch, one line per input, and nothing else; and
// so do ten kills in a row of one batch.
func TestBatchKilled(t *testing.T) {
	in := recordings(t, 0)
	whole := filepath.Join(t.TempDir(), "whole")
	began := time.Now()
	if status, stderr := bagconv(t, "batch", "-q", "-j", "2", "-O", whole, in); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	took := time.Since(began)
	want, lines := everything(t, whole), len(manifest(t, filepath.Join(whole, "manifest.jsonl")))
	if lines != 6 || len(want) != 12 {
		t.Fatalf("%d inputs, %d files", lines, len(want))
	}
	killed := 0
	kill := func(out string, after time.Duration) {
		cmd := exec.Command(binary, "batch", "-q", "-j", "2", "-O", out, in, "--resume")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
	}
	finish := func(out string) {
		t.Helper()
		if status, stderr := bagconv(t, "batch", "-q", "-j", "2", "-O", out, in, "--resume"); status != 0 {
			t.Fatalf("resumed: exit status %d: %s", status, stderr)
		}
		if got := everything(t, out); !equal(got, want) {
			t.Errorf("%d files, want %d: %v", len(got), len(want), got)
		}
		for _, e := range manifest(t, filepath.Join(out, "manifest.jsonl")) {
			if lines--; e.Status != batch.StatusOK || !e.Stands() {
				t.Errorf("%+v", e)
			}
		}
		if lines != 0 {
			t.Errorf("%d lines are missing", lines)
		}
		lines = 6
	}
	const moments = 10
	seed := uint64(began.UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range moments {
		out := filepath.Join(t.TempDir(), "out")
		kill(out, time.Duration(rng.Int64N(int64(took))))
		finish(out)
	}
	if killed == 0 {
		t.Errorf("none of %d was killed in time", moments)
	}
	out := filepath.Join(t.TempDir(), "out")
	for i := range moments {
		kill(out, took*time.Duration(i%4+1)/(moments+1))
	}
	finish(out)
	t.Logf("%d of %d runs of %v were killed in time", killed, 2*moments, took)
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
	if status := cmd.ProcessState.ExitCode(); status != 130 || !strings.Contains(stderr.String(), "interrupted; finished outputs stay, and --resume continues with the rest") {
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
		if e.Status != batch.StatusOK || !e.Stands() {
			t.Errorf("%+v", e)
		}
	}
	if status, text := bagconv(t, "batch", "-q", "-O", out, in, "--resume"); status != 0 || len(manifest(t, filepath.Join(out, "manifest.jsonl"))) != 6 {
		t.Errorf("resumed: exit status %d: %s", status, text)
	}
}
