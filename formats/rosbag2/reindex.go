package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// reindex writes a missing or wrong metadata.yaml of a folder, and a missing timestamp index of its
// databases, or of a single database. See storage.Format.
func reindex(ctx context.Context, path string, o storage.ReindexOptions) ([]storage.IndexChange, error) {
	return db3.Reindex(ctx, path, o, databases{})
}

// databases are the parts. See ros2bag.Parts.
type databases struct{}

// Mend finishes or undoes what a killed run has left of a change. See ros2bag.Parts.
func (databases) Mend(ctx context.Context, path string, o storage.ReindexOptions) error {
	if added, err := addedJournal(o.FS, path); err != nil || o.DryRun || !added {
		return errors.Join(err, inplace.Mend(path, placeOptions(o)))
	}
	f, err := lockFile(ctx, o.FS, path, o.NoSync)
	if err != nil {
		return err
	}
	return f.Close()
}

// placeOptions are how a database is changed in place.
func placeOptions(o storage.ReindexOptions) inplace.Options {
	return inplace.Options{
		Format: formatName, Read: openReader, Hint: ros2bag.RecoverHint,
		FS: o.FS, NoSync: o.NoSync, DryRun: o.DryRun,
	}
}

// Open opens a database or a recording. See ros2bag.Parts.
func (databases) Open(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	return openReader(ctx, path, o)
}

// Content is what the only part tells about itself. Rows that were never committed are no messages.
// See ros2bag.PartReader.
func (r *reader) Content() ros2bag.PartContent {
	c := ros2bag.PartContent{Judged: []string{"journal", "wal-uncommitted"}}
	switch p := r.parts[0]; {
	case p.temp != nil:
		c.Mode = ros2bag.ModeFile
	case p.zstdRows:
		c.Mode = ros2bag.ModeMessage
	}
	if r.row != nil {
		c.Version, c.Custom = r.row.Version, r.row.Custom
	}
	return c
}

// maxIndexed is how many rows SQLite sorts in memory for an index, of about 64 bytes each.
const maxIndexed = 16 << 20

// Index writes timestamp_idx into a database that has no index of its times. SQLite makes it: new
// pages stand behind the end, and the first page, which makes them count, is overwritten at last.
// See ros2bag.Parts.
func (databases) Index(ctx context.Context, path string, o storage.ReindexOptions) (_ []storage.IndexChange,
	err error) {
	fsys := o.FS
	if err := (databases{}).Mend(ctx, path, o); err != nil {
		return nil, err
	}
	p, err := openPart(ctx, fsys, path, opening{lazy: true}, func(string, bool, string, ...any) error { return nil })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	switch {
	case p.temp != nil || p.salvaged != nil || p.tables.timeIndex:
		return nil, nil
	case p.overlay != nil:
		return nil, fmt.Errorf(
			"%s has no timestamp index, and a log beside it: open it once with sqlite3, which applies that: %w", base(path),
			storage.ErrUnsupported)
	case p.dense() > maxIndexed || p.dense() < 0 && p.size > maxIndexed*64:
		return nil, fmt.Errorf("%s has no timestamp index, and too many messages for one: sqlite3 %s %q writes it: %w",
			base(path), base(path), createIndex, storage.ErrUnsupported)
	}
	src, err := p.open(fsys)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	end := p.total
	if n := p.head.Size(); n > 0 {
		end = n // what follows was left by a run that was killed
	}
	f, err := inplace.Open(ctx, path, placeOptions(o))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if at, err := f.Begin(end); err != nil {
		return nil, err
	} else if at != end {
		return nil, fmt.Errorf("%s has no timestamp index, and %d bytes behind its last page: %w", base(path), at-end,
			storage.ErrUnsupported)
	}
	w := &pagesBehind{base: src, pages: f, start: end, end: end, old: map[int64][]byte{}}
	patches, err := w.createIndex(ctx)
	if err != nil {
		return nil, err
	}
	change := storage.IndexChange{Path: path, What: "timestamp index of the messages", Offset: w.start,
		Written: w.end - w.start}
	for _, b := range patches {
		change.Overwritten += int64(len(b.Data))
	}
	if err := f.Commit(patches...); err != nil {
		return nil, err
	}
	return []storage.IndexChange{change}, nil
}

// pagesBehind is a database to SQLite, whose new pages are written behind the end of the file, and
// whose old pages stay as they are: their new content is kept.
type pagesBehind struct {
	base       storage.File
	pages      *inplace.File // has the new ones
	start, end int64
	old        map[int64][]byte // by offset
}

// Size is the size of the database. See sqlite.File.
func (w *pagesBehind) Size() (int64, error) { return w.end, nil }

// Truncate is not called without a journal.
func (w *pagesBehind) Truncate(int64) error { return errors.ErrUnsupported }

// versions is where the header has the two versions of the file format. If they say WAL (2), there
// is still no log: SQLite is shown 1.
const versions = 18

// ReadAt reads a page, or a part of one, as it is to be.
func (w *pagesBehind) ReadAt(b []byte, off int64) (int, error) {
	if off >= w.start {
		return len(b), iox.ReadFull(w.pages, b, off)
	}
	if err := iox.ReadFull(w.base, b, off); err != nil {
		return 0, err
	}
	for at, data := range w.old {
		if from := max(at, off); from < min(at+int64(len(data)), off+int64(len(b))) {
			copy(b[from-off:], data[from-at:])
		}
	}
	for i := int64(versions); i < versions+2; i++ {
		if i >= off && i < off+int64(len(b)) {
			b[i-off] = 1
		}
	}
	return len(b), nil
}

// WriteAt writes a page.
func (w *pagesBehind) WriteAt(b []byte, off int64) (int, error) {
	if off >= w.start {
		w.end = max(w.end, off+int64(len(b)))
		return w.pages.WriteAt(b, off)
	}
	w.old[off] = slices.Clone(b)
	return len(b), nil
}

// createIndex has SQLite make the index, and returns what becomes of old pages, the first one at last.
func (w *pagesBehind) createIndex(ctx context.Context) (list []inplace.Patch, err error) {
	db, err := sqlite.Open(sqlite.Options{File: w})
	if err != nil {
		return nil, err
	}
	err = db.Exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA " +
		"temp_store=MEMORY; PRAGMA cell_size_check=ON")
	if err == nil {
		err = db.Exec(createIndex)
	}
	if err = errors.Join(err, db.Close(), ctx.Err()); err != nil {
		return nil, err
	}
	first := w.old[0]
	if len(first) < sqlite.HeaderLen {
		return nil, errors.New("internal error: SQLite has made no index")
	}
	var was [versions + 2]byte
	if err := iox.ReadFull(w.base, was[:], 0); err != nil {
		return nil, err
	}
	copy(first[versions:], was[versions:])
	for _, off := range slices.Backward(slices.Sorted(maps.Keys(w.old))) {
		list = append(list, inplace.Patch{Off: off, Data: w.old[off]})
	}
	return list, nil
}
