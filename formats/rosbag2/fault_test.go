package rosbag2

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// faultFS fails one operation, and all that follow it, as a full or broken disk
// does. Closing and removing always work.
type faultFS struct {
	storage.FS
	left *int // operations until the first that fails
}

type faultFile struct {
	storage.File
	left *int
}

var errFault = errors.New("injected fault")

func spend(left *int) error {
	if *left--; *left < 0 {
		return errFault
	}
	return nil
}

func (f faultFS) wrap(file storage.File, err error) (storage.File, error) {
	if err != nil {
		return nil, err
	}
	return faultFile{file, f.left}, nil
}

func (f faultFS) Open(name string) (storage.File, error) {
	if err := spend(f.left); err != nil {
		return nil, err
	}
	return f.wrap(f.FS.Open(name))
}

func (f faultFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	if err := spend(f.left); err != nil {
		return nil, err
	}
	return f.wrap(f.FS.OpenFile(name, flag, perm))
}

func (f faultFS) Mkdir(name string, perm os.FileMode) error {
	if err := spend(f.left); err != nil {
		return err
	}
	return f.FS.Mkdir(name, perm)
}

func (f faultFS) Rename(from, to string) error {
	if err := spend(f.left); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := spend(f.left); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f faultFile) Read(p []byte) (int, error) {
	if err := spend(f.left); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f faultFile) WriteAt(p []byte, off int64) (int, error) {
	if err := spend(f.left); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f faultFile) Write(p []byte) (int, error) {
	if err := spend(f.left); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f faultFile) Sync() error {
	if err := spend(f.left); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestWriteFaults fails each operation of a writer in turn: the error comes out
// and nothing is left.
func TestWriteFaults(t *testing.T) {
	topics, rows := sampleTopics(), sampleRows()
	for n := 0; ; n++ {
		dir := t.TempDir()
		left := n
		err := func() error {
			w, err := Create(context.Background(), filepath.Join(dir, "bag"), storage.WriteOptions{FS: faultFS{iox.OS, &left}})
			if err != nil {
				return err
			}
			for _, topic := range topics {
				if _, err = w.CreateTopic(topic); err != nil {
					break
				}
			}
			for i := 0; err == nil && i < len(rows); i++ {
				err = w.Write(&rows[i])
			}
			if e := w.Close(); e == nil && err != nil {
				t.Errorf("operation %d: Close forgot %v", n, err)
			} else if e != nil {
				err = e
			}
			return err
		}()
		entries, e := os.ReadDir(dir)
		check(t, e)
		if err == nil {
			if left < 0 {
				t.Fatalf("operation %d failed and nobody said so", n)
			}
			if n < 10 || len(entries) != 1 {
				t.Errorf("after %d operations: %v", n, entries)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Errorf("operation %d: %v", n, err)
		}
		if len(entries) != 0 && entries[0].Name() != "bag" {
			t.Errorf("operation %d left %v", n, entries)
		}
	}
}

// TestReadFaults fails each operation of a reader in turn. A disk that fails is
// an error, never less data.
func TestReadFaults(t *testing.T) {
	dir := bag(t, sampleRows()[:60])
	for n := 0; ; n++ {
		left := n
		rows := 0
		err := func() error {
			r, err := Open(context.Background(), dir, storage.ReadOptions{FS: faultFS{iox.OS, &left}})
			if err != nil {
				return err
			}
			defer func() { check(t, r.Close()) }()
			for {
				if _, err := r.ReadNext(); err == io.EOF {
					return nil
				} else if err != nil {
					if _, again := r.ReadNext(); again != err {
						t.Errorf("operation %d: %v, then %v", n, err, again)
					}
					return err
				}
				rows++
			}
		}()
		if err == nil {
			if left < 0 || rows != 60 {
				t.Fatalf("operation %d failed and nobody said so; %d rows", n, rows)
			}
			if n < 10 {
				t.Errorf("only %d operations", n)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Errorf("operation %d: %v", n, err)
		}
	}
}
