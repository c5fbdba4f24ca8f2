package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// ErrNoManifest is wrapped by the error for a file with other lines than a
// manifest has.
var ErrNoManifest = errors.New("not a manifest of a batch")

// A Manifest is the file with a line for each finished input. Open, then Begin,
// then Append for each input, then Close. The line of an earlier run about an input stays until
// there is a new one.
type Manifest struct {
	NoSync bool // lines do not wait for the disk, as their outputs do not

	fs      storage.FS
	path    string
	lock    *os.File // nil on a store, and if it is only read
	entries []Entry  // of earlier runs, one per input, in the order of the file
	torn    bool     // the file has more than entries

	mu        sync.Mutex
	file      *os.File // nil on a store, and before Begin
	added     []*Entry
	unwritten []byte   // lines for which the disk had no room
	waiting   []func() // what is to be called when all lines are safe
}

// Open locks a manifest in fsys (nil: the operating system's) and reads what it has. Without
// resume a manifest that exists is an error that wraps fs.ErrExist, unless replace begins it
// anew. Nothing is written but the file of the lock.
func Open(fsys storage.FS, path string, resume, replace bool) (*Manifest, error) {
	if st, err := iox.FS(fsys).Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	locked, err := lock(path)
	if err != nil {
		return nil, err
	}
	m, err := Read(fsys, path, resume, replace)
	if err != nil {
		return nil, errors.Join(err, unlock(locked))
	}
	m.lock = locked
	return m, nil
}

// Read is Open without a lock and without any writing, to look only.
func Read(fsys storage.FS, path string, resume, replace bool) (*Manifest, error) {
	m := &Manifest{fs: iox.FS(fsys), path: path}
	return m, m.load(resume, replace)
}

// Check reports whether a path may be replaced by a manifest: nothing is there, or a file that begins
// as one. Other errors wrap ErrNoManifest.
func Check(fsys storage.FS, path string) error {
	fsys = iox.FS(fsys)
	st, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return notRegular(path)
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(lineStart))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if !bytes.HasPrefix(lineStart, head[:n]) {
		return noManifest(path, fmt.Errorf("line 1: %w", ErrNoManifest))
	}
	return nil
}

func noManifest(path string, err error) error {
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

func notRegular(path string) error {
	return noManifest(path, fmt.Errorf("not a regular file: %w", ErrNoManifest))
}

func (m *Manifest) load(resume, replace bool) error {
	st, err := m.fs.Stat(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return notRegular(m.path)
	case !resume && !replace:
		return &fs.PathError{Op: "create", Path: m.path, Err: fs.ErrExist}
	}
	f, err := m.fs.Open(m.path)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := m.parse(text.Bytes()); err != nil {
		return noManifest(m.path, err)
	}
	if !resume {
		m.entries, m.torn = nil, true
	}
	return nil
}

// lineStart is what a line begins with, so that what is torn in the first line
// is distinguished from a file of somebody else.
var lineStart = fmt.Appendf(nil, `{"schema_version":%d,"input":"`, SchemaVersion)

// parse reads the lines. The last one may be torn. If several are about one input
// the last one counts.
func (m *Manifest) parse(text []byte) error {
	at := map[string]int{}
	for n := 1; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		text = rest
		var e Entry
		err := json.Unmarshal(line, &e)
		e.Canonical()
		if !whole {
			m.torn = true
			if n == 1 && !bytes.HasPrefix(line, lineStart) && !bytes.HasPrefix(lineStart, line) {
				return fmt.Errorf("line 1: %w", ErrNoManifest)
			}
			break
		}
		if err != nil || e.Input == "" || e.Status == "" {
			return fmt.Errorf("line %d: %w", n, ErrNoManifest)
		}
		if e.SchemaVersion != SchemaVersion {
			return fmt.Errorf("line %d: %w of this version: schema_version is %d", n, ErrNoManifest, e.SchemaVersion)
		}
		if i, ok := at[e.Input]; ok {
			m.entries[i], m.torn = e, true
			continue
		}
		at[e.Input] = len(m.entries)
		m.entries = append(m.entries, e)
	}
	return nil
}

// Entries returns the entries of earlier runs, one per input. The slice belongs to the
// manifest.
func (m *Manifest) Entries() []Entry { return m.entries }

// Begin makes the file ready for lines. Close writes a manifest on a store: an object cannot grow.
func (m *Manifest) Begin() error {
	if iox.IsURL(m.path) {
		return nil
	}
	if m.torn {
		if err := m.rewrite(); err != nil {
			return err
		}
	}
	var err error
	m.file, err = os.OpenFile(m.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err == nil {
		err = iox.SyncDir(m.fs, filepath.Dir(m.path))
	}
	return err
}

// rewrite writes the whole file: the lines of earlier runs about inputs that this run has no line about, then the
// lines of this run.
func (m *Manifest) rewrite() error {
	return iox.Replace(m.fs, m.path, func(w io.Writer) error {
		again := m.again()
		var text []byte
		for i := range m.entries {
			if !again[m.entries[i].Input] {
				text = appendLine(text, &m.entries[i])
			}
		}
		for _, e := range m.added {
			text = appendLine(text, e)
		}
		_, err := w.Write(text)
		return err
	})
}

// again returns the inputs that both earlier runs and this run have lines about.
func (m *Manifest) again() map[string]bool {
	ours, again := map[string]bool{}, map[string]bool{}
	for _, e := range m.added {
		ours[e.Input] = true
	}
	for i := range m.entries {
		if input := m.entries[i].Input; ours[input] {
			again[input] = true
		}
	}
	return again
}

func appendLine(text []byte, e *Entry) []byte {
	line, err := json.Marshal(e)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return append(append(text, iox.ShowAll(string(line))...), '\n')
}

// Append writes the line of a finished input and waits for the disk, unless NoSync is set, then calls safe, perhaps
// beside others. If the disk is full, the line is kept, and written with the next one or by Close. On a store it is
// written by Close.
func (m *Manifest) Append(e *Entry, safe func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added, m.waiting = append(m.added, e), append(m.waiting, safe)
	if m.file == nil {
		return nil
	}
	m.unwritten = appendLine(m.unwritten, e)
	err := m.flush()
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

// flush writes the lines that are not written yet, all lines or nothing.
func (m *Manifest) flush() error {
	if len(m.unwritten) == 0 {
		return nil
	}
	end, err := m.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := m.file.Write(m.unwritten); err != nil {
		return errors.Join(err, m.file.Truncate(end))
	}
	m.unwritten = m.unwritten[:0]
	if !m.NoSync {
		if err := iox.Sync(m.file); err != nil {
			return err
		}
	}
	m.allSafe()
	return nil
}

// allSafe calls what waits for the lines. Stores answer late, but many questions at once.
func (m *Manifest) allSafe() {
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, 16)
	for _, safe := range m.waiting {
		places <- struct{}{}
		all.Go(func() {
			safe()
			<-places
		})
	}
	m.waiting = m.waiting[:0]
}

// Close ends the batch. After it the file has one line for each input. After Open it may be called without Begin.
func (m *Manifest) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.end(), unlock(m.lock))
}

func (m *Manifest) end() error {
	if m.file != nil {
		if err := errors.Join(m.flush(), m.file.Close()); err != nil || len(m.again()) == 0 {
			return err
		}
		if err := m.rewrite(); !errors.Is(err, syscall.ENOSPC) { // of several lines the last counts
			return err
		}
		return nil
	}
	if len(m.added) == 0 {
		return nil
	}
	err := m.rewrite()
	if err == nil {
		m.allSafe()
	}
	return err
}
