package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestMCAPMutants: PyPI's mcap opens all that recover writes of files that are damaged in any way, and
// reads as many messages as bagconv does.
func TestMCAPMutants(t *testing.T) {
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if python == "" {
		missing(t, "PyPI's mcap (set BAGCONV_MCAP_PYTHON to a python that has it)")
	}
	var sources []string
	for _, path := range samples.Glob(t, "mcap/pypi+mcap/*.mcap") {
		if st, err := os.Stat(path); err == nil && st.Size() < 40<<10 {
			sources = append(sources, path)
		}
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 1))
	n := 60
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		n = 2000
	}
	var outputs []string
	for i := range n {
		b, err := os.ReadFile(sources[i%len(sources)])
		if err != nil {
			t.Fatal(err)
		}
		in, out := filepath.Join(dir, fmt.Sprintf("in%d.mcap", i)), filepath.Join(dir, fmt.Sprintf("out%d.mcap", i))
		if err := os.WriteFile(in, mutantOf(random, b), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(binary, "-q", "recover", in, out, "--no-sync").Run(); err != nil {
			if _, err := os.Stat(out); err != nil {
				continue // nothing could be read
			}
		}
		outputs = append(outputs, out)
	}
	for chunk := range slices.Chunk(outputs, 50) {
		got := jsonLines[struct {
			Path     string
			Messages int
			Error    string
		}](t, exec.Command(python, append([]string{"testdata/referee/mcap/opens.py"}, chunk...)...))
		if len(got) != len(chunk) {
			t.Fatalf("%d answers about %d files", len(got), len(chunk))
		}
		for _, g := range got {
			if _, msgs := read(t, g.Path); g.Error != "" || g.Messages != len(msgs) {
				t.Errorf("%s: %d messages of %d, %s", filepath.Base(g.Path), g.Messages, len(msgs), g.Error)
			}
		}
	}
}

// mutantOf returns b with some of it changed, missing or twice, behind its first bytes.
func mutantOf(random *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	at := 8 + random.IntN(len(b)-16)
	n := min(1+random.IntN(200), len(b)-at)
	switch random.IntN(5) {
	case 0:
		b[at] ^= 1 << random.IntN(8)
	case 1:
		clear(b[at : at+n])
	case 2:
		b = slices.Delete(b, at, at+n)
	case 3:
		b = slices.Insert(b, at, slices.Clone(b[at:at+n])...)
	case 4:
		b = b[:at]
	}
	return b
}
