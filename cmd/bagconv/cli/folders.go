package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/bagconv/bagconv/internal/iox"
)

func explainFolder(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return &failure{path: pe.Path, what: "cannot create the folder: " + pe.Err.Error(), hint: "choose another folder",
			err: err}
	}
	return err
}

// folders are the folders that a run has made, so that empty ones can go. The zero value has no
// folders. It may be used from several goroutines.
type folders struct {
	mu   sync.Mutex
	made []string // a folder comes before what is in it
}

// make makes a folder with all above it.
func (f *folders) make(dir string) error {
	if iox.IsURL(dir) {
		return nil // stores have no folders
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if st, err := os.Stat(d); err == nil && !st.IsDir() {
			return &os.PathError{Op: "mkdir", Path: d, Err: syscall.ENOTDIR}
		} else if err == nil || filepath.Dir(d) == d {
			break
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		switch err := os.Mkdir(d, 0o777); {
		case err == nil:
			f.made = append(f.made, d)
		case !errors.Is(err, os.ErrExist):
			return err
		}
	}
	return nil
}

// removeEmpty removes the folders in which nothing came to stand.
func (f *folders) removeEmpty() {
	for _, d := range slices.Backward(f.made) {
		_ = os.Remove(d) // fails for one that has something in it, as it should
	}
}
