package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// stateName is the folder of receipts, in the folder of all outputs.
const stateName = ".bagconv"

// A Store has the receipts of outputs. The receipt of an output is the result of the last task that wrote it. Receipts
// tell which tasks are done, and which outputs are ours to replace.
type Store struct {
	FS storage.FS // nil: the operating system's
}

// path returns the receipt of an output: its name is a hash, because names of outputs may
// be long.
func path(outputDir, output string) string {
	rel, err := filepath.Rel(outputDir, output)
	if err != nil {
		rel = output
	}
	h := sha256.Sum256([]byte(filepath.ToSlash(rel)))
	return filepath.Join(outputDir, stateName, hex.EncodeToString(h[:12])+".json")
}

// Load returns the receipt of the output of a task, nil if there is none or it cannot be
// understood. A receipt without text is pending: it was begun, and its bytes were lost.
func (s *Store) Load(t *Task) (*Result, error) {
	text, err := s.read(path(t.OutputDir, t.Output))
	// on a store: another process has replaced it while it was read
	for tries := 1; errors.Is(err, storage.ErrCorrupt) && tries < 10; tries++ {
		text, err = s.read(path(t.OutputDir, t.Output))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return t.Pending(), nil
	}
	r := &Result{}
	if json.Unmarshal(text, r) != nil || r.SchemaVersion != ResultVersion {
		return nil, nil
	}
	r.Manifest = iox.Canonical(r.Manifest)
	if r.Canonical(); r.Output != t.Output {
		return nil, nil
	}
	return r, nil
}

func (s *Store) read(name string) ([]byte, error) {
	iox.Refresh(s.FS, name) // other processes write it, and the output
	f, err := iox.FS(s.FS).Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxLine))
	return text, errors.Join(err, f.Close())
}

// Listed returns a function that reports whether a folder of outputs has a receipt of a task. If most tasks have no
// receipt, it is cheaper than Load for each.
func (s *Store) Listed(outputDir string) (func(t *Task) bool, error) {
	entries, err := iox.FS(s.FS).ReadDir(filepath.Join(outputDir, stateName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return func(t *Task) bool { return names[filepath.Base(path(t.OutputDir, t.Output))] }, nil
}

// Save writes the receipt of the output of a task, and waits for the disk if sync is set. It appears
// whole, or not at all, or, if it is pending, perhaps without text.
func (s *Store) Save(t *Task, r *Result, sync bool) error {
	name := path(t.OutputDir, t.Output)
	if r.Status == StatusPending || iox.IsURL(name) { // objects appear whole
		return s.write(name, os.O_TRUNC, r, sync)
	}
	temp := fmt.Sprintf("%s.%016x.tmp", name, rand.Uint64())
	err := s.write(temp, os.O_EXCL, r, sync)
	if err == nil {
		err = iox.FS(s.FS).Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, iox.FS(s.FS).Remove(temp))
	}
	return nil
}

func (s *Store) write(name string, flag int, r *Result, sync bool) error {
	fsys := iox.FS(s.FS)
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_WRONLY|flag, 0o666)
	for try := 0; errors.Is(err, fs.ErrNotExist) && try < 3; try++ { // Tidy of another process may be faster
		if err := mkdirAll(fsys, filepath.Dir(name)); err != nil {
			return err
		}
		f, err = fsys.OpenFile(name, os.O_CREATE|os.O_WRONLY|flag, 0o666)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(Line(r))
	if err == nil && sync {
		err = iox.Sync(f)
	}
	return errors.Join(err, f.Close())
}

// Remove removes the receipt of the output of a task, because something else has what it says. If it stays
// nevertheless, the task is done again.
func (s *Store) Remove(t *Task) { _ = iox.FS(s.FS).Remove(path(t.OutputDir, t.Output)) }

// Tidy removes the folder of the receipts of outputs if it is empty.
func (s *Store) Tidy(outputDir string) {
	if !iox.IsURL(outputDir) { // stores have no folders
		_ = iox.FS(s.FS).Remove(filepath.Join(outputDir, stateName))
	}
}

func mkdirAll(fsys storage.FS, dir string) error {
	if st, err := fsys.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	if above := filepath.Dir(dir); above != dir {
		if err := mkdirAll(fsys, above); err != nil {
			return err
		}
	}
	if err := fsys.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Pending returns the receipt of an output that a task is about to write.
func (t *Task) Pending() *Result {
	return &Result{Task: t.ID, Entry: batch.Entry{SchemaVersion: ResultVersion, Input: t.Source, Output: t.Output,
		Format: t.Recipe.Format, Status: StatusPending}}
}

// DoneBy reports whether a receipt is about the task, at a level of verification, and its output
// stands in fsys. r may be nil.
func (r *Result) DoneBy(fsys storage.FS, t *Task, verified string) bool {
	return r != nil && r.Task == t.ID && r.Done() && (verified == "" || r.Verified == verified) && (r.Stands(fsys) ||
		r.Empty())
}

// Empty reports whether a task is done without an output: no message is in its range.
func (r *Result) Empty() bool { return r.Done() && len(r.OutputFiles) == 0 }

// MayReplace reports whether the output of a receipt may be replaced: a task has left it half done, or
// nobody has changed it since. r may be nil.
func (r *Result) MayReplace(fsys storage.FS) bool {
	return r != nil && (r.Status == StatusPending || r.Done() && r.Stands(fsys))
}
