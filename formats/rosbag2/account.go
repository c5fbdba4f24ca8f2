package rosbag2

import (
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// uncounted are the codes of damage that leaves open how much is missing.
var uncounted = []string{"truncated", "salvaged", "part", "missing-part", "wal", "wal-uncommitted", "journal"}

// explained reports whether known damage explains what else is missing: then missing messages
// are no further damage.
func (r *reader) explained() bool {
	return r.Log.Lost().Uncounted
}

// lose notes what is missing of a block.
func (r *reader) lose(i int, l storage.Lost) {
	if l == (storage.Lost{}) {
		return
	}
	r.mu.Lock()
	r.lost[i] = l
	r.mu.Unlock()
}

// losePart reports that a part cannot be read at all.
func (r *reader) losePart(path string, cause error) error {
	if err := r.Warn("part", true, path, "%v", cause); err != nil {
		return err
	}
	head, size, err := (&part{path: path}).readHead(r.FS)
	if err != nil {
		return nil
	}
	if h, err := sqlite.ParseHeader(head); err == nil {
		size = max(size, h.Size())
	}
	r.lose(-1-len(r.lost), storage.Lost{Bytes: size, Blocks: 1})
	return nil
}

// lostSoFar is what damage has cost, as far as it was met. If metadata.yaml has counted all messages,
// the number of missing ones is known; else more may be missing than was met. r.mu is held.
func (r *reader) lostSoFar() (l storage.Lost) {
	for _, b := range r.lost {
		l.Add(b)
	}
	badCells := int64(0)
	for _, p := range r.parts {
		if p.salvaged == nil {
			continue
		}
		f := &p.salvaged.Found
		page := int64(f.PageSize)
		l.Blocks += f.BadPages
		l.Bytes += f.BadPages * page
		badCells += f.BadCells
		if cut := p.head.Size() - p.size; cut > 0 && p.overlay == nil {
			l.Bytes += cut
			l.Blocks += (cut + page - 1) / page
		}
	}
	if !r.estimated && r.Counted(&l, r.messages(), r.start, r.end, 0) {
		return l
	}
	l.Messages += max(badCells, r.Missing)
	l.Uncounted = l.Uncounted || r.explained()
	return l
}
