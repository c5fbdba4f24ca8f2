package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
)

// A Rollback says how a transaction changes a database in its file: pages that are overwritten stand in SQLite's
// rollback journal until the end, which is the removal of the journal. After a kill every SQLite that may write puts
// them back when it opens the database, and readers here lay them over it.
type Rollback struct {
	FS     storage.FS
	Path   string // of the database
	NoSync bool   // do not wait for the disk

	// Prove is called before the journal is removed, when the file has all that the transaction has changed. Its
	// error is the error of the transaction, which then changes nothing. It is called once. Nil: nobody asks.
	Prove func() error
}

// JournalSuffix is what SQLite adds to the path of a database for its rollback journal.
const JournalSuffix = "-journal"

// openJournal opens the journal for the engine.
func (r *Rollback) openJournal(flags int32) (File, error) {
	flag := os.O_RDWR
	switch {
	case flags&engine.SQLITE_OPEN_CREATE != 0:
		flag |= os.O_CREATE
	case flags&engine.SQLITE_OPEN_READONLY != 0:
		flag = os.O_RDONLY
	}
	f, err := r.FS.OpenFile(r.Path+JournalSuffix, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return journalFile{Plain{f}}, nil
}

// removeJournal ends the transaction.
func (r *Rollback) removeJournal(syncFolder bool) error {
	if prove := r.Prove; prove != nil {
		r.Prove = nil // what follows an error is the way back
		if err := prove(); err != nil {
			return err
		}
	}
	err := r.FS.Remove(r.Path + JournalSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || !syncFolder || r.NoSync {
		return ignoreMissing(err)
	}
	return iox.SyncDir(r.FS, filepath.Dir(r.Path))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A journalFile is the journal of a Rollback. It has a mark, by which readers know that no recorder has lost
// messages with it; see ReadJournal.
type journalFile struct{ Plain }

// journalMark stands behind the fields of the journal's header, where SQLite writes zeros and reads nothing.
const journalMark = "bagconv append"

// WriteAt writes like io.WriterAt.
func (f journalFile) WriteAt(b []byte, off int64) (int, error) {
	if off == 0 && len(b) >= journalHeaderLen+len(journalMark) {
		b = append([]byte(nil), b...)
		copy(b[journalHeaderLen:], journalMark)
	}
	return f.Plain.WriteAt(b, off)
}

// A Changed is the file of a database that is changed under a Rollback. If its header tells of a write-ahead log,
// the engine sees one that does not, and the file goes on to tell so.
type Changed struct {
	Plain
	WAL bool
}

// headVersions is where the header has its two versions of the file format: 2 tells of a write-ahead log.
const headVersions = 18

func (f Changed) setVersions(b []byte, off int64, version byte) {
	for at := int64(headVersions); f.WAL && at < headVersions+2; at++ {
		if at >= off && at < off+int64(len(b)) {
			b[at-off] = version
		}
	}
}

// ReadAt reads like io.ReaderAt.
func (f Changed) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.Plain.ReadAt(b, off)
	f.setVersions(b[:n], off, 1)
	return n, err
}

// WriteAt writes like io.WriterAt.
func (f Changed) WriteAt(b []byte, off int64) (int, error) {
	if f.WAL && off <= headVersions {
		b = append([]byte(nil), b...)
		f.setVersions(b, off, 2)
	}
	return f.Plain.WriteAt(b, off)
}

// Undo rolls a database back that a killed transaction of a Rollback has left: the engine does it as it opens
// the database. The caller has locked f.
func Undo(f storage.File, r Rollback) (err error) {
	d, err := Open(Options{File: Plain{f}, Foreign: true, Rollback: &r})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.rollBack()
}

// rollBack has the engine look for a journal and apply it.
func (d *DB) rollBack() error {
	_, _, err := d.One("PRAGMA schema_version")
	return err
}

// Drop ends a connection with a Rollback whose transaction was not committed, or failed to be.
func (d *DB) Drop() error {
	if d.dead {
		return d.Close()
	}
	_ = d.Exec("ROLLBACK") // there is no transaction any more after some errors
	_ = d.rollBack()       // the next run does it if this one cannot
	return d.Close()
}

// Lock takes SQLite's lock for writing all of a database (PENDING, RESERVED and SHARED, which make EXCLUSIVE) until
// the file is closed: no other process reads or writes it meanwhile. The error wraps storage.ErrLocked. On systems
// without such locks it does nothing.
func Lock(f storage.File) error {
	const lockBytes = 512 // https://www.sqlite.org/lockingv3.html and os.h
	err := iox.LockRange(f, LockByte, lockBytes)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

func isJournal(name uintptr) bool { return strings.HasSuffix(libc.GoString(name), JournalSuffix) }
