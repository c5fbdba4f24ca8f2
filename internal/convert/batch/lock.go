package batch

import (
	"errors"
	"fmt"
	"os"

	"github.com/bagconv/bagconv/internal/iox"
)

// ErrRunning is the error if another batch works on the same manifest.
var ErrRunning = errors.New("another batch is running with this manifest")

// lock makes and locks the file MANIFEST.running, which is empty, and there while a batch runs. A store has no locks:
// there it is nil.
func lock(manifest string) (*os.File, error) {
	path := manifest + ".running"
	if iox.IsURL(path) {
		return nil, nil
	}
	if st, err := os.Stat(path); err == nil && (!st.Mode().IsRegular() || st.Size() > 0) {
		return nil, noManifest(path, fmt.Errorf("not the lock of a batch: %w", ErrNoManifest))
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := iox.TryLock(f); errors.Is(err, iox.ErrLocked) { // a file system without locks is no reason to stop
		return nil, errors.Join(&os.PathError{Op: "lock", Path: path, Err: ErrRunning}, f.Close())
	}
	// The batch before us may have removed the file between our two calls.
	ours, err := f.Stat()
	there, thereErr := os.Stat(path)
	if err != nil || thereErr != nil || !os.SameFile(ours, there) {
		return nil, errors.Join(&os.PathError{Op: "lock", Path: path, Err: ErrRunning}, f.Close())
	}
	return f, nil
}

// unlock removes what lock has made.
func unlock(f *os.File) error {
	switch {
	case f == nil:
		return nil
	case removeLast:
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
	return errors.Join(os.Remove(f.Name()), f.Close())
}
