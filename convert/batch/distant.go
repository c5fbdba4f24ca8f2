package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An object of a store cannot grow, and cannot be locked. So a manifest there is written as a whole,
// every few seconds if there are new lines, and at the end. Inputs whose lines a batch has not written
// before it is killed are converted again. Beside it are
//
//	MANIFEST.running  the claims, as with files
//	MANIFEST.alive    written every aliveEvery while a batch runs: if it is old, the batch was killed
//
// Of two batches that find an old MANIFEST.alive at the same moment, neither is refused.

// The times of MANIFEST.alive. Clocks of machines may differ by less than aliveFor.
var (
	aliveEvery = 10 * time.Second
	aliveFor   = time.Minute
)

// A RunningError is ErrRunning of a batch that shows that it lives by signs: it may have been killed since the
// last one.
type RunningError struct {
	Age  time.Duration // of its last sign
	Left time.Duration // after which it counts as killed, without another one
}

func (e *RunningError) Error() string {
	round := func(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
	return fmt.Sprintf("%v: its last sign is %v old; if it was killed, try again in %v", ErrRunning, round(e.Age), round(e.Left))
}

func (e *RunningError) Unwrap() error { return ErrRunning }

// A pulse writes MANIFEST.alive, and the manifest.
type pulse struct {
	fs      storage.FS
	path    string // of the manifest
	stop    chan struct{}
	wait    sync.WaitGroup
	publish func() error // writes the manifest, if there are new lines; nil: there is none yet

	mu sync.Mutex // guards publish
}

// beginPulse locks a manifest.
func beginPulse(fsys storage.FS, path string) (*pulse, error) {
	name := path + ".alive"
	running := &os.PathError{Op: "lock", Path: path, Err: ErrRunning}
	switch st, err := fsys.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case time.Since(st.ModTime()) < aliveFor:
		age := max(time.Since(st.ModTime()), 0)
		running.Err = &RunningError{age, aliveFor - age}
		return nil, running
	default:
		if err := fsys.Remove(name); err != nil {
			return nil, err
		}
	}
	if err := putObject(fsys, name, []byte("\n"), os.O_EXCL); errors.Is(err, fs.ErrExist) {
		return nil, running
	} else if err != nil {
		return nil, err
	}
	p := &pulse{fs: fsys, path: path, stop: make(chan struct{})}
	p.wait.Go(p.run)
	return p, nil
}

func (p *pulse) run() {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for next := time.Now(); ; {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		_ = putObject(p.fs, p.path+".alive", []byte("\n"), os.O_TRUNC) // the next one may succeed
		if began := time.Now(); began.After(next) {
			_ = p.write() // the same, and the last one counts
			next = began.Add(20 * time.Since(began))
		}
	}
}

func (p *pulse) write() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.publish == nil {
		return nil
	}
	return p.publish()
}

// end stops the pulse, and unlocks the manifest.
func (p *pulse) end() error {
	close(p.stop)
	p.wait.Wait()
	return p.fs.Remove(p.path + ".alive")
}

// putObject writes an object, which appears whole.
func putObject(fsys storage.FS, path string, text []byte, flag int) error {
	f, err := fsys.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// lockDistant is lockRunning on a store.
func lockDistant(fsys storage.FS, manifest, path string) (*running, error) {
	p, err := beginPulse(fsys, manifest)
	if err != nil {
		return nil, err
	}
	r := &running{fs: fsys, path: path, pulse: p}
	if err := r.load(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, p.end())
	}
	return r, nil
}

// claimDistant writes all claims.
func (r *running) claimDistant(outputs []string) error {
	all := maps.Clone(r.old)
	if all == nil {
		all = map[string]bool{}
	}
	for _, path := range outputs {
		all[path] = true
	}
	if len(all) == 0 {
		return nil
	}
	return putObject(r.fs, r.path, claimLines(slices.Sorted(maps.Keys(all))), os.O_TRUNC)
}

// closeDistant leaves claims, or removes the object if there are none.
func (r *running) closeDistant(left map[string]bool) error {
	var err error
	if len(left) > 0 {
		err = putObject(r.fs, r.path, claimLines(slices.Sorted(maps.Keys(left))), os.O_TRUNC)
	} else if err = r.fs.Remove(r.path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, r.pulse.end())
}

// claimLines returns the lines of claims.
func claimLines(outputs []string) (text []byte) {
	for _, path := range outputs {
		line, err := json.Marshal(path)
		if err != nil {
			panic("internal error: " + err.Error())
		}
		text = append(append(text, iox.ShowAll(string(line))...), '\n')
	}
	return text
}

// beginDistant is the end of Begin on a store.
func (m *Manifest) beginDistant() {
	m.text = textOf(m.entries)
	p := m.running.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	p.publish = m.publish
}

// publish writes the object of a manifest, if it has new lines.
func (m *Manifest) publish() error {
	m.mu.Lock()
	text := m.text // nobody changes these bytes
	done := m.published
	m.mu.Unlock()
	if len(text) == done {
		return nil
	}
	err := putObject(m.fs, m.path, text, os.O_TRUNC)
	if err == nil {
		m.mu.Lock()
		m.published = len(text)
		m.mu.Unlock()
	}
	return err
}

// readAll reads a file or an object.
func readAll(fsys storage.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, f)
	return text.Bytes(), errors.Join(err, f.Close())
}
