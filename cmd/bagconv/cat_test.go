package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// catInputs lists recordings that are not too large to be printed with all their
// pictures: damaged ones too; up to 6 MB, and up to 30 with BAGCONV_EXHAUSTIVE=1.
func catInputs(t *testing.T) (paths []string) {
	ours, err := filepath.Glob("../../testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ours {
		if ext := filepath.Ext(p); ext == ".bag" || ext == ".record" {
			paths = append(paths, p)
		}
	}
	for _, root := range samples.Roots(t) {
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			st, err := d.Info()
			if err == nil && !d.IsDir() && st.Size() < int64(samples.Pick(30, 6, 6))<<20 &&
				strings.ContainsAny(filepath.Ext(path), "bd0123456789") {
				paths = append(paths, path)
			}
			if _, none := os.Stat(filepath.Join(path, "metadata.yaml")); none == nil {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestCatEverything: whatever the recording, what cat prints is JSON, in order of
// time, and CSV of a single topic has as many cells in each line.
func TestCatEverything(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads all recordings")
	}
	lines := 0
	for _, path := range catInputs(t) {
		cmd := exec.Command(binary, "cat", path)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if status := cmd.ProcessState.ExitCode(); status != 0 && status != 1 && status != 3 || status != 0 &&
			stderr.Len() == 0 {
			t.Errorf("%s: %v: %s", path, err, stderr.String())
		}
		s := bufio.NewScanner(bytes.NewReader(out))
		s.Buffer(nil, 1<<30)
		last, topic := int64(-1<<63), ""
		for ; s.Scan(); lines++ {
			var line struct {
				Topic, Time string
				Fields      map[string]any
			}
			if err := json.Unmarshal(s.Bytes(), &line); err != nil || line.Fields == nil {
				t.Fatalf("%s: %v: %s", path, err, s.Text())
			}
			at, err := strconv.ParseInt(line.Time, 10, 64)
			if err != nil || at < last {
				t.Fatalf("%s: time %s after %d, %v", path, line.Time, last, err)
			}
			last, topic = at, line.Topic
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		if topic != "" {
			checkCSV(t, path, topic)
		}
	}
	if lines < 900 {
		t.Errorf("only %d lines", lines)
	}
}

func checkCSV(t *testing.T, path, topic string) {
	cmd := exec.Command(binary, "cat", path, topic, "--format", "csv")
	out, err := cmd.Output()
	if status := cmd.ProcessState.ExitCode(); status == 2 {
		return // two types under one name
	} else if status != 0 && status != 3 {
		t.Errorf("%s %s: %v", path, topic, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll() // checks that all have as many cells
	if err != nil || len(rows) < 2 || rows[0][0] != "topic" || rows[1][0] != topic {
		t.Errorf("%s %s: %d rows, %v", path, topic, len(rows), err)
	}
}

// TestCatFields: each value that cat prints is the one that rosbags reads.
func TestCatFields(t *testing.T) {
	t.Parallel()
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		missing(t, "PyPI's rosbags (set BAGCONV_ROSBAGS_PYTHON to a python that has it)")
	}
	inputs := []string{"testdata/referee/cat.py", binary}
	for _, p := range catInputs(t) {
		if filepath.Ext(p) == ".bag" && !strings.Contains(p, "generated") || filepath.Ext(p) == "" && !strings.Contains(p,
			"mcap") {
			inputs = append(inputs, p)
		}
	}
	messages := 0
	for _, r := range jsonLines[struct {
		Recording string
		Messages  int
		Problem   string
	}](t, exec.Command(python, inputs...)) {
		if messages += r.Messages; r.Problem != "" {
			t.Errorf("%s: %s", r.Recording, r.Problem)
		}
	}
	if messages < 600 {
		t.Errorf("only %d messages were compared", messages)
	}
	t.Logf("%d messages compared", messages)
}
