package iox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/storage"
)

// An unnamer is a storage.FS that has files without a name.
type unnamer interface {
	Unnamed(dir string) (storage.File, error)
}

// TempFile makes an empty file in dir that has no name, so that nothing is left of it
// however the process ends. On a system that cannot do that, Close removes it. If dir is in a
// store, the file is made in the folder for temporary files.
func TempFile(fsys storage.FS, dir string) (storage.File, error) {
	fsys = FS(fsys)
	if store(fsys, dir) != nil {
		fsys, dir = OS, os.TempDir()
	}
	if u, ok := fsys.(unnamer); ok {
		if f, err := u.Unnamed(dir); err == nil {
			return f, nil // not every file system can; a folder that is not there is found below
		}
	}
	path := filepath.Join(dir, fmt.Sprintf(".bagconv-%016x.tmp", rand.Uint64()))
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if fsys.Remove(path) == nil {
		return f, nil
	}
	return &namedTemp{f, fsys}, nil
}

// A namedTemp is a file that could not be removed while it is open.
type namedTemp struct {
	storage.File
	fs storage.FS
}

func (t *namedTemp) Close() error {
	err := t.File.Close()
	if e := t.fs.Remove(t.Name()); err == nil {
		err = e
	}
	return err
}
