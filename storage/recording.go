package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// A Recording is an open recording of any format: its Reader, with loops over its messages.
// ReaderCapabilities finds the optional interfaces of the Reader.
//
//	r, err := formats.Open(ctx, path, storage.ReadOptions{})
//	defer r.Close()
//	for m, err := range r.Messages(ctx) { ... }
type Recording struct {
	Reader
	Format *Format // of the recording

	end func() // of the files; nil: nothing
}

// Messages returns the messages that ReadNext would return, in the order of the file. The message and its Data are
// valid until the loop's next step: copy them to keep them. An error comes with a nil message, and ends the loop; so
// does the end of ctx, with its cause. Only one loop may run, and the next one goes on where it ended.
func (r *Recording) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for {
			m, err := r.ReadNext()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				m = nil
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Query returns some messages by the index of the recording, in the order of time. See Querier. The error wraps
// ErrUnsupported if the format, or this recording, has no index.
func (r *Recording) Query(ctx context.Context, q Query) iter.Seq2[*Message, error] {
	if queries := ReaderCapabilities(r.Reader).Query; queries != nil {
		return queries.Query(ctx, q)
	}
	return func(yield func(*Message, error) bool) {
		yield(nil, fmt.Errorf("format %s: queries: %w", r.Format.Name, ErrUnsupported))
	}
}

// Close frees the recording. See Reader.
func (r *Recording) Close() error {
	err := r.Reader.Close()
	if r.end != nil {
		r.end()
	}
	return err
}

// A Place is the file system in which names are files.
type Place struct {
	FS    FS       // nil: the operating system's
	Names []string // in it, in the order of the names that were asked for
	End   func()   // frees it, when nothing is read or written any more
}

// A Locator makes the Place of names, such as URLs. Its FS is nil if all names are files of
// the operating system. listings has Layout.Listing of each format. Requests of the Place end with
// ctx.
type Locator func(ctx context.Context, listings []Listing, names []string) (Place, error)

// With returns a registry of the same formats in which the locator decides what names mean, for
// Open and for callers of Locate.
func (r *Registry) With(l Locator) *Registry {
	other := *r
	other.locator = l
	return &other
}

// Locate returns the place of names. If the caller has a file system of its own, fsys, that is the
// place. End is never nil.
func (r *Registry) Locate(ctx context.Context, fsys FS, names ...string) (p Place, err error) {
	p = Place{FS: fsys, Names: names}
	if r.locator != nil && fsys == nil {
		p, err = r.locator(ctx, r.Listings(), names)
	}
	if p.End == nil {
		p.End = func() {}
	}
	return p, err
}

// Open opens the recording at path, whatever its format, which it finds by DetectIn. Names mean what the registry's
// Locator says, unless o.FS is set.
func (r *Registry) Open(ctx context.Context, path string, o ReadOptions) (*Recording, error) {
	p, err := r.Locate(ctx, o.FS, path)
	if err != nil {
		return nil, err
	}
	o.FS, path = p.FS, p.Names[0]
	f, err := r.DetectIn(o.FS, path)
	if err != nil {
		p.End()
		return nil, err
	}
	reader, err := f.Open(ctx, path, o)
	if err != nil {
		p.End()
		return nil, err
	}
	return &Recording{Reader: reader, Format: f, end: p.End}, nil
}

// Output returns the format of an output by the ending of its name. A name without an ending, or
// with a separator at its end, is a folder: its format is the first one whose recordings are
// folders. The error wraps ErrUnknownFormat, and ErrUnsupported for the name of a format that is
// not written.
func (r *Registry) Output(path string) (*Format, error) {
	folder, ext := NamesFolder(path), strings.ToLower(filepath.Ext(filepath.Clean(path)))
	for _, f := range r.Writable() {
		if !folder && slices.Contains(f.Extensions, ext) || f.Layout.Folder && (folder || ext == "" || ext == ".") {
			return r.Choose(f, "", path, func(string) string { return "" }), nil
		}
	}
	if f := r.Named(path); f != nil {
		return nil, fmt.Errorf("%s: recordings of format %s are not written: %w", path, f.Name, ErrUnsupported)
	}
	return nil, fmt.Errorf("%s: no format has the ending %q: %w", path, ext, ErrUnknownFormat)
}

// reader returns what r reads with.
func reader(r Reader) Reader {
	for {
		recording, ok := r.(*Recording)
		if !ok {
			return r
		}
		r = recording.Reader
	}
}
