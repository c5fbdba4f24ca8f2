package convert_test

import (
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestNames: what other modules put into a job works, and what is wrong is an error.
func TestNames(t *testing.T) {
	rate, err := convert.ParseThrottle("/imu/*=10")
	if err != nil {
		t.Fatal(err)
	}
	every, err := convert.ParseEvery("/tf=2")
	if err != nil {
		t.Fatal(err)
	}
	rename, err := convert.ParseRename("/imu/*:=/sensors/*")
	if err != nil {
		t.Fatal(err)
	}
	start, err := convert.ParseTime("0.5")
	if err != nil {
		t.Fatal(err)
	}
	job := convert.Job{Edit: convert.Edit{Rates: []convert.Rate{rate, every}, Remap: []convert.Rename{rename}},
		Select: convert.Select{Start: start}}
	report, err := convert.File(t.Context(), all.Registry(), "../testdata/demo.bag", filepath.Join(t.TempDir(), "x.mcap"),
		job)
	if err != nil {
		t.Fatal(err)
	}
	thinned := map[string]int64{}
	for _, r := range report.Topics {
		thinned[r.Name] = r.Thinned
	}
	if thinned["/imu/data"] < 150 || thinned["/tf"] < 20 || thinned["/odom"] != 0 {
		t.Errorf("left out: %v", thinned)
	}
	if _, err := convert.Patterns("/a", "re:("); err == nil {
		t.Error("a wrong pattern is taken")
	}
	if _, err := convert.ParseThrottle("/a"); err == nil {
		t.Error("a throttle without a number is taken")
	}
	if set, err := convert.ReadDefinitions(nil, "../testdata/demo.bag"); err == nil {
		t.Errorf("definitions of a bag: %v", set)
	}
}

// TestKeptStorage: a folder that becomes a folder keeps its storage and version, unless another storage or profile is
// asked for.
func TestKeptStorage(t *testing.T) {
	const in = "../testdata/recordings/rosbag2/v8-mcap/run"
	sqlite := storage.WriteOptions{Values: map[string]string{storage.NameStorage: "sqlite3"}}
	for _, c := range []struct {
		out, format, version string
		write                storage.WriteOptions
	}{
		{out: "x", format: "ros2mcap", version: "metadata 8, mcap 0"},
		{out: "x.y" + string(filepath.Separator), format: "ros2mcap", version: "metadata 8, mcap 0"},
		{out: "x.mcap", format: "mcap", version: "0"},
		{out: "x", format: "db3", version: "metadata 5, schema 3", write: storage.WriteOptions{Profile: "humble"}},
		{out: "x", format: "db3", version: "metadata 5, schema 4", write: sqlite},
	} {
		out := t.TempDir() + string(filepath.Separator) + c.out
		if _, err := convert.File(t.Context(), all.Registry(), in, out, convert.Job{Write: c.write}); err != nil {
			t.Fatal(err)
		}
		r, err := all.Open(t.Context(), out, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if info := r.Info(); info.Format != c.format || info.Version != c.version {
			t.Errorf("%s: %s, %s", c.out, info.Format, info.Version)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
