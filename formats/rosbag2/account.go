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
	return r.uncounted.Load()
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

// losePart notes that a part cannot be read at all.
func (r *reader) losePart(path string) {
	head, size, err := (&part{path: path}).readHead(r.fs)
	if err != nil {
		return
	}
	if h, err := sqlite.ParseHeader(head); err == nil {
		size = max(size, h.Size())
	}
	r.lose(-1-len(r.lost), storage.Lost{Bytes: size, Blocks: 1})
}

// lostSoFar is what damage has cost, as far as it was met. total is the number of messages by the
// topics. If metadata.yaml has counted all messages, the number of missing ones is known; else more
// may be missing than was met. r.mu is held.
func (r *reader) lostSoFar(total int64) (l storage.Lost) {
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
	m := r.layout.Meta
	if m != nil && m.Messages >= total && total > 0 && !r.estimated {
		l.Messages += r.missing
		l.Uncounted = false
		if l.Messages > 0 {
			l.Duration = max(m.Duration-(r.end-r.start), 0)
		}
		return l
	}
	l.Messages += max(badCells, r.missing)
	l.Uncounted = l.Uncounted || r.uncounted.Load()
	return l
}
