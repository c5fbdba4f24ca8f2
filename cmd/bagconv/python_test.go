package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPython runs the tests of the Python package with the built binary and all that it can use, and mypy and ruff on
// it; scripts/python runs them with the wheel and without other packages.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Python")
	}
	python := os.Getenv("BAGCONV_PYTHON_TESTS_PYTHON")
	if python == "" {
		missing(t, "what python/tests needs (set BAGCONV_PYTHON_TESTS_PYTHON to a python that has it)")
	}
	dir, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"pytest", "-q", "-p", "no:cacheprovider", "tests"},
		{"mypy", "--cache-dir", t.TempDir()},
		{"ruff", "check", "--no-cache", "."},
	} {
		t.Run(args[0], func(t *testing.T) {
			cmd := exec.Command(python, append([]string{"-m"}, args...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "BAGCONV="+binary, "PYTHONPATH="+dir, "BAGCONV_PYTHON_ENVIRONMENT=referees",
				"PYTHONDONTWRITEBYTECODE=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", args[0], err, out)
			}
		})
	}
}
