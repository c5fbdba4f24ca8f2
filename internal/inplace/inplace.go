// Package inplace changes a file in place, so that it is whole at every moment: new
// bytes are written after its end, and when they are on the disk, a few bytes in front are
// overwritten, which makes the new ones count. Readers of the
// format need no special code: before the overwriting the file is as it was, with bytes after
// its end that nothing refers to; after it, the file has the new content.
//
//	f, err := inplace.Open(ctx, path, options)  // locked; what a killed run has left is mended
//	at, err := f.Begin(end)                     // new bytes begin at byte at
//	f.WriteAt(p, at) ...
//	err = f.Commit(inplace.Patch{Off: 13, Data: header})
//	err = f.Close()                             // without Commit: the file is as it was
//
// Before Commit overwrites anything, the reader of the format reads the file as it will be, and must
// find all that it finds in it now; see Proof. Else the change is refused.
//
// A journal beside the file, .NAME.journal, has its length before and, during Commit, the
// bytes that are overwritten, old and new. It is removed at the end. No reader
// needs the journal. It tells the next Open which bytes after the end a killed run has left, and lets
// Open finish an overwriting that a power cut has torn. It belongs to the file: it lies beside the file
// that links lead to, and has a sum of the content. Begin refuses to change a file with several names.
package inplace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A File is a file that is changed in place. New bytes are written by WriteAt. It is for one
// goroutine at a time.
type File struct {
	storage.File
	ctx   context.Context
	o     Options
	fs    storage.FS
	path  string
	tail  storage.File // has the new bytes, from its start on, in a dry run; nil: they are in the file
	start int64        // where new bytes begin; -1: before Begin
	left  *journal     // of a run that was killed, or nil
	keep  bool         // the journal is needed: the overwriting could not be undone
	done  bool         // after Commit

	applied bool // the killed run had overwritten what it wanted to
}

// A Patch is what Commit overwrites. It should lie in one page of 4096 bytes, which a
// process that is killed writes wholly or not at all.
type Patch struct {
	Off  int64
	Data []byte
}

// NewPatch returns what makes new bytes of old ones at an offset: from the first that differs to the last.
func NewPatch(off int64, old, now []byte) Patch {
	from, to := 0, len(now)
	for from < to && now[from] == old[from] {
		from++
	}
	for to > from && now[to-1] == old[to-1] {
		to--
	}
	return Patch{Off: off + int64(from), Data: now[from:to]}
}

// Options are how a file is changed.
type Options struct {
	Format string     // its name
	Read   Opener     // of the format, for the proof that nothing is lost
	Hint   string     // the next step if something would be lost
	FS     storage.FS // where the file is; nil: the operating system's

	// Grows tells that new blocks are added to the blocks that are there: the proof does not read blocks
	// that are described as before, and of which no byte changes.
	Grows bool

	// Indexes are the codes of warnings about wrong indexes, which the reader gives with ReadOptions.CheckIndexes:
	// a change after which there is such a warning is refused.
	Indexes []string

	// Ownerless are the codes of warnings about messages of channels that nothing defines: a change after which
	// there is such a warning is refused. Other programs stop at such a message, and the old index may have kept them
	// away from it.
	Ownerless []string

	NoSync bool // do not wait for the disk
	DryRun bool // change nothing; Commit makes the proof alone
}

// Open opens a file to change it, and locks it until Close. The error wraps iox.ErrLocked if
// another process does the same. ctx bounds the call and Commit.
func Open(ctx context.Context, path string, o Options) (*File, error) {
	fsys := iox.FS(o.FS)
	flag := os.O_RDWR
	if o.DryRun {
		flag = os.O_RDONLY
	}
	f, err := fsys.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	p := &File{File: f, ctx: ctx, o: o, fs: fsys, path: path, start: -1}
	if o.DryRun {
		return p, nil
	}
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
func Mend(path string, o Options) error {
	if _, err := iox.FS(o.FS).Stat(JournalPath(path)); err != nil || o.DryRun {
		return ignoreMissing(err)
	}
	f, err := Open(context.Background(), path, o)
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
	ours, err := p.ours(p.left)
	if err != nil {
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
	settled := oldest || newest && p.left.End == 0
	switch {
	case settled && !ours: // that run has nothing to do with what is in the file now
		p.left = nil
		return ignoreMissing(p.fs.Remove(JournalPath(p.path)))
	case !ours:
		return p.foreign()
	}
	if p.applied = len(p.left.Patches) > 0 && !oldest; settled {
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
	return fmt.Errorf("%[1]s is left from a killed run, and no longer matches the file; if the file reads well, delete "+
		"%[1]s: %[2]w", JournalPath(p.path), storage.ErrCorrupt)
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
// It returns where new bytes begin: at end, if nothing follows or a killed run has left what
// follows, else at the end of the file. The error wraps storage.ErrUnsupported if the file has several names.
func (p *File) Begin(end int64) (at int64, err error) {
	if at, err = p.clear(end); err != nil {
		return 0, err
	}
	p.left = nil
	if p.o.DryRun {
		p.tail, err = iox.TempFile(p.fs, os.TempDir())
	} else {
		err = p.writeJournal(&journal{Size: at})
	}
	if err != nil {
		return 0, err
	}
	p.start = at
	return at, nil
}

// clear cuts off what a killed run has left behind byte end, if it may be changed at all, and returns where the file
// then ends.
func (p *File) clear(end int64) (at int64, err error) {
	if err := p.checkNames(); err != nil {
		return 0, err
	}
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
	return at, nil
}

// Release gives the file, whose content ends at byte end, to a caller that changes it by a journal of its own. What
// a killed run has left is gone then. The file stays locked until Close.
func (p *File) Release(end int64) (storage.File, error) {
	if _, err := p.clear(end); err != nil {
		return nil, err
	}
	if p.left != nil {
		if err := ignoreMissing(p.fs.Remove(JournalPath(p.path))); err != nil {
			return nil, err
		}
	}
	p.left, p.applied = nil, false
	return p.File, nil
}

// ReadAt reads like io.ReaderAt, new bytes as well.
func (p *File) ReadAt(b []byte, off int64) (n int, err error) {
	if p.tail == nil {
		return p.File.ReadAt(b, off)
	}
	if off < p.start {
		old := b[:min(int64(len(b)), p.start-off)]
		if n, err = p.File.ReadAt(old, off); n < len(old) || n == len(b) {
			return n, err
		}
	}
	k, err := p.tail.ReadAt(b[n:], off+int64(n)-p.start)
	return n + k, err
}

// size returns the bytes of the file with the new ones.
func (p *File) size() (int64, error) {
	if p.tail == nil {
		st, err := p.Stat()
		if err != nil {
			return 0, err
		}
		return st.Size(), nil
	}
	st, err := p.tail.Stat()
	if err != nil {
		return 0, err
	}
	return p.start + st.Size(), nil
}

// WriteAt writes new bytes.
func (p *File) WriteAt(b []byte, off int64) (int, error) {
	if p.start < 0 || p.done || off < p.start {
		return 0, fmt.Errorf("internal error: byte %d of %s is not to be written", off, p.path)
	}
	if p.tail != nil {
		return p.tail.WriteAt(b, off-p.start)
	}
	return p.File.WriteAt(b, off)
}

// Commit makes the new bytes count: if the proof that nothing is lost succeeds, it overwrites old bytes
// by the patches, in their order. On error the file is as it was, unless the error names a journal that stays.
func (p *File) Commit(patches ...Patch) error { return p.CommitAt(0, patches...) }

// CommitAt is Commit for a file that becomes shorter: it ends at byte end, before the place where new bytes
// began, because nothing needs the bytes that follow any more. With 0 it does not become shorter.
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
	if err := p.prove(end, patches); err != nil || p.o.DryRun {
		return err
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

// Replace writes the end of a file of size bytes anew, from byte from on, and commits it with patches. What lies there
// gives way. With cut the file ends with the new end, also if it was longer; else the rest stays behind it.
func (p *File) Replace(size, from int64, tail []byte, cut bool, patches ...Patch) error {
	at, err := p.Begin(size)
	if err != nil {
		return err
	}
	n := max(0, min(at-from, int64(len(tail))))
	if _, err := p.WriteAt(tail[n:], at); err != nil {
		return err
	}
	if n > 0 {
		patches = slices.Insert(patches, 0, Patch{Off: from, Data: tail[:n]})
	}
	end := from + int64(len(tail))
	if !cut || end >= at {
		end = 0
	}
	return p.CommitAt(end, patches...)
}

// prove makes the proof that a change loses nothing.
func (p *File) prove(end int64, patches []Patch) error {
	size, err := p.size()
	if err != nil {
		return err
	}
	if end > 0 {
		size = min(size, end)
	}
	before, after := NewView(p.fs), NewView(p.fs)
	before.Hide(JournalPath(p.path))
	after.Hide(JournalPath(p.path))
	before.lay(p.path, p, p.start)
	after.lay(p.path, p, size, patches...)
	proof := &Proof{
		Format: p.o.Format, Path: p.path, Open: p.o.Read, Hint: p.o.Hint, Before: before, After: after,
		Indexes: p.o.Indexes, Ownerless: p.o.Ownerless,
	}
	if p.o.Grows {
		proof.Same = func(b *storage.Block) bool {
			return b.Offset >= 0 && b.Offset+b.Size <= p.start && !patched(patches, b.Offset, b.Size)
		}
	}
	return proof.Run(p.ctx)
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
			return fmt.Errorf("%w; it could not be undone (%v): %s has what is missing, and the next run that changes the "+
				"file finishes it", err, e, JournalPath(p.path))
		}
	}
	return errors.Join(err, p.flush())
}

func (p *File) flush() error {
	if p.o.NoSync {
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
	case p.o.DryRun:
		if p.tail != nil {
			err = p.tail.Close()
		}
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

// Counted returns a number with its noun: "1 chunk", "2 chunks".
func Counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
