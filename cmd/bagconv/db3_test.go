package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

func stableByTime(list []storage.Message) {
	slices.SortStableFunc(list, func(a, b storage.Message) int {
		switch {
		case a.LogTime < b.LogTime:
			return -1
		case a.LogTime > b.LogTime:
			return 1
		}
		return 0
	})
}

// TestDB3ToBag: every SQLite recording becomes a bag that Debian's python3-rosbag
// decodes and the C++ reference library counts, with the values that rosbags
// decodes from both.
func TestDB3ToBag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var pairs, outs []string
	want, timeZero := map[string]int{}, map[string]int{}
	for i, path := range folders(t) {
		out := filepath.Join(dir, fmt.Sprintf("b%d.bag", i))
		status := convert(t, path, out)
		info, msgs := read(t, path)
		_, got := read(t, out)
		if len(got) != len(msgs) {
			if status != 3 {
				t.Errorf("%s: %d of %d messages and exit status %d", path, len(got), len(msgs), status)
			}
			t.Logf("%s: %d of %d messages", path, len(got), len(msgs))
		} else if len(info.Topics) > 0 {
			pairs = append(pairs, path, out)
		}
		outs, want[out] = append(outs, out), len(got)
		for _, m := range got {
			if m.LogTime == 0 {
				timeZero[out]++
			}
		}
	}
	t.Run("rosbag1", func(t *testing.T) { decodeROS1(t, want, outs) })
	t.Run("C++", func(t *testing.T) { countCPP(t, want, timeZero, outs) })
	t.Run("rosbags", func(t *testing.T) { checkPairs(t, 5, pairs) })
}

func decodeROS1(t *testing.T, want map[string]int, bags []string) {
	const python = "/usr/bin/python3" // Debian's own: it has the ROS modules
	if exec.Command(python, "-c", "import rosbag").Run() != nil {
		missing(t, "python3-rosbag")
	}
	type decoded struct {
		Bag               string
		Messages, Decoded int
		Problem           string
	}
	total := 0
	for _, d := range jsonLines[decoded](t, exec.Command(python, append([]string{"testdata/referee/decode.py"},
		bags...)...)) {
		if d.Problem != "" || d.Messages != want[d.Bag] {
			t.Errorf("%s: %d messages, want %d: %s", d.Bag, d.Messages, want[d.Bag], d.Problem)
		}
		total += d.Decoded
	}
	t.Logf("%d messages decoded", total)
	if total == 0 {
		t.Error("no message of an installed type")
	}
}

func countCPP(t *testing.T, want, timeZero map[string]int, bags []string) {
	t.Helper()
	n := 0
	for _, x := range jsonLines[counting](t, exec.Command(cppCounter(t), bags...)) {
		n++
		least := want[x.Path] - timeZero[x.Path] // roscpp does not load messages of time 0
		if x.Problem != "" || x.Messages != least || x.Order != "ascending" {
			t.Errorf("C++ reads %+v, want %d messages", x, least)
		}
	}
	if n != len(bags) {
		t.Errorf("C++ reads %d of %d bags", n, len(bags))
	}
}

// TestDeterministic: the same bytes for any number of workers, in each
// direction and compression.
func TestDeterministic(t *testing.T) {
	dir := t.TempDir()
	inputs := sorted(bags(t))
	inputs = append(inputs, folders(t)...)
	for i, path := range inputs {
		targets := []string{"/"}
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			targets = []string{".bag", ".lz4.bag"}
		}
		for _, target := range targets {
			var outs []string
			for _, threads := range []string{"1", "8"} {
				out := filepath.Join(dir, threads, fmt.Sprintf("o%d%s", i, target))
				if err := os.MkdirAll(filepath.Dir(strings.TrimSuffix(out, "/")), 0o777); err != nil {
					t.Fatal(err)
				}
				args := []string{path, out, "--threads", threads, "--no-sync"}
				if strings.Contains(target, "lz4") {
					args = append(args, "--compression", "lz4")
				}
				convert(t, args...)
				outs = append(outs, strings.TrimSuffix(out, "/"))
			}
			sameFiles(t, outs[0], outs[1])
		}
	}
}

func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	err := filepath.WalkDir(a, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(a, p)
		x, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, rel))
		if err == nil && !bytes.Equal(x, y) {
			t.Errorf("%s and %s differ", p, filepath.Join(b, rel))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
