package iox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A journal lists which names Commit moves, when that is not one step of the file
// system. It is on the disk before the first name moves, so that CleanUp can
// finish what a process that was killed has begun. As JSON it is the file journal of
// the staging folder; a file that is not whole is of a Commit that had not begun.
type journal struct {
	New []string     `json:"new"` // from the folder new to the folder of the output
	Old []journalOld `json:"old"` // from the folder of the output to old, before
}

// A journalOld is what stands where an output will be. The size and time distinguish it from
// something else that somebody may put there later.
type journalOld struct {
	Name    string `json:"name"`
	Dir     bool   `json:"dir"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime_ns"`
}

// is reports whether a file is the file of the journal.
func (j *journalOld) is(st os.FileInfo) bool {
	return st.IsDir() == j.Dir && st.Size() == j.Size && st.ModTime().UnixNano() == j.ModTime
}

// An uncleanError is the error of a Commit that failed and could not take back what it
// had done.
type uncleanError struct {
	stage string
	err   error
}

func (e *uncleanError) Error() string {
	return fmt.Sprintf("the names could not be moved back: %v; what stood there before may be in %s, and the next run "+
		"that writes there puts the new files in place", e.err, e.stage)
}

func (e *uncleanError) Unwrap() error { return e.err }

// place moves all that is new to its place.
func (o *Output) place(names, old []string) error {
	j, err := o.survey(names, old)
	if err != nil {
		return err
	}
	if p, ok := o.fs.(placer); ok {
		if err := p.Place(o.TempDir(), o.dir, names, old, o.overwrite); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if o.sync {
		for _, name := range names {
			path := filepath.Join(o.TempDir(), name)
			if st, err := o.fs.Stat(path); err != nil {
				return err
			} else if !st.IsDir() {
				continue
			}
			if err := SyncDir(o.fs, path); err != nil {
				return err
			}
		}
	}
	switch {
	case len(names) == 1 && len(j.Old) == 0:
		err := o.moveIn(names[0])
		if o.overwrite && errors.Is(err, fs.ErrExist) {
			if _, statErr := o.fs.Stat(filepath.Join(o.dir, names[0])); statErr == nil { // it came meanwhile, from a rival
				return o.place(names, old)
			}
		}
		return err
	case len(names) == 1 && len(j.Old) == 1 && j.Old[0].Name == names[0]:
		if err := o.exchange(j); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return o.moveAll(j)
}

// survey finds what the names will replace.
func (o *Output) survey(names, old []string) (*journal, error) {
	j := &journal{New: names}
	all := append(slices.Clone(names), old...)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		path := filepath.Join(o.dir, name)
		st, err := o.fs.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !o.overwrite:
			return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
		j.Old = append(j.Old, journalOld{Name: name, Dir: st.IsDir(), Size: st.Size(), ModTime: st.ModTime().UnixNano()})
	}
	return j, nil
}

// moveIn moves to a name that is free.
func (o *Output) moveIn(name string) error {
	from, to := filepath.Join(o.TempDir(), name), filepath.Join(o.dir, name)
	if err := RenameNew(o.fs, from, to); err != nil {
		return err
	}
	if err := o.syncDir(); err != nil {
		// The name may not outlive a power cut: an output that is not there is
		// better than one that may not be.
		return errors.Join(err, RenameNew(o.fs, to, from))
	}
	return nil
}

// exchange swaps the new and the old in one step. Of two files the new one replaces
// the old one if the system cannot swap.
func (o *Output) exchange(j *journal) error {
	name := j.New[0]
	from, to := filepath.Join(o.TempDir(), name), filepath.Join(o.dir, name)
	err := Exchange(o.fs, from, to)
	if errors.Is(err, errors.ErrUnsupported) && !j.Old[0].Dir {
		st, statErr := o.fs.Stat(from)
		switch {
		case statErr != nil:
			return statErr
		case st.IsDir():
			return err
		}
		if err := o.fs.Rename(from, to); err != nil {
			return err
		}
		return o.syncDir()
	}
	if err != nil {
		return err
	}
	if err := o.syncDir(); err != nil {
		return errors.Join(err, Exchange(o.fs, from, to))
	}
	return nil
}

// moveAll moves several names, with a journal.
func (o *Output) moveAll(j *journal) error {
	if len(j.Old) > 0 {
		if err := o.fs.Mkdir(filepath.Join(o.stage, oldName), 0o777); err != nil {
			return err
		}
	}
	if err := o.writeJournal(j); err != nil {
		return err
	}
	moves := j.moves(o.dir, o.stage)
	done := 0
	var err error
	for err == nil && done < len(moves) {
		if err = RenameNew(o.fs, moves[done].from, moves[done].to); err == nil {
			done++
		}
	}
	if err == nil {
		err = o.syncDir()
	}
	if err == nil {
		return o.fs.Remove(filepath.Join(o.stage, journalName))
	}
	for _, m := range slices.Backward(moves[:done]) {
		if e := RenameNew(o.fs, m.to, m.from); e != nil {
			return &uncleanError{o.stage, errors.Join(err, e)}
		}
	}
	if e := o.fs.Remove(filepath.Join(o.stage, journalName)); e != nil {
		return &uncleanError{o.stage, errors.Join(err, e)}
	}
	return err
}

// A move is a name that changes.
type move struct{ from, to string }

// moves returns the moves of a journal, in their order.
func (j *journal) moves(dir, stage string) (list []move) {
	for i := range j.Old {
		list = append(list, move{filepath.Join(dir, j.Old[i].Name), filepath.Join(stage, oldName, j.Old[i].Name)})
	}
	for _, name := range j.New {
		list = append(list, move{filepath.Join(stage, newName, name), filepath.Join(dir, name)})
	}
	return list
}

// writeJournal writes the journal. All that it names is on the disk before.
func (o *Output) writeJournal(j *journal) error {
	if o.sync {
		if err := SyncDir(o.fs, o.TempDir()); err != nil {
			return err
		}
	}
	if err := WriteJournal(o.fs, filepath.Join(o.stage, journalName), os.O_EXCL, o.sync, j); err != nil || !o.sync {
		return err
	}
	return errors.Join(SyncDir(o.fs, o.stage), SyncDir(o.fs, o.dir))
}

func (o *Output) syncDir() error {
	if !o.sync {
		return nil
	}
	return SyncDir(o.fs, o.dir)
}

// finish does the moves of a journal that are not done yet. If somebody has put
// something else into their way meanwhile, it moves nothing.
func (j *journal) finish(fsys storage.FS, dir, stage string) error {
	stat := func(parts ...string) (os.FileInfo, error) {
		st, err := fsys.Stat(filepath.Join(parts...))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return st, err
	}
	waits := map[string]bool{} // names that are still to come from new
	for _, name := range j.New {
		st, err := stat(stage, newName, name)
		if err != nil {
			return err
		}
		waits[name] = st != nil
	}
	var left journal
	for i := range j.Old {
		old := j.Old[i]
		if slices.Contains(j.New, old.Name) && !waits[old.Name] {
			continue // the new one stands there
		}
		there, err := stat(dir, old.Name)
		if err != nil {
			return err
		}
		aside, err := stat(stage, oldName, old.Name)
		switch {
		case err != nil:
			return err
		case aside != nil || there == nil:
		case !old.is(there):
			return fmt.Errorf("%s: it is not what stood there: %w", filepath.Join(dir, old.Name), fs.ErrExist)
		default:
			left.Old = append(left.Old, old)
		}
	}
	for _, name := range j.New {
		if !waits[name] {
			continue
		}
		there, err := stat(dir, name)
		if err != nil {
			return err
		}
		if there != nil && !slices.ContainsFunc(left.Old, func(o journalOld) bool { return o.Name == name }) {
			return fmt.Errorf("%s: it is not what stood there: %w", filepath.Join(dir, name), fs.ErrExist)
		}
		left.New = append(left.New, name)
	}
	for _, m := range left.moves(dir, stage) {
		if err := RenameNew(fsys, m.from, m.to); err != nil {
			return err
		}
	}
	if err := SyncDir(fsys, dir); err != nil {
		return err
	}
	return fsys.Remove(filepath.Join(stage, journalName))
}

// readJournal returns the journal of a staging folder, nil if there is none. It is
// an error when the file is not whole.
func readJournal(fsys storage.FS, stage string) (*journal, error) {
	path := filepath.Join(stage, journalName)
	var j journal
	if there, err := ReadJournal(fsys, path, &j); !there || err != nil {
		return nil, err
	}
	for _, name := range append(j.oldNames(), j.New...) {
		if filepath.Base(name) != name || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s: the name %.200q: %w", path, name, storage.ErrCorrupt)
		}
	}
	return &j, nil
}

func (j *journal) oldNames() (names []string) {
	for i := range j.Old {
		names = append(names, j.Old[i].Name)
	}
	return names
}
