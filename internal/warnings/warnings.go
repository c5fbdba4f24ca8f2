// Package warnings keeps the warnings of a reader about a file: each one once, however
// often and by whichever goroutine it is found, and up to a limit.
//
// A Log may be used concurrently. The zero value is ready.
package warnings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// Max is how many warnings are kept; the last one then reports that.
const Max = 1000

// Unclosed is the end of each warning about a recorder that was killed: its file has no end, but ends
// with a whole record. That is no damage of what is there.
const Unclosed = "its last messages may never have reached the file"

// Hints are what to do about the warnings of a format, by their codes.
type Hints map[string]string

// SoundCopy is the hint at what this program reads and others may not.
const SoundCopy = "other programs may refuse it; bagconv recover IN OUT writes a sound copy"

// Of returns the hint for a warning. Damage has one in any case.
func (h Hints) Of(code string, damage bool) string {
	hint := h[code]
	if damage && (hint == "" || hint == SoundCopy) {
		return "copy the file again from its source; bagconv recover IN OUT saves what is left"
	}
	return hint
}

// A Log is a list of warnings, and what was lost at their places.
type Log struct {
	Hints Hints // for warnings that come without one

	mu   sync.Mutex
	list []storage.Warning
	more *storage.Warning // in place of all after Max
	seen map[warningKey]bool
	lost storage.Lost
}

type warningKey struct {
	path, code string
	offset     storage.Known
}

// Add keeps a warning about a file, and adds what was lost there: once for a
// path, code and offset. What was lost is also added for warnings over the limit.
func (l *Log) Add(path string, w storage.Warning, lost storage.Lost) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := warningKey{path, w.Code, w.Offset}
	if l.seen[k] {
		return
	}
	if l.seen == nil {
		l.seen = map[warningKey]bool{}
	}
	if len(l.list) < Max || lost != (storage.Lost{}) {
		l.seen[k] = true
	}
	l.lost.Add(lost)
	if len(l.list) < Max {
		if w.Hint == "" {
			w.Hint = l.Hints.Of(w.Code, w.Damage)
		}
		l.list = append(l.list, w)
		return
	}
	if l.more == nil {
		l.more = &storage.Warning{Code: "more",
			Message: fmt.Sprintf("there are more than %d warnings; the others are not listed", Max), Offset: -1}
	}
	l.more.Damage = l.more.Damage || w.Damage
	l.more.Hint = l.Hints.Of(l.more.Code, l.more.Damage)
}

// Lose adds what was lost if other warnings explain why.
func (l *Log) Lose(lost storage.Lost) {
	l.mu.Lock()
	l.lost.Add(lost)
	l.mu.Unlock()
}

// Lost returns what was lost in all.
func (l *Log) Lost() storage.Lost {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Report returns the warnings in the order of their offsets, and what was lost in
// all. The slice belongs to the caller.
func (l *Log) Report() ([]storage.Warning, storage.Lost) {
	l.mu.Lock()
	list, lost := slices.Clone(l.list), l.lost
	if l.more != nil {
		list = append(list, *l.more)
	}
	l.mu.Unlock()
	slices.SortStableFunc(list, func(a, b storage.Warning) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Code+a.Message, b.Code+b.Message))
	})
	return list, lost
}
