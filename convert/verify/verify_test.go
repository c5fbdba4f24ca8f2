package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

var registry = all.Registry()

// recordings lists the recordings in a folder that can be read.
func recordings(t *testing.T, root string) []string {
	t.Helper()
	if _, err := os.Stat(root); err != nil {
		t.Skipf("%s is not here", root)
	}
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && !exists(filepath.Join(path, "metadata.yaml")) {
			return nil
		}
		f, err := registry.Detect(path)
		if err != nil {
			return nil
		}
		r, err := f.Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			return nil
		}
		out = append(out, path)
		if d.IsDir() {
			defer r.Close()
			return filepath.SkipDir
		}
		return r.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func compare(t *testing.T, job verify.Job, a, b string) *verify.Result {
	t.Helper()
	var err error
	job.A.Path, job.B.Path = a, b
	for _, s := range []*verify.Side{&job.A, &job.B} {
		if s.Format, err = registry.Detect(s.Path); err != nil {
			t.Fatal(err)
		}
	}
	res, err := verify.Run(context.Background(), job)
	if err != nil {
		t.Fatalf("%s and %s: %v", a, b, err)
	}
	return res
}

var dataFolders = []string{"ros1", "rosbag2", "cyber"}

// TestConversions: each recording of the data folder, converted to each format,
// holds the same.
func TestConversions(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for _, folder := range dataFolders {
		root := filepath.Join("../../../shared/data", folder)
		t.Run(folder, func(t *testing.T) {
			for _, path := range recordings(t, root) {
				for _, sink := range registry.Formats() {
					if sink.Create == nil {
						continue
					}
					n++
					out := filepath.Join(dir, fmt.Sprintf("%d%s", n, sink.Extensions[0]))
					source, _ := registry.Detect(path)
					report, err := convert.Run(context.Background(), convert.Job{
						Source: path, SourceFormat: source, Sink: out, SinkFormat: sink, Write: storage.WriteOptions{NoSync: true},
					})
					if err != nil {
						t.Errorf("%s to %s: %v", path, sink.Name, err)
						continue
					}
					res := compare(t, verify.Job{Ignore: []verify.Code{verify.Unconvertible}}, path, out)
					if !res.Equal {
						t.Errorf("%s to %s:%s", path, sink.Name, describe(res, report))
					}
					os.RemoveAll(out)
				}
			}
		})
	}
}

func describe(r *verify.Result, report *convert.Report) string {
	var b strings.Builder
	for _, t := range r.Topics {
		if !t.Equal {
			fmt.Fprintf(&b, "\n  %s: %+v %+v differ %d first %+v", t.Name, t.A, t.B, t.Different, *t.First)
		}
	}
	for _, e := range r.Exceptions {
		fmt.Fprintf(&b, "\n  except %+v", e)
	}
	for _, l := range report.Losses {
		fmt.Fprintf(&b, "\n  loss %+v", l)
	}
	return b.String()
}
