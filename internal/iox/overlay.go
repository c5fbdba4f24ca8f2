package iox

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// An Overlay is a file system whose changes stay in memory: what a writer makes can be
// measured, and nothing is written. It shows the files of another one, which cannot be
// opened for writing, renamed or removed. It may be used from several goroutines.
type Overlay struct {
	base  storage.FS
	mu    sync.Mutex
	nodes map[string]*overlayNode // by clean path
}

// An overlayNode is a file or folder in memory.
type overlayNode struct {
	mu     sync.RWMutex
	dir    bool
	pages  [][]byte
	length int64
}

// overlayPage is the size of a page, in bytes: a file that grows is not copied.
const overlayPage = 128 << 10

// NewMemoryFile returns an empty file that lies in memory. Its methods may be called
// concurrently, but for Read, Write and Seek.
func NewMemoryFile(name string) storage.File {
	return &overlayFile{overlayNode: &overlayNode{}, name: name}
}

// NewOverlay returns a file system that shows base; nil is the operating system's.
func NewOverlay(base storage.FS) *Overlay {
	return &Overlay{base: FS(base), nodes: map[string]*overlayNode{}}
}

// Size returns the bytes of all files in memory.
func (o *Overlay) Size() (n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, node := range o.nodes {
		n += node.size()
	}
	return n
}

func (n *overlayNode) size() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.length
}

func (o *Overlay) node(name string) *overlayNode {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.nodes[filepath.Clean(name)]
}

// Open opens a file or folder for reading.
func (o *Overlay) Open(name string) (storage.File, error) { return o.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file; one that does not exist is made in memory, if flag has os.O_CREATE.
func (o *Overlay) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	node := o.node(name)
	switch {
	case node == nil && flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) == 0:
		return o.base.OpenFile(name, flag, perm)
	case node != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case node == nil:
		var err error
		if node, err = o.make("open", name, flag&os.O_CREATE != 0, false); err != nil {
			return nil, err
		}
	case flag&os.O_TRUNC != 0:
		node.mu.Lock()
		node.resize(0)
		node.mu.Unlock()
	}
	return &overlayFile{overlayNode: node, name: name}, nil
}

// make makes a file or folder, if nothing has its name and its folder exists.
func (o *Overlay) make(op, name string, create, dir bool) (*overlayNode, error) {
	fail := func(err error) (*overlayNode, error) { return nil, &fs.PathError{Op: op, Path: name, Err: err} }
	if _, err := o.Stat(name); err == nil && create {
		return fail(fs.ErrExist)
	} else if err == nil {
		return fail(fs.ErrPermission)
	}
	if !create {
		return fail(fs.ErrNotExist)
	}
	if st, err := o.Stat(filepath.Dir(name)); err != nil || !st.IsDir() {
		return fail(fs.ErrNotExist)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	node := &overlayNode{dir: dir}
	o.nodes[filepath.Clean(name)] = node
	return node, nil
}

// Mkdir makes a folder in memory.
func (o *Overlay) Mkdir(name string, _ os.FileMode) error {
	_, err := o.make("mkdir", name, true, true)
	return err
}

// Stat describes a file or folder.
func (o *Overlay) Stat(name string) (os.FileInfo, error) {
	if node := o.node(name); node != nil {
		return overlayInfo{node, filepath.Base(name)}, nil
	}
	return o.base.Stat(name)
}

// ReadDir lists a folder.
func (o *Overlay) ReadDir(name string) (list []os.DirEntry, err error) {
	if o.node(name) == nil {
		list, err = o.base.ReadDir(name)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for path, node := range o.nodes {
		if filepath.Dir(path) == filepath.Clean(name) && path != filepath.Clean(name) {
			list = append(list, fs.FileInfoToDirEntry(overlayInfo{node, filepath.Base(path)}))
		}
	}
	return list, err
}

// Rename moves what is in memory.
func (o *Overlay) Rename(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.nodes[from] == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrPermission}
	}
	for path, node := range o.nodes {
		if rest, ok := below(path, from); ok {
			delete(o.nodes, path)
			o.nodes[to+rest] = node
		}
	}
	return nil
}

// Remove removes what is in memory.
func (o *Overlay) Remove(name string) error {
	if o.node(name) == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrPermission}
	}
	return o.RemoveAll(name)
}

// RemoveAll removes what is in memory.
func (o *Overlay) RemoveAll(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for path := range o.nodes {
		if _, ok := below(path, filepath.Clean(name)); ok {
			delete(o.nodes, path)
		}
	}
	return nil
}

// below returns what follows dir in path, if path is dir or in it.
func below(path, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, dir)
	return rest, ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// An overlayFile is an open file or folder in memory.
type overlayFile struct {
	*overlayNode
	name string
	at   int64 // of Read and Write
}

func (f *overlayFile) Name() string { return f.name }
func (f *overlayFile) Stat() (os.FileInfo, error) {
	return overlayInfo{f.overlayNode, filepath.Base(f.name)}, nil
}
func (f *overlayFile) Sync() error  { return nil }
func (f *overlayFile) Close() error { return nil }

func (f *overlayFile) Read(p []byte) (n int, err error) {
	n, err = f.ReadAt(p, f.at)
	if f.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

func (f *overlayFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *overlayFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	want := p[:min(int64(len(p)), max(f.length-off, 0))]
	for n < len(want) {
		at := off + int64(n)
		n += copy(want[n:], f.pages[at/overlayPage][at%overlayPage:])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (f *overlayFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resize(max(f.length, off+int64(len(p))))
	n := 0
	for n < len(p) {
		at := off + int64(n)
		n += copy(f.pages[at/overlayPage][at%overlayPage:], p[n:])
	}
	return n, nil
}

// resize makes the file longer, with zeros, or shorter.
func (n *overlayNode) resize(size int64) {
	pages := int((size + overlayPage - 1) / overlayPage)
	for len(n.pages) < pages {
		n.pages = append(n.pages, make([]byte, overlayPage))
	}
	clear(n.pages[pages:])
	if n.pages = n.pages[:pages]; size < n.length && size%overlayPage > 0 {
		clear(n.pages[pages-1][size%overlayPage:])
	}
	n.length = size
}

func (f *overlayFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resize(size)
	return nil
}

func (f *overlayFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size()
	}
	if offset < 0 {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: fs.ErrInvalid}
	}
	f.at = offset
	return offset, nil
}

// overlayInfo describes a file or folder in memory.
type overlayInfo struct {
	node *overlayNode
	name string
}

func (i overlayInfo) Name() string       { return i.name }
func (i overlayInfo) Size() int64        { return i.node.size() }
func (i overlayInfo) IsDir() bool        { return i.node.dir }
func (i overlayInfo) ModTime() time.Time { return time.Time{} }
func (i overlayInfo) Sys() any           { return nil }
func (i overlayInfo) Mode() fs.FileMode {
	if i.node.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}
