package recording

import (
	"runtime"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestSpares: the buffers that came last are lent first, where they are larger, and
// those with messages in them stay where they are.
func TestSpares(t *testing.T) {
	var s spares
	s.put(buffers{make([]byte, 1), make([]byte, 1)})
	s.put(buffers{make([]byte, 9), make([]byte, 5)})
	own, b := s.take(), storage.Batch{Buf: make([]byte, 3)}
	if own.lend(&b); cap(b.Buf) != 9 || cap(b.Scratch) != 5 || cap(own.buf) != 3 {
		t.Errorf("lent are %d and %d bytes, for %d", cap(b.Buf), cap(b.Scratch), cap(own.buf))
	}
	if own.takeBack(&b, true); cap(b.Buf) != 9 || b.Scratch != nil || cap(own.buf) != 3 || cap(own.scratch) != 5 {
		t.Errorf("%d bytes stay, %d and %d come back", cap(b.Buf), cap(own.buf), cap(own.scratch))
	}
	if own.takeBack(&b, false); b.Buf != nil || cap(own.buf) != 9 {
		t.Errorf("%d bytes stay, %d come back", cap(b.Buf), cap(own.buf))
	}
	if s.put(own); len(s.list) != 2 || cap(s.take().buf) != 9 {
		t.Error("what came last is not the first")
	}
}

// TestWorkers: there are no more than memory is for, unless a number is asked for.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	for _, c := range []struct {
		threads int
		memory  int64
		want    int
	}{{0, 0, 12}, {0, 1 << 30, 51}, {0, 64 << 20, 3}, {0, 1, 2}, {40, 1, 40}, {99999999999, 1, MaxThreads}} {
		if got := workers(c.threads, c.memory); got != c.want {
			t.Errorf("%d threads with %d bytes: %d workers, want %d", c.threads, c.memory, got, c.want)
		}
	}
}
