//go:build unix

package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestThroughCat: every recording that goes through cat, with one process and with four, becomes the file that it
// becomes without.
func TestThroughCat(t *testing.T) {
	paths := []string{"../../../testdata/demo.bag", "../../../testdata/demo.record"}
	n := 0
	for _, root := range samples.Roots(t) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			limit := int64(samples.Pick(1<<40, 300<<10, 100<<10))
			if st, err := d.Info(); err == nil && st.Size() < limit {
				if n++; n%samples.Pick(1, 12, 30) == 0 {
					paths = append(paths, strings.TrimSuffix(path, "/metadata.yaml"))
				}
			}
			return nil
		})
	}
	tried := 0
	for _, path := range paths {
		dir := t.TempDir()
		run := func(name string, more ...string) (status int, said, out string) {
			out = filepath.Join(dir, name, "out")
			if err := os.Mkdir(filepath.Dir(out), 0o777); err != nil {
				t.Fatal(err)
			}
			status, said = runWords(append([]string{"bagconv", "filter", path, out, "--no-sync", "-q"}, more...))
			return status, said, out
		}
		status, said, plain := run("plain")
		if status != 0 && status != 3 {
			continue
		}
		tried++
		for _, processes := range []string{"1", "4"} {
			got, also, out := run("through"+processes, "--through", "cat", "--processes", processes)
			if got != status || strings.ReplaceAll(also, out, plain) != said {
				t.Errorf("%s: status %d: %s\nwithout: status %d: %s", path, got, also, status, said)
			}
			sameFiles(t, path, plain, out)
		}
	}
	if tried < 2 {
		t.Errorf("%d recordings", tried)
	}
	t.Logf("%d recordings", tried)
}

// sameFiles compares two outputs, files or folders.
func sameFiles(t *testing.T, of, a, b string) {
	t.Helper()
	read := func(root string) map[string]string {
		all := map[string]string{}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				all[strings.TrimPrefix(path, root)] = string(text)
			}
			return nil
		})
		return all
	}
	one, other := read(a), read(b)
	if len(one) == 0 || len(one) != len(other) {
		t.Errorf("%s: %d and %d files", of, len(one), len(other))
	}
	for name, text := range one {
		if text != other[name] {
			t.Errorf("%s: %s differs: %d and %d bytes", of, name, len(text), len(other[name]))
		}
	}
}

// TestThroughDocs runs the programs of docs/through.md on testdata/demo.bag, and looks at what has changed.
func TestThroughDocs(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Error("python3 is missing")
		}
		t.Skip("no python3")
	}
	text := readText(t, "docs/through.md")
	t.Chdir(withDemos(t))
	names := []string{"frames.py", "blur.py", "relabel.py", "calibrate.py"}
	programs := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(programs) != len(names) {
		t.Fatalf("%d programs", len(programs))
	}
	for i, name := range names {
		if err := os.WriteFile(name, []byte(programs[i][1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	filtered := func(program, topic string, cat ...string) string {
		t.Helper()
		words := []string{"bagconv", "filter", "demo.bag", program + ".bag", "--through", python + " " + program, "-t", topic,
			"--processes", "2"}
		if status, said := runWords(words); status != 0 {
			t.Fatal(said)
		}
		status, said := runWords(append([]string{"bagconv", "cat", program + ".bag"}, cat...))
		if status != 0 {
			t.Fatal(said)
		}
		rest := []string{"bagconv", "filter", program + ".bag", program + ".rest.bag", "-x", topic}
		if status, said := runWords(rest); status != 0 {
			t.Fatal(said)
		}
		if status, said := runWords([]string{"bagconv", "verify", "demo.bag", program + ".rest.bag", "-x", topic}); status != 0 {
			t.Error(said)
		}
		return said
	}
	ids := filtered("relabel.py", "/imu/data", "/imu/data.header.frame_id")
	if n := strings.Count(ids, `"header.frame_id":"imu_front"`); n != 400 {
		t.Errorf("%d messages are relabelled", n)
	}
	before := rates(t, "demo.bag")
	filtered("calibrate.py", "/imu/data", "/imu/data.angular_velocity")
	for i, rate := range rates(t, "calibrate.py.bag") {
		for k, bias := range []float64{0.001, -0.002, 0.0005} {
			if d := rate[k] + bias - before[i][k]; d > 1e-12 || d < -1e-12 {
				t.Fatalf("message %d: %v, before %v", i, rate, before[i])
			}
		}
	}
	filtered("blur.py", "/cam_a/image_raw", "/cam_a/image_raw.height")
	checkBlur(t, pixels(t, "demo.bag"), pixels(t, "blur.py.bag"))
}

// fieldOf returns the values of one field of a topic.
func fieldOf[T any](t *testing.T, path, field, key string) (list []T) {
	t.Helper()
	status, said := runWords([]string{"bagconv", "cat", path, field, "--bytes"})
	if status != 0 {
		t.Fatal(said)
	}
	for line := range strings.Lines(said) {
		var m struct {
			Fields map[string]T `json:"fields"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err, line)
		}
		list = append(list, m.Fields[key])
	}
	return list
}

func rates(t *testing.T, path string) (list [][3]float64) {
	for _, v := range fieldOf[struct{ X, Y, Z float64 }](t, path, "/imu/data.angular_velocity", "angular_velocity") {
		list = append(list, [3]float64{v.X, v.Y, v.Z})
	}
	return list
}

func pixels(t *testing.T, path string) [][]byte {
	return fieldOf[[]byte](t, path, "/cam_a/image_raw.data", "data")
}

// checkBlur compares images of 64 x 36 pixels of 3 bytes: outside of the part they are equal, and within it the squares
// are flat.
func checkBlur(t *testing.T, before, after [][]byte) {
	t.Helper()
	changed := false
	for i := range before {
		if len(before[i]) != 64*36*3 || len(after[i]) != len(before[i]) {
			t.Fatalf("%d and %d bytes", len(before[i]), len(after[i]))
		}
		for at := range before[i] {
			x, y, c := at/3%64, at/3/64, at%3
			if x < 8 || x >= 40 || y < 8 || y >= 32 {
				if before[i][at] != after[i][at] {
					t.Fatalf("image %d: the pixel at %d,%d has changed", i, x, y)
				}
				continue
			}
			corner := (y/8*8*64+x/8*8)*3 + c
			if after[i][at] != after[i][corner] {
				t.Fatalf("image %d: the square of %d,%d is not flat", i, x, y)
			}
			changed = changed || before[i][at] != after[i][at]
		}
	}
	if !changed {
		t.Error("nothing has changed")
	}
}
