package remote

import (
	"sync"
	"time"
)

// A looks knows for a moment that nothing has a name, or that a folder has: whoever is about to write
// asks some forty times, and what is decided in the end is decided by the condition of the last
// request. Any change of this process ends it. Objects are always asked for.
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

// known returns whether there is a folder, if that is known.
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
