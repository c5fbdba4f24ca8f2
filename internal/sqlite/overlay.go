package sqlite

import (
	"maps"
	"slices"
)

// An Overlay is pages of a file beside the database that, laid over it, make the
// state after the last commit: the committed frames of a write-ahead log, or what a
// rollback journal has kept.
type Overlay struct {
	Path  string          // of that file
	Page  int64           // bytes
	Pages int64           // of the database in that state; a log without a commit has 0
	At    map[int64]int64 // page number (from 0) to offset of the page; a complement is an offset in the database
	Open  map[int64]int64 // of a log: the frames after the last commit
	Undo  bool            // it is a journal: what it covers in the database was not committed
	Added bool            // it is the journal of a Rollback
}

// Unfinished reports whether there are pages that were written and not committed.
func (o *Overlay) Unfinished() bool { return o != nil && (o.Undo || len(o.Open) > 0) }

// Uncommitted returns the database of size bytes with what was not committed, for taking
// rows from its pages: the committed state, after it the pages that it does not have,
// and then, as if they were more pages, the newer versions of pages that it has.
func (o *Overlay) Uncommitted(size int64) *Overlay {
	now := *o
	now.At, now.Open, now.Pages = map[int64]int64{}, nil, max(o.Pages, (size+o.Page-1)/o.Page)
	maps.Copy(now.At, o.At)
	newer := map[int64]int64{}
	if o.Undo {
		for no := range o.At {
			newer[no] = ^(no * o.Page) // in the database
		}
	}
	for no, at := range o.Open {
		if no < o.Pages {
			newer[no] = at
		} else {
			now.At[no], now.Pages = at, max(now.Pages, no+1)
		}
	}
	for _, no := range slices.Sorted(maps.Keys(newer)) {
		now.At[now.Pages] = newer[no]
		now.Pages++
	}
	return &now
}
