package export

import (
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// batches keeps batches that are not used now, the batches that were used last, to be filled again:
// their columns have grown. It is safe for concurrent use.
type batches struct {
	mu   sync.Mutex
	list []spareBatch // the one used last at the end
	size int
}

// A spareBatch is a batch of a table.
type spareBatch struct {
	of    *table
	batch *columns.Batch
	size  int // bytes that its columns had last, about what they take
}

// spareBytes is what the batches of an export that are kept may take, about.
const spareBytes = 12 << 20

// take returns an empty batch for a table.
func (s *batches) take(x *table) *columns.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].of == x {
			b := s.list[i]
			s.list = slices.Delete(s.list, i, i+1)
			s.size -= b.size
			return b.batch
		}
	}
	return x.program.NewBatch()
}

// put takes a batch back. Others go if they become too many.
func (s *batches) put(x *table, b *columns.Batch) {
	size := b.Bytes()
	b.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, spareBatch{x, b, size})
	s.size += size
	gone := 0
	for ; s.size > spareBytes && gone < len(s.list); gone++ {
		s.size -= s.list[gone].size
	}
	s.list = slices.Delete(s.list, 0, gone)
}
