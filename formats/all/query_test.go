package all

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// maxRecording bounds the files that are queried, in bytes.
const maxRecording = 64 << 20

// recordings lists the files and folders of all recordings.
func recordings(t *testing.T) (list []string) {
	for _, root := range append(samples.Roots(t), "../../testdata/demo.bag", "../../testdata/tiny.bag",
		"../../testdata/demo.record", "../../testdata/tiny.record") {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if _, err := os.Stat(filepath.Join(path, "metadata.yaml")); err == nil {
					list = append(list, path)
				}
				return nil
			}
			st, err := d.Info()
			if err == nil && st.Size() <= maxRecording {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestQueryRecordings compares queries of every recording with reading all of
// it. Of a damaged one a query may return an error instead, or, with a warning, less.
func TestQueryRecordings(t *testing.T) {
	held, refused, damaged := 0, 0, 0
	for _, path := range recordings(t) {
		r, err := Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			continue // no recording, or one that nothing can be read of
		}
		info := storagetest.InfoOf(r)
		if storage.ReaderCapabilities(r).Query == nil {
			t.Errorf("%s: format %s has no queries", path, info.Format)
		}
		switch err := tryQuery(r); {
		case err != nil && !isSaid(err):
			t.Errorf("%s: %v", path, err)
		case err != nil:
			refused++
			t.Logf("%s: %v", path, err)
		case isDamaged(t, r):
			damaged++
		default:
			held++
			t.Run(strings.TrimLeft(path, "./"), func(t *testing.T) { storagetest.CheckQueries(t, r, 1, 20) })
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	t.Logf("%d recordings held, %d refused, %d damaged", held, refused, damaged)
	if held < 4 {
		t.Errorf("only %d recordings could be queried", held)
	}
}

// tryQuery runs through all messages, forwards and backwards.
func tryQuery(r storage.Reader) error {
	for _, reverse := range []bool{false, true} {
		for _, err := range storage.ReaderCapabilities(r).Query.Query(context.Background(), storage.Query{Reverse: reverse}) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isSaid reports whether it is an error that a query of a damaged recording may have.
func isSaid(err error) bool {
	var e *storage.Error
	return errors.As(err, &e) && (errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrUnsupported) ||
		errors.Is(err, storage.ErrTruncated))
}

func isDamaged(t *testing.T, r storage.Reader) bool {
	info := storagetest.InfoOf(r)
	for _, w := range info.Warnings {
		if w.Damage {
			return true
		}
	}
	return false
}
