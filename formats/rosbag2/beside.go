package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// salvageOpen takes rows from the pages, also the rows of a transaction that was not committed.
// cause is why the committed state cannot be read, or nil.
func (p *part) salvageOpen(ctx context.Context, fsys storage.FS, meta *ros2bag.Metadata, cause error,
	warn ros2bag.Warner) error {
	overlay, total := p.overlay, p.total
	p.overlay = p.overlay.Uncommitted(p.size)
	p.total = p.overlay.Pages * p.overlay.Page
	reason := cause
	if reason == nil {
		reason = fmt.Errorf("the last transaction was not committed: %w", storage.ErrCorrupt)
	}
	err := p.salvage(ctx, fsys, meta, reason, warn)
	if cause == nil && err == reason { // the transaction left no rows
		p.overlay, p.total, err = overlay, total, nil
	}
	return err
}

// readBeside looks for a rollback journal or a write-ahead log beside the file. head
// is how the database begins.
func (p *part) readBeside(ctx context.Context, fsys storage.FS, head []byte, warn ros2bag.Warner) error {
	if p.temp != nil {
		return nil
	}
	err := p.openBeside(fsys, sqlite.JournalSuffix, func(f storage.File, size int64) error {
		return p.useJournal(ctx, fsys, f, size, head, warn)
	})
	if err != nil || p.overlay != nil {
		return err
	}
	return p.openBeside(fsys, walSuffix, func(f storage.File, size int64) error { return p.useWAL(f, size, warn) })
}

// openBeside opens a file beside the database, if it exists and is not empty: beside the file that a link leads to,
// where SQLite has it, else beside the link.
func (p *part) openBeside(fsys storage.FS, suffix string, use func(f storage.File, size int64) error) error {
	path := inplace.RealPath(p.path) + suffix
	st, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && path != p.path+suffix {
		path = p.path + suffix
		st, err = fsys.Stat(path)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && (st.Size() == 0 || !st.Mode().IsRegular()) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	err = errors.Join(use(f, st.Size()), f.Close())
	if err == nil && p.overlay != nil {
		p.overlay.Path = path
		p.bytes += st.Size()
	}
	return err
}

// withoutLeftover returns the size of a file without the bytes that a killed reindex left behind
// its pages, which do not count.
func (p *part) withoutLeftover(fsys storage.FS, head []byte, size int64, warn ros2bag.Warner) (int64, error) {
	if p.temp != nil {
		return size, nil
	}
	end, err := inplace.Leftover(fsys, p.path)
	if h, wrong := sqlite.ParseHeader(head); err != nil || wrong != nil || end == 0 || end != h.Size() || end >= size {
		return size, err
	}
	return end, warn("append-killed", false, "%d bytes follow the database; bagconv reindex was killed, or changes it now",
		size-end)
}

// fate returns what becomes of messages that were not committed.
func (p *part) fate() string {
	if p.uncommitted {
		return "complete messages in them are read"
	}
	return "bagconv recover reads the complete messages in them"
}

func (p *part) useWAL(f storage.File, size int64, warn ros2bag.Warner) error {
	w, err := sqlite.ReadWAL(f, size)
	if errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) {
		return warn("wal", true, "the write-ahead log beside it cannot be applied: %v", err)
	}
	if err != nil {
		return err
	}
	if len(w.Open) > 0 {
		if err := warn("wal-uncommitted", true,
			"%d pages in the write-ahead log were never committed and are not applied; %s", len(w.Open), p.fate()); err != nil {
			return err
		}
	}
	if w.Pages == 0 && p.uncommitted && len(w.Open) > 0 {
		w.Pages = p.size / w.Page // nothing of it was committed
	}
	if w.Pages > 0 {
		p.overlay = w
	}
	return nil
}

// useJournal rolls back, as SQLite would on opening the database. A journal has nothing to roll
// back if it begins with zero, if the database is empty, or if its transaction was committed with
// others.
func (p *part) useJournal(ctx context.Context, fsys storage.FS, f storage.File, size int64, head []byte,
	warn ros2bag.Warner) error {
	var first [1]byte
	if err := iox.ReadFull(f, first[:], 0); err != nil || first[0] == 0 || p.size == 0 {
		return err
	}
	super, err := sqlite.SuperJournal(f, size)
	if err != nil {
		return err
	}
	if super != "" { // beside it: the path at which it was recorded means nothing here
		_, err := fsys.Stat(filepath.Join(filepath.Dir(p.path), filepath.Base(super)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	page := int64(0)
	if h, err := sqlite.ParseHeader(head); err == nil {
		page = int64(h.Page)
	}
	o, cut, err := sqlite.ReadJournal(f, size, page)
	if err != nil {
		return err
	}
	if o == nil {
		return warn("journal", true,
			"the file named like its rollback journal is not one, or has no complete header; it is not applied")
	}
	if len(o.At) == 0 && o.Pages*o.Page >= p.size {
		return nil // nothing had been written to the database
	}
	if o.Added {
		p.overlay = o
		return warn("append-killed", false, "bagconv append was killed, or adds to it now; its journal beside the database "+
			"has %d pages as they were, which are read", len(o.At))
	}
	db, err := p.open(fsys)
	if err != nil {
		return err
	}
	rows, err := sqlitefile.RowsBehind(ctx, db, p.size, o.Page, o.Pages)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	text := ""
	if cut {
		text = "; the journal is cut off, so some pages may not be rolled back"
	}
	o.Undo, p.overlay = true, o
	return warn("journal", true, "the last transaction was not committed, with at least %d messages: %d pages are "+
		"rolled back by the journal beside it%s; %s", rows, len(o.At), text, p.fate())
}

// addedJournal reports whether the journal beside a database is of a killed addition.
func addedJournal(fsys storage.FS, path string) (added bool, err error) {
	p := &part{path: path}
	err = p.openBeside(fsys, sqlite.JournalSuffix, func(f storage.File, size int64) error {
		o, _, err := sqlite.ReadJournal(f, size, 0)
		added = o != nil && o.Added
		return err
	})
	return added, err
}
