package all_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExternalModule builds and tests a module of somebody else, which reads, converts, verifies and checks, and has a
// format of its own with the suite. It has what this module requires, and no network.
func TestExternalModule(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const own, theirs = "github.com/bagconv/bagconv", "example.org/external"
	for _, name := range []string{"external_test.go", "toy/toy.go", "toy/toy_test.go"} {
		text, err := os.ReadFile(filepath.Join(root, "testdata", "external", name))
		if err != nil {
			t.Fatal(err)
		}
		moved := strings.ReplaceAll(string(text), own+"/testdata/external", theirs)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "toy"), 0o777), os.WriteFile(filepath.Join(dir, name),
			[]byte(moved), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			moved := strings.Replace(string(text), "module "+own, "module "+theirs, 1)
			// the root may have blanks
			text = fmt.Appendf(nil, "%s\nrequire %s v0.0.0\nreplace %s => %q\n", moved, own, own, root)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOPROXY=off", "GOWORK=off",
		"BAGCONV_TESTDATA="+filepath.Join(root, "testdata"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
