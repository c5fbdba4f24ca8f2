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
// then Append for each input, then Close.
type Manifest struct {
	fs      storage.FS
	path    string
	entries []Entry // of earlier runs, one per input, in the order of the file
	torn    bool    // the file has more than entries
	ready   bool    // on a store: Begin was called
	running *running

	mu        sync.Mutex
	file      *os.File // nil on a store
	unwritten []byte   // lines for which the disk had no room
	text      []byte   // all lines of a manifest on a store; see pulse
	published int      // bytes of them that are written
}

// Open locks a manifest in fsys (nil: the operating system's) and reads what it has. Without resume one that exists is
// an error that wraps fs.ErrExist, unless replace begins it anew. Nothing is
// written but the file of the lock.
func Open(fsys storage.FS, path string, resume, replace bool) (*Manifest, error) {
	fsys = iox.FS(fsys)
	if st, err := fsys.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	running, err := lockRunning(fsys, path)
	if err != nil {
		return nil, err
	}
	m := &Manifest{fs: fsys, path: path, running: running}
	if err := m.load(resume, replace); err != nil {
		return nil, errors.Join(err, running.close(running.old))
	}
	return m, nil
}

// Read is Open without a lock and without any writing, to look only.
func Read(fsys storage.FS, path string, resume, replace bool) (*Manifest, error) {
	fsys = iox.FS(fsys)
	m := &Manifest{fs: fsys, path: path, running: &running{fs: fsys}}
	if err := m.running.load(path + ".running"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
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
	text, err := readAll(m.fs, m.path)
	if err != nil {
		return err
	}
	if err := m.parse(text); err != nil {
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

// parse reads the lines. The last one may be torn. Of several about one input
// the last counts.
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

// Entries returns those of earlier runs, one per input. The slice belongs to the
// manifest.
func (m *Manifest) Entries() []Entry { return m.entries }

// Claimed reports whether an earlier run that did not come to its end may have
// written an output: then it is no one else's.
func (m *Manifest) Claimed(output string) bool { return m.running.old[output] }

// Begin makes the file ready: it claims the outputs that will be written, so
// that they are known for ours if this run is killed, and drops the entries of
// inputs that are converted again. The claims are on the disk before the
// entries go.
func (m *Manifest) Begin(outputs []string, dropped map[string]bool) error {
	if err := m.running.claim(outputs); err != nil {
		return err
	}
	kept := m.entries[:0:0]
	for _, e := range m.entries {
		if !dropped[e.Input] {
			kept = append(kept, e)
		}
	}
	if m.torn || len(kept) < len(m.entries) {
		if err := m.rewrite(kept); err != nil {
			return err
		}
	}
	m.entries = kept
	m.running.settle(outputs, kept)
	if m.running.pulse != nil {
		m.beginDistant()
		m.ready = true
		return nil
	}
	var err error
	m.file, err = os.OpenFile(m.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err == nil {
		err = iox.SyncDir(m.fs, filepath.Dir(m.path))
	}
	return err
}

func (m *Manifest) rewrite(entries []Entry) error {
	out, err := iox.NewOutput(m.fs, m.path, true, true)
	if err != nil {
		return err
	}
	f, err := m.fs.OpenFile(out.Temp(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(textOf(entries))
	if err = errors.Join(err, iox.Sync(f), f.Close()); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// textOf returns the lines of entries.
func textOf(entries []Entry) (text []byte) {
	for i := range entries {
		text = appendLine(text, &entries[i])
	}
	return text
}

func appendLine(text []byte, e *Entry) []byte {
	line, err := json.Marshal(e)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return append(append(text, iox.ShowAll(string(line))...), '\n')
}

// Append writes the line of a finished input and waits for the disk. If the disk is full, the line is
// kept, and written with the next one or by Close. On a store it is written some seconds later, or by
// Close.
func (m *Manifest) Append(e *Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		m.text = appendLine(m.text, e)
		return nil
	}
	m.unwritten = appendLine(m.unwritten, e)
	err := m.flush()
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

// flush writes the lines that are not written yet, all of them or none.
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
	return iox.Sync(m.file)
}

// Close ends the batch: no output may be half done any more. The claims go when
// all lines are written. After Open it may be called without Begin.
func (m *Manifest) Close() error {
	if p := m.running.pulse; p != nil && m.ready {
		if err := p.write(); err != nil {
			return errors.Join(err, p.end())
		}
		return m.running.close(m.running.left)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return m.running.close(m.running.old)
	}
	if err := errors.Join(m.flush(), m.file.Close()); err != nil {
		return errors.Join(err, m.running.file.Close())
	}
	return m.running.close(m.running.left)
}
