package virtual

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// partsFS is the file system that a writer has whose output is taken apart: of blocks it notes
// where they lie, what their bytes add up to, and the place in the stream at which they begin. All
// other bytes are kept.
//
//	worker, in order:  emit -> Write -> full block -> block: From is the place of its first message
//	encoder, in order:                  Append -> WriteAt: Offset, Length, Sum
type partsFS struct {
	*iox.Overlay // for the names around the file
	name         string

	trace   recording.Trace
	start   recording.Mark // of the block that is being filled
	started bool

	mu     sync.Mutex
	chunks []chunk
	block  *chunk // that is being appended; nil: none
	size   int64
	fixed  []fixed
	store  storage.File
	kept   int64
	onDisk bool // store is

	// made, if set, takes the bytes of each block in place of chunks, and nothing else is kept.
	made   func(data []byte, c chunk) error
	bytes  []byte
	expect int64 // the length of the next block
}

func newPartsFS(sink *storage.Format) *partsFS {
	f := &partsFS{Overlay: iox.NewOverlay(noFiles{iox.Wrap(nil)}), name: "virtual", store: iox.NewMemoryFile("layout")}
	if len(sink.Extensions) > 0 {
		f.name += sink.Extensions[0]
	}
	return f
}

// noFiles is a file system with the current folder, which is empty.
type noFiles struct{ iox.Wrapped }

func (f noFiles) Stat(name string) (os.FileInfo, error) {
	if name == "." {
		return f.FS.Stat(name)
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (noFiles) ReadDir(string) ([]os.DirEntry, error) { return nil, nil }

// OpenFile opens the output, or a file around it.
func (f *partsFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	file, err := f.Overlay.OpenFile(name, flag, perm)
	if err == nil && filepath.Base(name) == f.name {
		file = partsFile{file, f}
	}
	return file, err
}

// partsFile is the output.
type partsFile struct {
	storage.File
	fs *partsFS
}

// WriteAt takes bytes of the output, which come from its start to its end.
func (w partsFile) WriteAt(p []byte, off int64) (int, error) {
	f := w.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	if off != f.size {
		return 0, fmt.Errorf("internal error: bytes at %d after %d", off, f.size)
	}
	f.size += int64(len(p))
	if c := f.block; c != nil && off > 0 { // the first bytes are the head of the file
		if c.Length == 0 {
			c.Offset = off
		}
		c.Length += int64(len(p))
		if f.made != nil {
			f.bytes = append(f.bytes, p...)
		}
		return len(p), nil
	}
	if f.made != nil {
		return len(p), nil
	}
	return f.keep(p, off)
}

// keep puts bytes into the store, which becomes a file when it is large.
func (f *partsFS) keep(p []byte, off int64) (int, error) {
	if !f.onDisk && f.kept+int64(len(p)) > maxKept {
		file, err := iox.TempFile(nil, os.TempDir())
		if err != nil {
			return 0, err
		}
		if _, err := io.Copy(io.NewOffsetWriter(file, 0), io.NewSectionReader(f.store, 0, f.kept)); err != nil {
			return 0, errors.Join(err, file.Close())
		}
		f.store, f.onDisk = file, true
	}
	n, err := f.store.WriteAt(p, f.kept)
	if k := len(f.fixed) - 1; k >= 0 && f.fixed[k].Offset+f.fixed[k].Length == off && f.fixed[k].At+
		f.fixed[k].Length == f.kept {
		f.fixed[k].Length += int64(n)
	} else {
		f.fixed = append(f.fixed, fixed{off, int64(n), f.kept})
	}
	f.kept += int64(n)
	return n, err
}

// Sync has nothing to do.
func (w partsFile) Sync() error { return nil }

// follow takes the blocks of an output that was opened just now; what was taken before is void.
func (f *partsFS) follow(to *recording.Sink) error {
	if to.PartWriter == nil || to.Blocks == nil {
		return fmt.Errorf("%s: outputs cannot be made in parts: %w", to.Format.Name, storage.ErrUnsupported)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chunks, f.block, f.size, f.fixed, f.kept, f.started, f.bytes = nil, nil, 0, nil, 0, false, nil
	f.trace.Next = f.next
	to.Blocks = followedBlocks{to.Blocks, f}
	return nil
}

// next takes the place at which a block begins.
func (f *partsFS) next(m recording.Mark) { f.start, f.started = m, true }

// followedBlocks is the writer of the output.
type followedBlocks struct {
	storage.BlockWriter
	fs *partsFS
}

// OnBlock hands out blocks that tell when they are appended.
func (b followedBlocks) OnBlock(f func(storage.PendingBlock) error) {
	b.BlockWriter.OnBlock(func(p storage.PendingBlock) error { return f(b.fs.follows(p)) })
}

// follows notes where a block begins.
func (f *partsFS) follows(p storage.PendingBlock) storage.PendingBlock {
	b := &followedBlock{PendingBlock: p, fs: f, chunk: chunk{Copied: -1}}
	if f.made != nil {
		return b
	}
	t := &f.trace
	if t.Copy >= 0 && !t.Wrote { // else it is what was begun before
		b.chunk.Copied, f.started = t.Copy, false
	}
	if b.chunk.From = f.start; !f.started {
		b.chunk.From = t.Mark()
	}
	f.started, t.Wrote, t.Next = false, false, f.next
	return b
}

type followedBlock struct {
	storage.PendingBlock
	fs    *partsFS
	chunk chunk
}

// Append writes the block.
func (b *followedBlock) Append() error {
	f := b.fs
	summed, ok := b.PendingBlock.(recording.SummedBlock)
	if !ok {
		return errors.New("internal error: a block of a PartWriter without a sum")
	}
	b.chunk.Sum = summed.Sum()
	f.mu.Lock()
	f.block = &b.chunk
	if f.bytes = nil; f.made != nil {
		f.bytes = make([]byte, 0, f.expect)
	}
	f.mu.Unlock()
	err := b.PendingBlock.Append()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.block = nil
	switch {
	case err != nil:
	case f.made != nil:
		err = f.made(f.bytes, b.chunk)
	default:
		f.chunks = append(f.chunks, b.chunk)
	}
	return err
}
