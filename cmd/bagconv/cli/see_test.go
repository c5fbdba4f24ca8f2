package cli_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/report"
)

// TestSeeAgrees: report --json has the numbers of check --json and info --json.
func TestSeeAgrees(t *testing.T) {
	for _, path := range []string{"../../../testdata/demo.bag", "../../../testdata/demo.record"} {
		var see report.Report
		type topic struct {
			Name         string
			Count, Bytes int64
			HzMean       *float64 `json:"hz_mean"`
		}
		var check struct {
			Messages                int64
			Errors, Warnings, Notes int
			Findings                []struct{ Code, Message string }
			Topics                  []topic
		}
		var info struct {
			Size    int64
			StartNS string `json:"start_ns"`
			Topics  []topic
		}
		read := func(to any, words ...string) {
			t.Helper()
			out, _ := prints(append(words, path)...)
			if err := json.Unmarshal(out, to); err != nil {
				t.Fatal(err)
			}
		}
		read(&see, "report", "--json")
		read(&check, "check", "--json")
		read(&info, "info", "--json", "--scan", "always")
		r := see.Recordings[0]
		if r.Messages != check.Messages || r.Errors != check.Errors || r.Warnings != check.Warnings ||
			r.Notes != check.Notes || r.Size != info.Size || r.Start != info.StartNS || len(r.Findings) != len(check.Findings) ||
			len(r.Topics) != len(info.Topics) || len(r.Topics) != len(check.Topics) {
			t.Fatalf("%s: %+v", path, r)
		}
		for i, f := range r.Findings {
			if f.Code != check.Findings[i].Code || f.Message != check.Findings[i].Message {
				t.Errorf("%s: %+v, check has %+v", path, f, check.Findings[i])
			}
		}
		for i, x := range r.Topics {
			a, b := check.Topics[i], info.Topics[i]
			if x.Name != a.Name || x.Messages != a.Count || x.Bytes != a.Bytes || x.Messages != b.Count ||
				x.Messages > 2 && math.Abs(x.Rate/(*b.HzMean)-1) > 0.04 {
				t.Errorf("%s: %+v, check has %+v, info %+v", path, x, a, b)
			}
		}
	}
}

// TestSeeReferee: a plot, two tracks, the transforms and the counts of a report are what a loop in Python finds.
func TestSeeReferee(t *testing.T) {
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Error("BAGCONV_ROSBAGS_PYTHON is missing")
		}
		t.Skip("no rosbags")
	}
	const path = "../../../testdata/demo.bag"
	var said bytes.Buffer
	cmd := exec.Command(python, "testdata/see.py", path)
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err, said.String())
	}
	var want struct {
		Times, Speeds []float64
		Track, Fixes  [][2]float64
		Edges, Counts map[string]int64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	var see report.Report
	out, _ := prints("report", "--json", path)
	if err := json.Unmarshal(out, &see); err != nil {
		t.Fatal(err)
	}
	r := see.Recordings[0]
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.00051 } // times to 1 us, places to 1 mm
	plot := r.Plots[slices.IndexFunc(r.Plots, func(p report.Plot) bool { return p.Field == "twist.twist.linear.x" })]
	if len(want.Times) < 50 || !slices.EqualFunc(plot.Times, want.Times, near) ||
		!slices.EqualFunc(plot.Values, want.Speeds, near) {
		t.Errorf("%+v, rosbags has %v %v", plot, want.Times, want.Speeds)
	}
	for _, x := range r.Tracks {
		list := map[string][][2]float64{"odometry": want.Track, "fix": want.Fixes}[x.Kind]
		if len(list) != len(x.X) || len(list) == 0 {
			t.Fatalf("%+v, rosbags has %v", x, list)
		}
		for i, p := range list {
			if !near(x.X[i], p[0]) || !near(x.Y[i], p[1]) {
				t.Errorf("%s: %v, %v, rosbags has %v", x.Topic, x.X[i], x.Y[i], p)
			}
		}
	}
	edges, counts := map[string]int64{}, map[string]int64{}
	for _, f := range r.Frames {
		if f.Parent != "" {
			edges[f.Topic+" "+f.Parent+" "+f.Name] = f.Count
		}
	}
	for _, x := range r.Topics {
		counts[x.Name] = x.Messages
	}
	for _, x := range []struct{ got, want map[string]int64 }{{edges, want.Edges}, {counts, want.Counts}} {
		if len(x.want) == 0 || len(x.got) != len(x.want) {
			t.Errorf("%v, rosbags has %v", x.got, x.want)
		}
		for k, n := range x.want {
			if x.got[k] != n {
				t.Errorf("%s: %d, rosbags has %d", k, x.got[k], n)
			}
		}
	}
}

// TestSeeHash: copies in other formats have the same hash, and a part has another.
func TestSeeHash(t *testing.T) {
	const bag = "../../../testdata/demo.bag"
	dir := t.TempDir()
	hashes := map[string]string{}
	for name, words := range map[string][]string{"demo.bag": nil, "demo.mcap": {bag, ""}, "ros2/": {bag, ""},
		"part.bag": {"filter", bag, "", "-x", "/gps/fix"}} {
		path := bag
		if words != nil {
			path = filepath.Join(dir, name) + strings.Repeat("/", strings.Count(name, "/"))
			words[slices.Index(words, "")] = path
			must(t, append([]string{"-q"}, words...)...)
		}
		var see report.Report
		out, _ := prints("report", "--json", "--hash", path)
		if err := json.Unmarshal(out, &see); err != nil {
			t.Fatal(err)
		}
		hashes[name] = see.Recordings[0].Hash
	}
	whole := hashes["demo.bag"]
	if len(whole) != 64 || hashes["demo.mcap"] != whole || hashes["ros2/"] != whole || hashes["part.bag"] == whole {
		t.Errorf("%v", hashes)
	}
}
