package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildPython generates Python, with more flags for that.
func buildPython(t *testing.T, path string, more ...string) program {
	t.Helper()
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		python = "python3"
	}
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		missing(t, "a python with numpy")
	}
	dir := t.TempDir()
	generate(t, append([]string{"python", path, "-o", dir}, more...))
	return program{python, filepath.Join(dir, "example.py")}
}

// readsDamaged runs a program on damaged frames: it may report messages, and nothing else.
func readsDamaged(t *testing.T, p program, frames []byte) {
	t.Helper()
	cmd := exec.Command(p[0], p[1:]...)
	cmd.Stdin = bytes.NewReader(frames)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if _, err := cmd.Output(); bytes.Contains(stderr.Bytes(), []byte("Traceback")) || err == nil && len(frames) > 0 {
		t.Fatalf("%v: %.3000s", err, stderr.String())
	}
}

// TestGeneratedPython: generated Python has the values of cat, and reports damage.
func TestGeneratedPython(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Python")
	}
	const in = "../../testdata/demo.bag"
	p := buildPython(t, in)
	readsDamaged(t, p, mutated(sameValuesAsCat(t, p, in), 1000, 1))
}

// TestGeneratedPythonEverywhere: every recording, and damaged messages.
func TestGeneratedPythonEverywhere(t *testing.T) {
	exhaustive(t)
	eachGenerated(t, "python", func(i int, path string) {
		p := buildPython(t, path)
		readsDamaged(t, p, mutated(sameValuesAsCat(t, p, path), 2000, uint64(i)))
	})
}
