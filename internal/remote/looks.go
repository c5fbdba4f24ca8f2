package remote

import (
	"sync"
	"time"
)

// A looks remembers for lookTime which names are free and which are folders, because a run asks some
// forty times before it writes. An answer that is too old does no harm: the condition of the last
// request decides. Each change by this process empties it. Objects are not remembered.
type looks struct {
	mu    sync.Mutex
	names map[string]look
}

// A look is what was seen at a name.
type look struct {
	dir  bool // a folder; else nothing
	till time.Time
}

// lookTime is how long a look is good for.
const lookTime = 5 * time.Second

func (l *looks) add(name string, dir bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names == nil || len(l.names) > 1000 {
		l.names = map[string]look{}
	}
	l.names[name] = look{dir, time.Now().Add(lookTime)}
}

// known reports whether there is a folder, and whether that is remembered.
func (l *looks) known(name string) (dir, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, ok := l.names[name]
	return seen.dir, ok && time.Now().Before(seen.till)
}

func (l *looks) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = nil
}
