package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what is wrong is found in the files of the system that is asked for, in those of tests, too.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":            "module example.com/a\n\ngo 1.21\n",
		"b/b.go":            "package b\n\n// F is used.\nfunc F() int { return 1 }\n",
		"a.go":              "package a\n\nimport \"example.com/a/b\"\n\nvar n = b.F()\n",
		"a_windows.go":      "package a\n\nvar wide string = n\n",
		"a_darwin_test.go":  "package a\n\nvar late = missing\n",
		"x_freebsd_test.go": "package a_test\n\nimport _ \"example.com/a/c\"\n",
		"a_netbsd.go":       "package a\n\nfunc f() { unused := n }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "")          // and no workspace or vendor folder of another
	t.Setenv("GOCACHE", t.TempDir()) // that of whoever runs this may be one that cannot be written
	for system, want := range map[string]string{
		"linux/amd64": "", "windows/amd64": "a_windows.go:3:", "darwin/arm64": "undefined: missing",
		"freebsd/amd64": "go list",
		"netbsd/amd64":  "unused", "linux/z80": "z80",
	} {
		n, err := check(system, []string{"./..."})
		if want == "" && (err != nil || n < 2) {
			t.Errorf("%s: %d packages, %v", system, n, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want something about %q", system, err, want)
		}
	}
}
