package cli_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
)

// prints runs the program and returns its standard output and exit status.
func prints(args ...string) (out []byte, status int) {
	var b, e bytes.Buffer
	status = cli.Run(context.Background(), append([]string{"bagconv"}, args...), cli.Stdio{Out: &b, Err: &e},
		all.Registry())
	return b.Bytes(), status
}

// anything lists bags that are sound and broken, and files of the samples, recordings or not: every sixth, and all
// with BAGCONV_EXHAUSTIVE=1.
func anything(t *testing.T) []string {
	dir := t.TempDir()
	made := func(name string, args ...string) string {
		path := filepath.Join(dir, name)
		if err := makeBag(append(args, path)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	notes := filepath.Join(dir, "notes.bag")
	if err := os.WriteFile(notes, []byte("hello\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	paths := []string{
		made("in.bag"), made("lz4.bag", "-compression", "lz4"), made("none.bag", "-n", "0"),
		made("odd.bag", "-unknown", "-bare"), made("cut.bag", "-cut", "2000"),
		made("cut2.bag", "-cut", "5000"), notes, filepath.Join(dir, "missing.bag"),
	}
	for _, root := range samples.Roots(t) {
		n := 0
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if n++; err == nil && n%samples.Pick(1, 6, 12) == 0 {
				paths = append(paths, path)
			}
			return nil
		})
	}
	return paths
}

// TestSchemas: what the commands print for every file, broken ones included, is
// what the JSON Schemas in docs/schemas define; and nothing that bagconv writes has an
// error.
func TestSchemas(t *testing.T) {
	check, info, topics, report := loadSchema(t, "check.schema.json"), loadSchema(t, "info.schema.json"), loadSchema(t,
		"topics.schema.json"), loadSchema(t, "report.schema.json")
	list := loadSchema(t, "list.schema.json")
	section := loadSchema(t, "section.schema.json")
	sizes := loadSchema(t, "sizes.schema.json")
	reindex := loadSchema(t, "reindex.schema.json")
	defs := loadSchema(t, "defs.schema.json")
	verify := loadSchema(t, "verify.schema.json")
	valid := func(s *jsonSchema, want []int, args ...string) int {
		t.Helper()
		out, status := prints(args...)
		if wrong := s.validate(out); len(wrong) > 0 {
			t.Errorf("bagconv %s: %s\n%.2000s", strings.Join(args, " "), strings.Join(wrong, "\n"), out)
		}
		for _, w := range want {
			if status == w {
				return status
			}
		}
		t.Errorf("bagconv %s: exit status %d", strings.Join(args, " "), status)
		return status
	}
	paths := anything(t)
	statuses := map[int]int{}
	sinks := []string{"out", "out.bag", "out.record"}
	converted := map[int]int{}
	for i, path := range paths {
		status := valid(check, []int{0, 1, 4}, "check", "--json", path)
		statuses[status]++
		valid(info, []int{0, 1, 3}, "info", "--json", path)
		if _, refused := prints("list", "parts", "--json", path); status == 1 || refused == 1 {
			continue // topics prints nothing then, and nothing can be converted; or it is a folder of recordings
		}
		valid(topics, []int{0, 3}, "info", "--topics", "--json", path)
		valid(sizes, []int{0, 3}, "info", "--sizes", "--json", path)
		valid(reindex, []int{0, 1}, "reindex", "--dry-run", "--json", path)
		if i%4 == 0 {
			valid(defs, []int{0, 1, 3}, "defs", "which", "--json", path)
		}
		valid(info, []int{0, 3}, "info", "--json", "--scan", "never", path)
		if listed := valid(list, []int{0, 3}, "list", "attachments", "--json", path, "--extract",
			filepath.Join(t.TempDir(), "x")); listed == 0 {
			valid(list, []int{0}, "list", "attachments", "--json", path)
		}
		for _, word := range []string{"records", "chunks", "connections", "parts"} {
			out, _ := prints("list", word, "--json", path)
			for n, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
				if wrong := section.validate(line); len(line) > 0 && n < 100 && len(wrong) > 0 {
					t.Errorf("list %s %s: %s\n%.500s", word, path, strings.Join(wrong, "\n"), line)
				}
			}
		}
		for k, sink := range sinks {
			if i%len(sinks) != k && i >= 6 {
				continue
			}
			out := filepath.Join(t.TempDir(), sink)
			status := valid(report, []int{0, 3, 1}, "--json", "--no-sync", path, out)
			if converted[status]++; status != 1 { // whatever the input was like, the output is not damaged
				wanted := []int{0}
				if said, _ := prints("check", "--json", path); strings.Contains(string(said), `"message-undecodable"`) {
					wanted = []int{0, 4} // messages that were not messages stay so
				}
				valid(check, wanted, "check", "--json", "--fail-on", "error", out)
				valid(verify, []int{0, 3}, "verify", "--json", "--ignore", "unconvertible", path, out)
			}
		}
	}
	if statuses[0] == 0 || statuses[1] == 0 || statuses[4] == 0 || converted[0] == 0 || converted[3] == 0 {
		t.Errorf("statuses of check %v, of convert %v", statuses, converted)
	}
	valid(check, []int{4}, append([]string{"check", "--json"}, paths[2:5]...)...)
	valid(info, []int{1}, "info", "--json", paths[0], paths[7])
	valid(report, []int{1}, "--json", "--no-sync", "--strict", paths[4], filepath.Join(t.TempDir(), "out.bag"))
	valid(report, []int{0}, "split", "--json", "--no-sync", "--at", "400ms", paths[0],
		filepath.Join(t.TempDir(), "out.bag"))
	valid(report, []int{1}, "split", "--json", "--no-sync", "--at", "400ms", "--strict", paths[3],
		filepath.Join(t.TempDir(), "out"), "--to", "db3")
	valid(report, []int{0}, "merge", "--json", "--no-sync", paths[0], paths[1], filepath.Join(t.TempDir(), "out.bag"))
	valid(verify, []int{4}, "verify", "--json", paths[0], paths[2])
	valid(verify, []int{4}, "verify", "--json", "--level", "counts", paths[0], paths[2])
	for _, encrypted := range samples.Glob(t, "ros1/generated/encrypted-none.bag") { // found to be a bag, and not read
		valid(verify, []int{1}, "verify", "--json", paths[0], encrypted)
	}
	valid(loadSchema(t, "index.schema.json"), []int{5}, "index", "--json", "-o", filepath.Join(t.TempDir(), "c.sqlite"),
		paths[0], paths[6])
	see := loadSchema(t, "see.schema.json")
	valid(see, []int{0}, "report", "--json", "../../../testdata/demo.bag")
	valid(see, []int{0}, "report", "--json", "--quick", "../../../testdata/demo.record", "../../../testdata/demo.bag")
	valid(see, []int{3}, "report", "--json", paths[0], paths[4])
	valid(loadSchema(t, "formats.schema.json"), []int{0}, "formats", "--json")
}
