package cli_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// A judged condition is one that testdata/where.py has decided.
type judged struct {
	Path, Topic, Expr string
	Of                int
	Kept              []int64 // log times, sorted
}

// TestWhereReferee: --where keeps the messages that a plain loop in Python keeps, with one worker and with several.
func TestWhereReferee(t *testing.T) {
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Error("BAGCONV_ROSBAGS_PYTHON is missing")
		}
		t.Skip("no rosbags")
	}
	cmd := exec.Command(python, append([]string{"testdata/where.py", strconv.Itoa(samples.Pick(2000, 200, 40)), "7"},
		rosRecordings(t)...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, said.String())
	}
	some, tried, files := 0, 0, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var j judged
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Fatal(err)
		}
		tried, files[j.Path] = tried+1, true
		if len(j.Kept) > 0 && len(j.Kept) < j.Of {
			some++
		}
		words := []string{"bagconv", "cat", j.Path, "--raw", "-t", j.Topic, "--where", j.Expr, "--threads"}
		status, serial := runWords(append(words, "1"))
		_, parallel := runWords(append(words, "4"))
		if serial != parallel {
			t.Errorf("%s: %s: one worker and four differ", j.Path, j.Expr)
		}
		got := []int64{}
		for _, m := range regexp.MustCompile(`(?m)^\{"topic":.*?"time":"(-?\d+)"`).FindAllStringSubmatch(serial, -1) {
			at, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, at)
		}
		if slices.Sort(got); !slices.Equal(got, j.Kept) {
			t.Errorf("%s --where '%s': status %d, %d messages, and the loop keeps %d of %d\n%.300s", j.Path, j.Expr, status,
				len(got), len(j.Kept), j.Of, serial)
		}
	}
	if tried < 40 || some < tried/5 {
		t.Errorf("%d conditions, %d of them keep some messages and not all", tried, some)
	}
	t.Logf("%d conditions on %d recordings, %d keep a part", tried, len(files), some)
}

// rosRecordings lists the bags and the folders of rosbag2 up to 4 MB.
func rosRecordings(t *testing.T) (paths []string) {
	paths = append(paths, "../../../testdata/demo.bag")
	for _, root := range samples.Roots(t) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			st, err := d.Info()
			if err == nil && (filepath.Ext(path) == ".bag" && st.Size() < 4<<20 || d.Name() == "metadata.yaml") {
				paths = append(paths, strings.TrimSuffix(path, "/metadata.yaml"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
