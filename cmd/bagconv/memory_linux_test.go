package main

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMemory: inputs several times as large as the limit are converted within
// it, but for what the program itself takes.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 700 MB")
	}
	dir := t.TempDir()
	gen := filepath.Join(dir, "gen")
	if out, err := exec.Command("go", "build", "-o", gen, "../../scripts/gen").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const limit, program = 96, 64 // MB
	for _, end := range []string{".bag", ".record"} {
		in := filepath.Join(dir, "in"+end)
		if out, err := exec.Command(gen, "-mb", "300", in).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, to := range []string{"bag", "db3", "record"} {
			out := filepath.Join(dir, "out_"+to)
			cmd := exec.Command(binary, "-q", "-f", "--no-sync", "--max-memory", "96M", "--to", to, in, out)
			cmd.Env = append(cmd.Environ(), "GOMEMLIMIT=96MiB")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s to %s: %v: %s", end, to, err, text)
			}
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
			t.Logf("%s to %s: %d MB", end, to, peak)
			if peak > limit+program {
				t.Errorf("%s to %s: %d MB at its peak, with a limit of %d", end, to, peak, limit)
			}
		}
	}
}
