package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/batch"
)

// TestRanges: recordings of each format that are converted in ranges of time, by several shares, are
// what one conversion writes: the same messages in the same order, with the same counters.
func TestRanges(t *testing.T) {
	dir := t.TempDir()
	run := func(want int, args ...string) []byte {
		t.Helper()
		out, status := prints(args...)
		if status != want {
			t.Fatalf("bagconv %s: exit status %d, want %d: %s", strings.Join(args, " "), status, want, out)
		}
		return out
	}
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	demo, err := os.ReadFile("../../../testdata/demo.bag")
	if err != nil {
		t.Fatal(err)
	}
	merge := []string{"merge", "-q", "--no-sync"}
	for i := range 14 { // 4 MB
		name := at(fmt.Sprintf("part%02d.bag", i))
		write(t, name, string(demo))
		merge = append(merge, name, "--shift", fmt.Sprintf("%s=%dms", name, i*3000)) // they overlap
	}
	run(0, append(merge, at("d.bag"), "--chunk-size", "100k")...)
	run(0, "-q", "--no-sync", at("d.bag"), at("d")+"/")
	run(0, "-q", "--no-sync", at("d.bag"), at("d.record"), "--chunk-size", "100k")
	run(0, "-q", "--no-sync", at("d.bag"), at("d.mcap"), "--chunk-size", "100k")
	for _, source := range []string{"d.bag", "d", "d.record", "d.mcap"} {
		for _, to := range []string{"bag", "db3", "record", "mcap", "ros2mcap"} {
			t.Run(source+" to "+to, func(t *testing.T) {
				name := source + "-" + to
				plan := at(name + ".jsonl")
				level := "counts"
				if source == "d.bag" || to == "db3" {
					level = "content"
				}
				run(0, "plan", "-q", "-o", plan, "-O", at(name, "one"), "--to", to, "--no-sync", "--verify", level, at(source))
				run(0, "work", "-q", "--task", plan)
				run(0, "collect", "-q", plan)
				run(0, "plan", "-q", "-o", plan, "-O", at(name, "many"), "--to", to, "--no-sync", "--verify", level, at(source),
					"--range-size", "700k")
				text, _ := os.ReadFile(plan)
				parts := bytes.Count(text, []byte("\n"))
				if parts < 2 {
					t.Fatalf("%d parts", parts)
				}
				for i := range 2 {
					run(0, "work", "-q", "--task", plan, "--shard", fmt.Sprintf("%d/2", i))
				}
				run(0, "collect", "-q", plan)
				one, many := at(name, "one", "d"), at(name, "many", "d")
				switch to {
				case "record":
					one, many = one+".record", many+".record"
				case "bag", "mcap":
					files, _ := filepath.Glob(many + "_*")
					if len(files) != parts {
						t.Fatalf("%d files of %d parts", len(files), parts)
					}
					one, many = one+"."+to, many+"."+to
					run(0, append(append([]string{"merge", "-q", "--no-sync"}, files...), many)...)
				}
				run(0, "verify", "--exact", "header-seq,types,publish-time", one, many)
				if to != "bag" && to != "mcap" {
					run(0, "check", "--fail-on", "error", many)
				}
				if again := run(0, "work", "-q", "--task", plan); bytes.Count(again, []byte(`"skipped":true`)) != parts {
					t.Errorf("not all are skipped: %s", again)
				}
				run(0, "collect", "-q", plan)
				manifest, _ := os.ReadFile(at(name, "many", "manifest.jsonl"))
				if bytes.Count(manifest, []byte("\n")) != 1 {
					t.Errorf("the manifest: %s", manifest)
				}
				if level == "content" {
					sameContent(t, at(name, "one", "manifest.jsonl"), at(name, "many", "manifest.jsonl"),
						run(0, "verify", "--json", one, many))
				}
				if left, _ := filepath.Glob(at(name, "many", "*.parts")); len(left) > 0 {
					t.Errorf("left over: %v", left)
				}
			})
		}
	}
}

// sameContent compares the content sums of two manifests of one recording, and those of verify.
func sameContent(t *testing.T, one, many string, verified []byte) {
	t.Helper()
	sums := func(path string) map[string]batch.Digest {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var e batch.Entry
		if err := json.Unmarshal(text, &e); err != nil || len(e.Content) == 0 {
			t.Fatalf("%v, no content: %s", err, text)
		}
		list := map[string]batch.Digest{}
		for _, d := range e.Content {
			list[d.Topic] = d
		}
		return list
	}
	var result struct {
		Topics []struct {
			B struct{ Name, Hash, Sum string }
		}
	}
	if err := json.Unmarshal(verified, &result); err != nil {
		t.Fatal(err)
	}
	a, b := sums(one), sums(many)
	for name, d := range a {
		other := b[name]
		if d.Hash == "" || other.Hash != "" || other.Sum != d.Sum || other.Messages != d.Messages || other.Type != d.Type {
			t.Errorf("%s: %+v in one go, and %+v in parts", name, d, other)
		}
	}
	if len(a) != len(b) || len(a) != len(result.Topics) {
		t.Errorf("%d topics in one go, %d in parts, %d by verify", len(a), len(b), len(result.Topics))
	}
	for _, topic := range result.Topics {
		if d := a[topic.B.Name]; d.Hash != topic.B.Hash || d.Sum != topic.B.Sum {
			t.Errorf("%s: %+v in the manifest, %+v by verify", topic.B.Name, d, topic.B)
		}
	}
}
