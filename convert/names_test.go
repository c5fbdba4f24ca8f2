package convert_test

import (
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
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
	job := convert.Job{Edit: convert.Edit{Rates: []convert.Rate{rate, every}, Remap: []convert.Rename{rename}}, Select: convert.Select{Start: start}}
	report, err := convert.File(t.Context(), all.Registry(), "../testdata/demo.bag", filepath.Join(t.TempDir(), "x.mcap"), job)
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
