package serve

import (
	"context"
	"os"
	"sync"
	"time"
)

// wholes remembers which files viewers can read as they are.
type wholes struct {
	mu    sync.Mutex
	known map[string]bool // by etag
}

// wholeTime is how long a request looks at files: what has an index is opened in no time.
const wholeTime = time.Second

// maxWholes is how many files are remembered.
const maxWholes = 10_000

// find reports whether viewers can read the file of a recording. One that takes longer to open than ctx lasts
// has no index, and they cannot.
func (k *wholes) find(ctx context.Context, config *Config, rec *Recording, st os.FileInfo) bool {
	if config.Whole == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	tag := etag(rec.Path, st)
	if whole, ok := k.known[tag]; ok {
		return whole
	}
	if ctx.Err() != nil {
		return false // the next request looks at it
	}
	whole := config.Whole(ctx, *rec)
	if len(k.known) >= maxWholes || k.known == nil {
		k.known = map[string]bool{}
	}
	k.known[tag] = whole
	return whole
}
