package rosbag1

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A faultFS fails its operation number n, and all later ones but removing.
type faultFS struct {
	storage.FS
	left *int
}

func (f faultFS) fault() error {
	if *f.left--; *f.left < 0 {
		return errFault
	}
	return nil
}

func (f faultFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	if err := f.fault(); err != nil {
		return nil, err
	}
	file, err := f.FS.OpenFile(name, flag, perm)
	return faultFile{file, f}, err
}

func (f faultFS) Rename(from, to string) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

type faultFile struct {
	storage.File
	fs faultFS
}

func (f faultFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fs.fault(); err != nil {
		f.File.WriteAt(p[:len(p)/2], off)
		return len(p) / 2, err
	}
	return f.File.WriteAt(p, off)
}

func (f faultFile) Sync() error {
	if err := f.fs.fault(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f faultFile) Close() error { return errors.Join(f.fs.fault(), f.File.Close()) }

// TestWriteFaults fails each operation in turn: the error comes out, and
// nothing is left behind.
func TestWriteFaults(t *testing.T) {
	messages := testMessages(20)
	for n := 0; ; n++ {
		left := n
		dir := t.TempDir()
		path := filepath.Join(dir, "a.bag")
		err := func() (err error) {
			w, err := createWriter(context.Background(), path, storage.WriteOptions{ChunkSize: 200, FS: faultFS{iox.OS, &left}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.Close()) }()
			for _, topic := range testTopics {
				if _, err := w.CreateTopic(topic); err != nil {
					return err
				}
			}
			for i := range messages {
				if err := w.Write(&messages[i]); err != nil {
					return err
				}
			}
			return w.Commit()
		}()
		if left >= 0 {
			if err != nil || n < 8 {
				t.Fatalf("after %d operations: %v", n, err)
			}
			equalMessages(t, readAll(t, open(t, path, storage.ReadOptions{Strict: true})), messages)
			return
		}
		if err == nil { // it was about the staging folder, when the bag stood in its place
			equalMessages(t, readAll(t, open(t, path, storage.ReadOptions{Strict: true})), messages)
			continue
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("operation %d fails: error %v", n, err)
		}
		if names, _ := os.ReadDir(dir); len(names) > 0 {
			t.Fatalf("operation %d fails: left behind: %v", n, names)
		}
	}
}
