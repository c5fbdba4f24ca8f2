package chunked

import (
	"fmt"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Chunk is a chunk of a Writer. Leave is called when it gets no more messages.
type Chunk interface {
	comparable
	storage.PendingBlock
	Leave()
}

// A Writer is what writers of chunks have in common: the chunk that is being filled, and the file with those before
// it. The storage.Writer of a format embeds one.
type Writer[K Chunk] struct {
	State
	Cur K // the chunk being filled; the zero K: no chunk

	Mu       sync.Mutex   // guards what Append writes, and what follows
	File     storage.File // nil: it is closed
	Appended int          // chunks in the file
}

// OnBlock hands full chunks to f. See storage.BlockWriter.
func (w *Writer[K]) OnBlock(f func(storage.PendingBlock) error) { w.State.OnBlock = f }

// Flush ends the chunk. See storage.BlockWriter.
func (w *Writer[K]) Flush(bool) error {
	if err := w.Usable(); err != nil {
		return err
	}
	var no K
	k := w.Cur
	if k == no {
		return nil
	}
	w.Cur = no
	k.Leave()
	return w.Hand(k)
}

// End writes the last chunk, and returns an error unless all chunks are in the file.
func (w *Writer[K]) End() error {
	w.State.OnBlock = nil // it is not handed out any more: nobody would append it
	if err := w.Flush(false); err != nil {
		return err
	}
	if !w.Settled() {
		return w.Fail(fmt.Sprintf("internal error: %d chunks were handed out and %d came back", w.Handed, w.Appended), nil)
	}
	return nil
}

// Settled reports whether all chunks that were handed out are in the file.
func (w *Writer[K]) Settled() bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Appended == w.Handed
}

// EndFile closes the file. With sync it is on the disk then, and what names the last bytes for errors. Mu is held.
func (w *Writer[K]) EndFile(sync bool, what string) error {
	if sync {
		if err := iox.Sync(w.File); err != nil {
			return w.Fail(what, err)
		}
	}
	if err := w.drop(); err != nil {
		return w.Fail("output", err)
	}
	return nil
}

// Drop ends all writing, and closes the file if it is open.
func (w *Writer[K]) Drop() error {
	w.State.Close()
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.drop()
}

func (w *Writer[K]) drop() error {
	f := w.File
	if w.File = nil; f == nil {
		return nil
	}
	return f.Close()
}
