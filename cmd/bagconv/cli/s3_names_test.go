package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestS3OddKeys: what a terminal obeys or hides in a key is in no name of a local output, which a note tells; two keys
// that become one name stay two outputs. A failure names its input once, in the text and in the report.
func TestS3OddKeys(t *testing.T) {
	s := s3test.NewFake(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	bag, err := os.ReadFile("../../../testdata/tiny.bag")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"in/a\x1b]0;x\x07/run\u202e1.bag", "in/a\x1b]0;x\x07/run\u20661.bag", "in/a\nb.bag"} {
		s.Put(key, bag)
	}
	s.Put("in/empty.bag", nil)
	out := t.TempDir()
	report := filepath.Join(t.TempDir(), "report.json")
	status, said := bagconv("batch", "-O", out, "s3://"+s3test.Bucket+"/in/", "--to", "mcap", "--report", report)
	if status != 5 && status != 1 {
		t.Errorf("status %d: %s", status, said)
	}
	outputs := 0
	err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".mcap") {
			outputs++
		}
		if strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf) }) {
			t.Errorf("%q is there", path)
		}
		return err
	})
	if err != nil || outputs != 3 || strings.Count(said, "the output has another name") != 3 {
		t.Errorf("%d outputs, %v: %s", outputs, err, said)
	}
	const empty = "s3://" + s3test.Bucket + "/in/empty.bag"
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "failed: ") && strings.Count(line, "empty.bag") != 1 {
			t.Errorf("it says %s", line)
		}
	}
	var r struct {
		Results []struct{ Status, Input, Error string }
	}
	text, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	failures := 0
	for _, e := range r.Results {
		if e.Status == "failed" {
			failures++
			if strings.Count(e.Error, "empty.bag") != 1 || !strings.Contains(e.Error, empty) {
				t.Errorf("the report has %q", e.Error)
			}
		}
	}
	if failures != 1 {
		t.Errorf("%d failures in %s", failures, text)
	}
}

// TestS3Mixed: a folder of a store with recordings of two formats is refused with a list, as on a disk; one whose files
// are segments of a recording is this recording.
func TestS3Mixed(t *testing.T) {
	s := s3test.NewFake(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	bag, err := os.ReadFile("../../../testdata/tiny.bag")
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile("../../../testdata/tiny.record")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"mixed/x.record.00000", "mixed/x.record.00001",
		"whole/x.record.00000", "whole/x.record.00001"} {
		s.Put(key, record)
	}
	s.Put("mixed/a.bag", bag)
	const mixed = "s3://" + s3test.Bucket + "/mixed"
	for _, line := range [][]string{{mixed, filepath.Join(t.TempDir(), "o.mcap")}, {"cat", mixed},
		{"append", mixed, "../../../testdata/tiny.bag"}, {"gen", "cpp", mixed, "-o", t.TempDir()}} {
		status, said := bagconv(line...)
		if status != 1 || !strings.Contains(said, "a folder with 2 recordings in it (a.bag, x.record); convert all: ") {
			t.Errorf("%v: status %d: %s", line, status, said)
		}
	}
	whole := "s3://" + s3test.Bucket + "/whole"
	if status, said := bagconv("cat", whole, "--tail", "1"); status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
}

// TestWorkFullDisk: work on a full disk names the recording, and the folder that has no room.
func TestWorkFullDisk(t *testing.T) {
	dir := t.TempDir()
	in, out, plan := filepath.Join(dir, "run0500.bag"), filepath.Join(dir, "out"), filepath.Join(dir, "plan.jsonl")
	bag, err := os.ReadFile("../../../testdata/tiny.bag")
	if err == nil {
		err = os.WriteFile(in, bag, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	must(t, "plan", "-O", out, in, "--to", "mcap", "-o", plan)
	system := iox.OS
	defer func() { iox.OS = system }()
	for _, room := range []int64{0, 2000} { // for no receipt, and for one
		iox.OS = faultio.NewDisk(system, room)
		status, said := bagconv("work", "--task", plan)
		iox.OS = system
		if status != 75 || !strings.Contains(said, "failed: "+in+": ") || !strings.Contains(said, "no space left") ||
			strings.Contains(said, ".json.") {
			t.Errorf("room for %d bytes: status %d: %s", room, status, said)
		}
	}
	must(t, "work", "-q", "--task", plan)
}
