package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// These tests run the built binary on sound and odd recordings, and let other
// people's tools judge what it wrote. The recordings are those of testdata/ and of
// ../shared/data beside the repository, if there is such a folder.

var binary string

func TestMain(m *testing.M) {
	if path := os.Getenv(heldFile); path != "" {
		os.Exit(runHeld(path))
	}
	if signal := os.Getenv(signalledChild); signal != "" {
		os.Exit(runSignalledChild(signal))
	}
	if what := os.Getenv(killedChild); what != "" {
		os.Exit(runKilledChild(what))
	}
	if n := os.Getenv(killedProgram); n != "" {
		os.Exit(runKilledProgram(n))
	}
	dir, err := os.MkdirTemp("", "bagconv-test-*")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "bagconv")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// bagconv runs the binary and returns its exit status and what it printed.
func bagconv(t *testing.T, args ...string) (status int, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errOut.String()
}

// convert runs a conversion that must write its output.
func convert(t *testing.T, args ...string) (status int) {
	t.Helper()
	status, stderr := bagconv(t, append([]string{"-q"}, args...)...)
	if status != 0 && status != 3 {
		t.Fatalf("bagconv %s: exit status %d: %s", strings.Join(args, " "), status, stderr)
	}
	return status
}

// missing skips a test that needs a referee, or fails it in CI, which has them all.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing, and CI must have it", what)
	}
	t.Skipf("%s is not installed", what)
}

type expectedBag struct {
	Messages *int64
	Version  string
}

// bags lists the sound v2.0 bags with their number of messages.
func bags(t *testing.T) map[string]int64 {
	out := map[string]int64{}
	for path, e := range samples.Expected[expectedBag](t, "ros1/expected.json") {
		if _, err := os.Stat(path); err == nil && e.Messages != nil && strings.Contains(e.Version, "V2.0") &&
			!strings.Contains(path, "encrypted") {
			out[path] = *e.Messages
		}
	}
	return out
}

// folders lists the rosbag2 recordings with SQLite storage: folders with
// metadata.yaml, and the folders and files without.
func folders(t *testing.T) []string {
	seen := map[string]bool{}
	for path := range samples.Expected[any](t, "rosbag2/expected.json") {
		dir := filepath.Dir(path)
		if files, _ := filepath.Glob(filepath.Join(dir, "*.mcap")); len(files) > 0 {
			dir = path // mixed folder: the file itself
		}
		if _, err := os.Stat(dir); err == nil {
			seen[dir] = true
		}
	}
	return sorted(seen)
}

func sorted[T any](m map[string]T) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// read returns a recording with all its messages, in the order of the file.
func read(t *testing.T, path string) (*storage.Info, []storage.Message) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var msgs []storage.Message
	for {
		m, err := r.ReadNext()
		if err != nil {
			break
		}
		c := *m
		c.Data = bytes.Clone(m.Data)
		msgs = append(msgs, c)
	}
	info := r.Info()
	return info, msgs
}

type comparison struct {
	A, B     string
	Messages int
	Equal    bool
	Skipped  string
	Problem  string
}

// compare lets PyPI's rosbags decode both sides of each pair.
func compare(t *testing.T, pairs ...string) []comparison {
	t.Helper()
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		missing(t, "PyPI's rosbags (set BAGCONV_ROSBAGS_PYTHON to a python that has it)")
	}
	return jsonLines[comparison](t, exec.Command(python, append([]string{"testdata/referee/compare.py"}, pairs...)...))
}

func jsonLines[T any](t *testing.T, cmd *exec.Cmd) (out []T) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for d.More() {
		var v T
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// checkPairs fails for each pair that rosbags decodes to other values.
func checkPairs(t *testing.T, least int, pairs []string) {
	t.Helper()
	equal := 0
	for _, c := range compare(t, pairs...) {
		switch {
		case c.Skipped != "":
			t.Logf("not compared: %s: %s", c.A, c.Skipped)
		case !c.Equal:
			t.Errorf("%s and %s: %s", c.A, c.B, c.Problem)
		default:
			equal++
		}
	}
	t.Logf("%d of %d pairs compared by value, equal", equal, len(pairs)/2)
	if _, shared := samples.Shared(t); !shared {
		least = min(least, 5)
	}
	if equal < least {
		t.Errorf("only %d pairs could be compared", equal)
	}
}
