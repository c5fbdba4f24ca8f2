package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// ErrRunning is the error if another batch works on the same manifest.
var ErrRunning = errors.New("another batch is running with this manifest")

// A running is the file MANIFEST.running: there while a batch runs, and after
// one was killed. It is locked if the system can do so, and has a JSON string
// per line, the path of each output that may have been written without a line
// in the manifest.
type running struct {
	fs    storage.FS
	path  string          // of the object on a store
	pulse *pulse          // the same; nil: it is a file
	file  *os.File        // nil on a store
	old   map[string]bool // claims of a run that was killed
	left  map[string]bool // those of old that this run has nothing to do with
}

func lockRunning(fsys storage.FS, manifest string) (*running, error) {
	path := manifest + ".running"
	if iox.IsURL(path) {
		return lockDistant(fsys, manifest, path)
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	r := &running{fs: fsys, file: f}
	if err := iox.TryLock(f); errors.Is(err, iox.ErrLocked) { // a file system without locks is no reason to stop
		return nil, errors.Join(&os.PathError{Op: "lock", Path: path, Err: ErrRunning}, f.Close())
	}
	// The one before us may have removed the file between our two calls.
	ours, err := f.Stat()
	there, thereErr := os.Stat(path)
	if err != nil || thereErr != nil || !os.SameFile(ours, there) {
		return nil, errors.Join(&os.PathError{Op: "lock", Path: path, Err: ErrRunning}, f.Close())
	}
	if err := r.load(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// load reads the claims. A file with anything else in it is somebody else's; only
// the last line before a claim may be torn, as a kill leaves it.
func (r *running) load(path string) error {
	text, err := readAll(r.fs, path)
	if err != nil {
		return err
	}
	r.old = map[string]bool{}
	for _, line := range bytes.Split(text, []byte{'\n'}) {
		var output string
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &output) == nil:
			r.old[iox.Canonical(output)] = true
		case line[0] != '"': // a torn line begins as a whole one does: nothing was begun yet
			return noManifest(path, ErrNoManifest)
		}
	}
	return nil
}

// claim adds outputs, and waits for the disk.
func (r *running) claim(outputs []string) error {
	if r.file == nil {
		return r.claimDistant(outputs)
	}
	text := append([]byte{'\n'}, claimLines(outputs)...) // after a torn line
	if _, err := r.file.Write(text); err != nil {
		return err
	}
	return iox.Sync(r.file)
}

// settle finds the old claims that are not about what this run writes or what
// has a line in the manifest: they stay for a run that is about them.
func (r *running) settle(outputs []string, entries []Entry) {
	r.left = maps.Clone(r.old)
	for _, path := range outputs {
		delete(r.left, path)
	}
	for i := range entries {
		delete(r.left, entries[i].Output)
	}
}

// close releases the lock, and leaves the file only if claims are left.
func (r *running) close(left map[string]bool) error {
	if r.file == nil {
		return r.closeDistant(left)
	}
	if len(left) > 0 {
		err := r.file.Truncate(0)
		if err == nil {
			err = r.claim(slices.Sorted(maps.Keys(left)))
		}
		return errors.Join(err, r.file.Close())
	}
	if removeLast {
		return errors.Join(r.file.Close(), os.Remove(r.file.Name()))
	}
	return errors.Join(os.Remove(r.file.Name()), r.file.Close())
}
