// Package inplace changes a file in place, so that it is whole at every moment: new
// bytes are written after its end, and when they are on the disk, a few bytes in front are
// overwritten, which makes the new ones count. Readers of the
// format need no special code: before the overwriting the file is as it was, with bytes after
// its end that nothing refers to; after it, the file has the new content.
//
//	f, err := inplace.Open(fsys, path, sync)  // locked; what a killed run has left is mended
//	at, err := f.Begin(end)                   // new bytes begin at byte at
//	f.WriteAt(p, at) ...
//	err = f.Commit(inplace.Patch{Off: 13, Data: header})
//	err = f.Close()                           // without Commit: the file is as it was
//
// A journal beside the file, .NAME.journal, has its length before and, during Commit, the
// bytes that are overwritten, old and new. It is removed at the end. No reader needs it: it
// has for the next Open which bytes after the end a killed run has left, and finishes the
// overwriting if a power cut has torn it.
package inplace

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A File is a file that is changed in place. New bytes are written by WriteAt. It is for one
// goroutine at a time.
type File struct {
	storage.File
	fs    storage.FS
	path  string
	sync  bool
	start int64    // where new bytes begin; -1: before Begin
	left  *journal // of a run that was killed; nil: there is none
	keep  bool     // the journal is needed: the overwriting could not be undone
	done  bool     // after Commit

	applied bool // that run had overwritten what it wanted to
}

// A Patch is what Commit overwrites. It should lie in one page of 4096 bytes, which a
// process that is killed writes wholly or not at all.
type Patch struct {
	Off  int64
	Data []byte
}

// Open opens a file to change it, and locks it until Close. The error wraps iox.ErrLocked if
// another process does the same. Commit waits for the disk if sync is set.
func Open(fsys storage.FS, path string, sync bool) (*File, error) {
	fsys = iox.FS(fsys)
	f, err := fsys.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	p := &File{File: f, fs: fsys, path: path, sync: sync, start: -1}
	if err = iox.TryLock(f); err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = p.mend()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

// Mend does what Open does for a file that is then left as it is: it finishes a change that was
// torn, and removes the journal of one that was made.
func Mend(fsys storage.FS, path string, sync bool) error {
	if _, err := iox.FS(fsys).Stat(JournalPath(path)); err != nil {
		return ignoreMissing(err)
	}
	f, err := Open(fsys, path, sync)
	if err != nil {
		return err
	}
	return f.Close()
}

// mend finishes an overwriting that was torn.
func (p *File) mend() (err error) {
	if p.left, err = readJournal(p.fs, p.path); err != nil || p.left == nil {
		return err
	}
	oldest, newest := true, true
	for _, b := range p.left.Patches {
		now := make([]byte, len(b.New))
		if err := iox.ReadFull(p.File, now, b.Off); err != nil {
			return p.foreign()
		}
		oldest, newest = oldest && bytes.Equal(now, b.Old), newest && bytes.Equal(now, b.New)
		for i := range now {
			if now[i] != b.Old[i] && now[i] != b.New[i] {
				return p.foreign()
			}
		}
	}
	p.applied = len(p.left.Patches) > 0 && !oldest
	if oldest || newest && p.left.End == 0 {
		return nil
	}
	for _, b := range p.left.Patches {
		if _, err := p.File.WriteAt(b.New, b.Off); err != nil {
			return err
		}
	}
	if st, err := p.Stat(); err != nil || p.left.End > 0 && p.left.End < st.Size() {
		if err = errors.Join(err, p.Truncate(p.left.End)); err != nil {
			return err
		}
	}
	return p.flush()
}

func (p *File) foreign() error {
	return fmt.Errorf("a run that was killed has left %s, and the file was changed since; if it reads well, remove that: %w", JournalPath(p.path), storage.ErrCorrupt)
}

// End returns where the content of the file ends: after its last byte, or where a run that
// was killed before it overwrote anything had begun to write.
func (p *File) End() (int64, error) {
	st, err := p.Stat()
	if err != nil {
		return 0, err
	}
	if p.left != nil && !p.applied && p.left.Size < st.Size() {
		return p.left.Size, nil
	}
	return st.Size(), nil
}

// Begin starts the change of a file whose content ends at byte end, as its format knows it.
// It returns where new bytes begin: there, if what follows was left by a killed run or is
// nothing, else at the end of the file.
func (p *File) Begin(end int64) (at int64, err error) {
	st, err := p.Stat()
	if err != nil {
		return 0, err
	}
	if at = st.Size(); end > at {
		return 0, fmt.Errorf("%s: %d of %d bytes: %w", p.path, at, end, storage.ErrTruncated)
	}
	if p.left != nil && p.left.Size == end && end < at {
		if err := p.Truncate(end); err != nil {
			return 0, err
		}
		at = end
	}
	p.left = nil
	if err := p.writeJournal(&journal{Size: at}); err != nil {
		return 0, err
	}
	p.start = at
	return at, nil
}

// WriteAt writes new bytes.
func (p *File) WriteAt(b []byte, off int64) (int, error) {
	if p.start < 0 || p.done || off < p.start {
		return 0, fmt.Errorf("internal error: byte %d of %s is not to be written", off, p.path)
	}
	return p.File.WriteAt(b, off)
}

// Commit makes the new bytes count: it overwrites old ones, those of the patches in their
// order. On error the file is as it was, unless the error names a journal that stays.
func (p *File) Commit(patches ...Patch) error { return p.CommitAt(0, patches...) }

// CommitAt is Commit for a file that ends at byte end then, before where new bytes began: nothing
// needs the bytes that follow any more. 0: it ends where it does.
func (p *File) CommitAt(end int64, patches ...Patch) error {
	if p.start < 0 || p.done {
		return fmt.Errorf("internal error: there is nothing to commit to %s", p.path)
	}
	j := &journal{Size: p.start, End: end}
	for _, b := range patches {
		old := make([]byte, len(b.Data))
		if err := iox.ReadFull(p.File, old, b.Off); err != nil {
			return err
		}
		j.Patches = append(j.Patches, journalPatch{b.Off, old, b.Data})
	}
	if err := p.flush(); err != nil {
		return err
	}
	if err := p.writeJournal(j); err != nil {
		return err
	}
	if err := p.overwrite(j); err != nil {
		return err
	}
	p.done = true
	if end > 0 && p.flush() != nil {
		return nil // all is there; with the journal the next Open cuts it again, if that is needed
	}
	_ = p.fs.Remove(JournalPath(p.path)) // all is there: the next Open sees that
	return nil
}

// overwrite puts the new bytes of a journal in place, or the old ones back.
func (p *File) overwrite(j *journal) error {
	var err error
	for i := 0; i < len(j.Patches) && err == nil; i++ {
		_, err = p.File.WriteAt(j.Patches[i].New, j.Patches[i].Off)
	}
	if err == nil {
		err = p.flush()
	}
	if err == nil && j.End > 0 {
		err = p.Truncate(j.End)
	}
	if err == nil {
		return nil
	}
	for _, b := range j.Patches {
		if _, e := p.File.WriteAt(b.Old, b.Off); e != nil {
			p.keep = true
			return fmt.Errorf("%w; it could not be undone (%v): %s has what is missing, and the next run that changes the file finishes it", err, e, JournalPath(p.path))
		}
	}
	return errors.Join(err, p.flush())
}

func (p *File) flush() error {
	if !p.sync {
		return nil
	}
	return iox.Sync(p.File)
}

// Close unlocks the file. Without Commit it is then as it was.
func (p *File) Close() error {
	if p.File == nil {
		return nil
	}
	var err error
	switch {
	case p.start < 0 && p.applied: // there was nothing more to do
		err = ignoreMissing(p.fs.Remove(JournalPath(p.path)))
	case p.start >= 0 && !p.done && !p.keep:
		if err = p.Truncate(p.start); err == nil {
			err = ignoreMissing(p.fs.Remove(JournalPath(p.path)))
		}
	}
	err = errors.Join(err, p.File.Close())
	p.File = nil
	return err
}
