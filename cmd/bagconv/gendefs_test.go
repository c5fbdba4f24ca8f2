package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGeneratedSameValues: of a recording without definitions, with right and wrong definitions of the user,
// generated readers have the values of cat, and cat has those of the original. In package cli, TestSameValues has
// the other ways in which messages are read.
func TestGeneratedSameValues(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	t.Parallel()
	dir := t.TempDir()
	original, wrong := filepath.Join(dir, "demo"), filepath.Join(dir, "wrong")
	convert(t, "../../testdata/demo.bag", original+"/", "--no-sync")
	bare := stripped(t, original, filepath.Join(dir, "bare"))
	if bare == "" || wrongTree(t, original, wrong, rand.New(rand.NewPCG(1, 1))) == 0 {
		t.Fatal("the recording had no definitions")
	}
	want := linesOf(t, original)
	for _, c := range []struct {
		about string
		defs  []string
		whole bool // all topics can be read
		built bool // programs are built, too
	}{
		{"no definitions", nil, false, false},
		{"right", []string{"--defs", original}, true, false},
		{"wrong", []string{"--defs", wrong}, false, true},
		{"wrong and right", []string{"--defs", wrong, "--defs", original}, true, true},
	} {
		t.Run(c.about, func(t *testing.T) {
			all := os.Getenv("BAGCONV_EXHAUSTIVE") != ""
			got := linesOf(t, bare, c.defs...)
			for topic, lines := range want {
				if (c.whole || got[topic] != nil) && !slices.Equal(got[topic], lines) {
					t.Errorf("%s: cat prints\n%.300v\nof the original\n%.300v", topic, got[topic], lines)
				}
			}
			if c.built || all {
				p, _ := buildGo(t, bare, nil, c.defs...)
				sameValuesAsCat(t, p, bare, c.defs...)
			}
			if all {
				p := buildCPP(t, []string{"g++", "-std=c++20", "-O0"}, append([]string{bare}, c.defs...)...)
				sameValuesAsCat(t, p, bare, c.defs...)
			}
			sameValuesAsCat(t, buildPython(t, bare, c.defs...), bare, c.defs...) // last: it may be missing
		})
	}
}
