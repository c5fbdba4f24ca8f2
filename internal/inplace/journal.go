package inplace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A journal is what stands in the file of JournalPath, as JSON.
type journal struct {
	Size    int64          `json:"size"`              // of the file before the change, in bytes
	End     int64          `json:"end,omitempty"`     // of the file after the change, if it is shorter then
	Sum     string         `json:"sum,omitempty"`     // of the content; see sumOf. "": it is not known
	Patches []journalPatch `json:"patches,omitempty"` // what is overwritten, once the new bytes are on the disk
}

type journalPatch struct {
	Off int64  `json:"off"`
	Old []byte `json:"old"`
	New []byte `json:"new"`
}

const journalSuffix = ".journal"

// JournalPath returns the path of the journal of a file. It lies beside the file, not beside a link to it.
func JournalPath(path string) string {
	dir, base := filepath.Split(filepath.Clean(RealPath(path)))
	return filepath.Join(dir, "."+base+journalSuffix)
}

// IsJournal reports whether the journal of the file at of has this path.
func IsJournal(path, of string) bool {
	path, journal := strings.TrimSuffix(path, tempSuffix), JournalPath(of)
	return filepath.Base(path) == filepath.Base(journal) && iox.SamePath(nil, filepath.Dir(path), filepath.Dir(journal))
}

const tempSuffix = ".new"

// writeJournal replaces the journal in one step, with the sum of the content.
func (p *File) writeJournal(j *journal) (err error) {
	if j.Sum, err = p.sumOf(j); err != nil {
		return err
	}
	path := JournalPath(p.path)
	if err := iox.WriteJournal(p.fs, path+tempSuffix, os.O_TRUNC, !p.o.NoSync, j); err != nil {
		return err
	}
	if err := p.fs.Rename(path+tempSuffix, path); err != nil {
		return errors.Join(err, ignoreMissing(p.fs.Remove(path+tempSuffix)))
	}
	if p.o.NoSync {
		return nil
	}
	return iox.SyncDir(p.fs, filepath.Dir(path))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Leftover returns where the content of a file ended before a run that was killed, or that goes
// on, wrote behind it; 0 if there is no such run. In its last step the content may already
// be longer.
func Leftover(fsys storage.FS, path string) (end int64, err error) {
	j, err := readJournal(iox.FS(fsys), path)
	if j == nil {
		return 0, err
	}
	return j.Size, nil
}

// readJournal returns the journal of the file at path, nil if there is none.
func readJournal(fsys storage.FS, path string) (*journal, error) {
	var j journal
	there, err := iox.ReadJournal(fsys, JournalPath(path), &j)
	if there && errors.Is(err, storage.ErrTruncated) {
		return nil, nil // no journal of ours, which is whole by its renaming
	}
	if !there || err != nil {
		return nil, err
	}
	for _, b := range j.Patches {
		if b.Off < 0 || len(b.Old) != len(b.New) || j.End < 0 {
			return nil, nil
		}
	}
	return &j, nil
}
