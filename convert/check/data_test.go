package check_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

const shared = "../../../shared/data"

// recordings lists what of the shared data is a recording that can be opened.
func recordings(t *testing.T) (paths []string) {
	reg := all.Registry()
	err := filepath.WalkDir(shared, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if _, err := reg.Detect(path); err == nil && path != shared {
			paths = append(paths, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("there is no shared data")
	}
	return paths
}

func run(t *testing.T, path string, o check.Options) (*check.Result, error) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return check.Run(context.Background(), r, o)
}

func TestData(t *testing.T) {
	for _, path := range recordings(t) {
		res, err := run(t, path, check.Options{})
		if err != nil {
			t.Logf("%s: %v", path, err)
			continue
		}
		t.Logf("%s: %d messages, %d decoded", strings.TrimPrefix(path, shared), res.Messages, res.Decoded)
		for _, f := range res.Findings {
			t.Logf("  %d %s %s %s x%d @%d: %s", f.Number, f.Severity, f.Code, f.Topic, f.Count, f.Offset, f.Message)
		}
	}
}
