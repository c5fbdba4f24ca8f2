package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A Registry is an ordered list of formats. The order decides which format is
// asked first when a file is detected.
type Registry struct {
	formats []*Format
	known   []*Format // formats, and after them the formats without Open
	written []*Format // known formats that have Create
	locator Locator   // nil: names are files of the operating system
}

// NewRegistry returns a registry of the given formats. It panics if a format lacks what every
// format has, or if a name appears twice: that is our own bug.
func NewRegistry(formats ...*Format) *Registry {
	seen := map[string]bool{}
	r := &Registry{}
	var nameOnly []*Format
	for _, f := range formats {
		if err := f.incomplete(); err != nil {
			panic("internal error: storage: " + err.Error())
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if seen[name] {
				panic("internal error: storage: format registered twice: " + name)
			}
			seen[name] = true
		}
		if f.Open == nil {
			nameOnly = append(nameOnly, f)
		} else {
			r.formats = append(r.formats, f)
		}
	}
	r.known = slices.Concat(r.formats, nameOnly)
	r.written = slices.DeleteFunc(slices.Clone(r.known), func(f *Format) bool { return f.Create == nil })
	return r
}

// And returns a registry of the same formats, and of these after them, which finds names as r does.
func (r *Registry) And(formats ...*Format) *Registry {
	other := NewRegistry(append(slices.Clone(r.known), formats...)...)
	other.locator = r.locator
	return other
}

// Formats returns the formats that can be read, in order. The slice must not be changed.
func (r *Registry) Formats() []*Format { return r.formats }

// Writable returns the formats that can be written, in order; formats that are only written come
// last. The slice must not be changed.
func (r *Registry) Writable() []*Format { return r.written }

// Listings returns the listings of all formats, each name once.
func (r *Registry) Listings() (list []Listing) {
	for _, f := range r.formats {
		own := f.Layout.Listing
		if own != nil && !slices.ContainsFunc(list, func(l Listing) bool { return l.Name == own.Name }) {
			list = append(list, *own)
		}
	}
	return list
}

// Lookup returns the format of that name or alias that can be read or written, in any case and also written as an
// ending, such as .MCAP. It returns nil for an unknown name; a caller that takes names from outside must check
// before it uses the result.
func (r *Registry) Lookup(name string) *Format {
	name = strings.ToLower(strings.TrimPrefix(name, "."))
	for _, f := range r.known {
		if (f.Open != nil || f.Create != nil) && (f.Name == name || slices.Contains(f.Aliases, name)) {
			return f
		}
	}
	return nil
}

// Choose returns the format that writes an output of f. See Format.Choose.
func (r *Registry) Choose(f *Format, name, path string, option func(name string) string) *Format {
	if f.Choose == nil {
		return f
	}
	if other := r.Lookup(f.Choose(f.Name, name, path, option)); other != nil && other.Create != nil {
		return other
	}
	return f
}

// Detect returns the format of the recording at path, by its content. An error
// means that path cannot be read; when no format claims it the error wraps
// ErrUnknownFormat. A path under which nothing stands may still be the stem of a
// recording in several files; else the error wraps fs.ErrNotExist.
func (r *Registry) Detect(path string) (*Format, error) { return r.DetectIn(nil, path) }

// DetectIn does the same with the files of fsys; nil: the operating system's.
func (r *Registry) DetectIn(fsys FS, path string) (*Format, error) {
	head, err := readHead(fsys, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range r.formats {
		if f.Sniff(fsys, path, head) {
			return f, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", path, ErrUnknownFormat)
}

// readHead returns the first SniffLen bytes of a file, nil for a folder.
func readHead(fsys FS, path string) ([]byte, error) {
	stat, open := os.Stat, func(path string) (io.ReadCloser, error) { return os.Open(path) }
	if fsys != nil {
		stat, open = fsys.Stat, func(path string) (io.ReadCloser, error) { return fsys.Open(path) }
	}
	st, err := stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, nil
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file: %w", path, ErrUnsupported)
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, SniffLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return head[:n], nil
}
