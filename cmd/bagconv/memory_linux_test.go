package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// peakOf runs a program and prints the largest resident set of its life, in MB. A
// child of a Go program would count what its parent has, too.
const peakOf = `
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
`

// peakMB runs the binary with the arguments, which must succeed, and returns the
// most memory that it has taken, in MB.
func peakMB(t *testing.T, env []string, args ...string) int {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		missing(t, "python3")
	}
	cmd := exec.Command(python, append([]string{"-c", peakOf, binary}, args...)...)
	cmd.Env = append(cmd.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("bagconv %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	peak, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

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
			peak := peakMB(t, []string{"GOMEMLIMIT=96MiB"}, "-q", "-f", "--no-sync", "--max-memory", "96M", "--to", to, in, out)
			t.Logf("%s to %s: %d MB", end, to, peak)
			if peak > limit+program {
				t.Errorf("%s to %s: %d MB at its peak, with a limit of %d", end, to, peak, limit)
			}
		}
	}
}
