package mapping

import (
	"crypto/sha256"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// kept is what was found about the definitions of a recording, for the next one that is converted in this process. It
// is safe for concurrent use, and so must be its values.
type kept[K comparable, V any] struct {
	mu   sync.Mutex
	list map[K]V
	size int
}

var (
	crossings   kept[crossingKey, *crossing]
	definitions kept[definitionKey, *Definition]
)

// maxKept bounds the text of what is kept, bytes. Then all is forgotten.
const maxKept = 1 << 20

func (c *kept[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.list[key]
	return value, ok
}

// put keeps a value that has so many bytes of text, unless they are too many.
func (c *kept[K, V]) put(key K, value V, text int) {
	size := 1<<10 + text
	if size > maxKept/16 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += size; c.size > maxKept || c.list == nil {
		c.list, c.size = map[K]V{}, size
	}
	c.list[key] = value
}

// A definitionKey is all that the definition of a ROS 1 topic depends on, if neither the user nor the messages have a
// say.
type definitionKey struct {
	typ, sum string
	text     [sha256.Size]byte
}

func definitionOf(t *storage.Topic) definitionKey {
	return definitionKey{t.Type, t.Metadata[storage.MetaMD5Sum], sha256.Sum256(t.Schema.Data)}
}
