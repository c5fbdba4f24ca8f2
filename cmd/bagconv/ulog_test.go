package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestULogReferee: PyPI's pyulog reads the values that cat prints, NaN included.
func TestULogReferee(t *testing.T) {
	t.Parallel()
	python := os.Getenv("BAGCONV_ULOG_PYTHON")
	if exec.Command(python, "-c", "import pyulog").Run() != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have python's pyulog: .ci/run installs it")
		}
		t.Skip("python's pyulog is not installed, or BAGCONV_ULOG_PYTHON does not name a python that has it")
	}
	files := 0
	for _, path := range samples.Glob(t, "ulog/*/*.ulg") {
		// It ends at noise, forgets subscriptions before appended data, and refuses the flag as bagconv does.
		if name := filepath.Base(path); slices.Contains([]string{"noise.ulg", "appended.ulg", "appended-cut.ulg",
			"unknown-flag.ulg"}, name) {
			continue
		}
		if st, err := os.Stat(path); err != nil || st.Size() > int64(samples.Pick(1<<30, 1<<20, 1<<20)) {
			continue
		}
		lines := filepath.Join(t.TempDir(), "lines")
		want, err := exec.Command(binary, "cat", path, "--bytes").Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 3) {
			t.Fatalf("%s: %v", path, err)
		}
		if err := os.WriteFile(lines, want, 0o666); err != nil {
			t.Fatal(err)
		}
		got := jsonLines[struct {
			Messages, Values int
			Problems         []string
		}](t, exec.Command(python, "-B", "testdata/referee/ulog/values.py", path, lines))
		if len(got) != 1 || got[0].Messages == 0 || got[0].Values < got[0].Messages || len(got[0].Problems) > 0 {
			t.Errorf("%s: %+v", path, got)
		}
		files++
	}
	if files < 9 {
		t.Errorf("only %d files were compared", files)
	}
}

// TestULogOutputs: a log goes to every format, with all messages, and is never written.
func TestULogOutputs(t *testing.T) {
	const source = "../../testdata/recordings/ulog/generated/random-1.ulg"
	dir := t.TempDir()
	for _, name := range []string{"x.bag", "x.record", "x.db3", "x.mcap", "folder/", "parquet/"} {
		args := []string{source, filepath.Join(dir, name), "--no-sync"}
		if name == "parquet/" {
			args = append([]string{"export"}, args[:2]...)
		}
		if strings.HasSuffix(name, "/") {
			args[len(args)-1-strings.Count(name, "folder")] += "/"
		}
		if status, stderr := bagconv(t, args...); status != 0 {
			t.Errorf("%s: status %d: %s", name, status, stderr)
			continue
		}
		if name == "parquet/" {
			continue
		}
		if status, stderr := bagconv(t, "verify", source, filepath.Join(dir, name)); status != 0 {
			t.Errorf("%s: verify: status %d: %s", name, status, stderr)
		}
	}
	if status, stderr := bagconv(t, source, filepath.Join(dir, "x.ulg")); status != 2 ||
		!strings.Contains(stderr, "cannot be written") {
		t.Errorf("to ULog: status %d: %s", status, stderr)
	}
}

// TestULogDamaged: what can be read of a damaged log is written by convert and recover, and the loss is reported.
func TestULogDamaged(t *testing.T) {
	const source = "../../testdata/recordings/ulog/generated/noise.ulg"
	for _, command := range []string{"convert", "recover"} {
		out := filepath.Join(t.TempDir(), "x.mcap")
		status, stderr := bagconv(t, command, source, out)
		if status != 3 || !strings.Contains(stderr, "[gap]") {
			t.Errorf("%s: status %d: %s", command, status, stderr)
		}
		if lines := jsonLines[struct{ Topic string }](t, exec.Command(binary, "cat", out)); len(lines) != 60 {
			t.Errorf("%s: %d messages", command, len(lines))
		}
		if status, _ := bagconv(t, "convert", "--strict", source, filepath.Join(t.TempDir(), "y.mcap")); status != 1 {
			t.Errorf("--strict: status %d", status)
		}
	}
}
