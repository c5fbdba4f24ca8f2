package cli_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A packedFS keeps the bytes of the files that are written in it in memory, compressed; the disk has
// files of their sizes without a byte. So recordings of many gigabytes of zeros can be made and served,
// in formats with other bytes in each page, too.
type packedFS struct {
	storage.FS
	mu    sync.Mutex
	files []*packed
}

// A packed has the blocks of one file; nil is one of zeros.
type packed struct {
	mu     sync.Mutex
	id     os.FileInfo
	size   int64
	blocks [][]byte
	at     int // the block that is not compressed
	plain  [packedBlock]byte
	dirty  bool
}

const packedBlock = 256 << 10

func newPackedFS() *packedFS { return &packedFS{FS: iox.OS} }

func (p *packedFS) Open(name string) (storage.File, error) { return p.OpenFile(name, os.O_RDONLY, 0) }

func (p *packedFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f, err := p.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil || st.IsDir() {
		return f, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.files {
		if os.SameFile(k.id, st) {
			return &packedFile{File: f, packed: k}, nil
		}
	}
	k := &packed{id: st, at: -1}
	p.files = append(p.files, k)
	return &packedFile{File: f, packed: k}, nil
}

// A packedFile is one that is open.
type packedFile struct {
	storage.File // has the size, and its name
	*packed
	pos int64
}

var zeros [packedBlock]byte

// load makes a block the one that is not compressed. k.mu is held.
func (k *packed) load(i int) error {
	if i == k.at {
		return nil
	}
	lz4 := compress.Lookup("lz4")
	if k.dirty {
		b, err := []byte(nil), error(nil)
		if !bytes.Equal(k.plain[:], zeros[:]) {
			b, err = lz4.Encode(nil, k.plain[:], 0)
		}
		if err != nil {
			return err
		}
		k.blocks[k.at] = bytes.Clone(b)
	}
	k.at, k.dirty = i, false
	for len(k.blocks) <= i {
		k.blocks = append(k.blocks, nil)
	}
	if k.blocks[i] == nil {
		k.plain = zeros
		return nil
	}
	b, err := lz4.Decode(nil, k.blocks[i], packedBlock)
	copy(k.plain[:], b)
	return err
}

// each calls f with the pieces of blocks that have n bytes from off on.
func (k *packed) each(off int64, n int, f func(block []byte)) error {
	for done := 0; done < n; {
		at := off + int64(done)
		if err := k.load(int(at / packedBlock)); err != nil {
			return err
		}
		b := k.plain[at%packedBlock:]
		b = b[:min(len(b), n-done)]
		f(b)
		done += len(b)
	}
	return nil
}

func (f *packedFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := p
	err := f.each(off, len(p), func(b []byte) {
		rest = rest[copy(b, rest):]
		f.dirty = true
	})
	if end := off + int64(len(p)); err == nil && end > f.size {
		f.size = end
		err = f.File.Truncate(end)
	}
	return len(p) - len(rest), err
}

func (f *packedFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := int(max(min(int64(len(p)), f.size-off), 0))
	if err = f.each(off, k, func(b []byte) { n += copy(p[n:], b) }); err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (f *packedFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.pos)
	f.pos += int64(n)
	return n, err
}

func (f *packedFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *packedFile) Seek(off int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		off += f.pos
	case io.SeekEnd:
		off += f.size
	}
	if off < 0 {
		return f.pos, fs.ErrInvalid
	}
	f.pos = off
	return off, nil
}

// Truncate makes the file longer, or empty.
func (f *packedFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case size == 0:
		f.blocks, f.at, f.dirty = nil, -1, false
	case size < f.size:
		return fs.ErrInvalid
	}
	f.size = size
	return f.File.Truncate(size)
}
