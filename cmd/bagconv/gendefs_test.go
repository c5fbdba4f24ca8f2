package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGeneratedSameValues: of a recording without definitions, with right and wrong definitions of the user,
// generated readers read the values that cat prints, and cat prints the values of the original. In package cli,
// TestSameValues has the other ways in which messages are read.
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
	other := filepath.Join(dir, "other", "acme_msgs", "msg") // it fits the messages, too, with other names
	const odd = "std_msgs/Header header\nstring title\nfloat32[4] speeds\nbuiltin_interfaces/Duration latency\n" +
		"uint16[] codes\nPart[] pieces\nbool good\n"
	for name, text := range map[string]string{"Status.msg": odd, "Part.msg": "int64 number\nfloat64[2] place\n"} {
		err := errors.Join(os.MkdirAll(other, 0o777), os.WriteFile(filepath.Join(other, name), []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	other = filepath.Join(dir, "other")
	want := linesOf(t, original)
	for _, c := range []struct {
		about string
		defs  []string
		whole bool // all topics can be read
		built bool // programs in C++ are built, too, as for all with BAGCONV_EXHAUSTIVE=1
	}{
		{"no definitions", nil, false, false},
		{"right", []string{"--defs", original}, true, false},
		{"wrong", []string{"--defs", wrong}, false, false},
		{"wrong and right", []string{"--defs", wrong, "--defs", original}, true, true},
		{"other and right", []string{"--defs", other, "--defs", original}, false, true},
	} {
		t.Run(c.about, func(t *testing.T) {
			all := os.Getenv("BAGCONV_EXHAUSTIVE") != ""
			got := linesOf(t, bare, c.defs...)
			if n := len(got["/acme/status"]); c.about == "other and right" {
				if n == 0 || !strings.Contains(got["/acme/status"][0], `"title":`) {
					t.Errorf("%d messages, and not by the first definition that fits", n)
				}
				delete(got, "/acme/status")
			}
			for topic, lines := range want {
				if (c.whole || got[topic] != nil) && !slices.Equal(got[topic], lines) {
					t.Errorf("%s: cat prints\n%.300v\nof the original\n%.300v", topic, got[topic], lines)
				}
			}
			if c.built || all {
				p := buildCPP(t, []string{"g++", "-std=c++20", "-O0"}, append([]string{bare}, c.defs...)...)
				sameValuesAsCat(t, p, bare, c.defs...)
			}
		})
	}
}
