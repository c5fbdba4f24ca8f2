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
	"sync"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// stateName is the folder of receipts, in the folder of all outputs.
const stateName = ".bagconv"

// A Store has the receipts of outputs: for each, what the last task that had to do with it
// has left. They tell which tasks are done, and which outputs are ours to replace.
type Store struct {
	FS storage.FS // nil: the operating system's

	mu   sync.Mutex
	made map[string]bool // folders
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

// Load returns the receipt of the output of a task, nil if there is none. One that cannot
// be understood is none.
func (s *Store) Load(t *Task) (*Result, error) {
	text, err := s.read(path(t.OutputDir, t.Output))
	for tries := 1; errors.Is(err, storage.ErrCorrupt) && tries < 10; tries++ { // on a store: another process has replaced it while it was read
		text, err = s.read(path(t.OutputDir, t.Output))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if json.Unmarshal(text, r) != nil || r.SchemaVersion != ResultVersion {
		return nil, nil
	}
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

// Save writes the receipt of the output of a task, and waits for the disk if sync is set. It appears
// whole, or not at all.
func (s *Store) Save(t *Task, r *Result, sync bool) error {
	fsys, name := iox.FS(s.FS), path(t.OutputDir, t.Output)
	if err := s.mkdir(fsys, filepath.Dir(name)); err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%016x.tmp", name, rand.Uint64())
	f, err := fsys.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(Line(r))
	if err == nil && sync {
		err = iox.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	return nil
}

// mkdir makes a folder with those above it, once.
func (s *Store) mkdir(fsys storage.FS, dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[dir] {
		return nil
	}
	if err := mkdirAll(fsys, dir); err != nil {
		return err
	}
	if s.made == nil {
		s.made = map[string]bool{}
	}
	s.made[dir] = true
	return nil
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
	return &Result{Task: t.ID, Entry: batch.Entry{SchemaVersion: ResultVersion, Input: t.Source, Output: t.Output, Format: t.Recipe.Format, Status: StatusPending}}
}

// DoneBy reports whether a receipt is that of the task, at a level of verification, and its output
// stands in fsys. r may be nil.
func (r *Result) DoneBy(fsys storage.FS, t *Task, verified string) bool {
	return r != nil && r.Task == t.ID && r.Done() && (verified == "" || r.Verified == verified) && (r.Stands(fsys) || r.Empty())
}

// Empty reports whether a task is done without an output: no message is in its range.
func (r *Result) Empty() bool { return r.Done() && len(r.OutputFiles) == 0 }

// Ours reports whether the output may be replaced that a receipt is about: a task has left it half
// done, or nobody has changed it since. r may be nil.
func (r *Result) Ours(fsys storage.FS) bool {
	return r != nil && (r.Status == StatusPending || r.Done() && r.Stands(fsys))
}
