package storage

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Group is the files in one folder that are one recording.
type Group struct {
	Name   string   // in the folder: of a file, or the stem of several; "" if the folder is the recording
	Parts  []string // names of files; who names all of them means the recording
	Beside []string // names of other files that belong to it
}

// GroupsOf returns the recordings of several files among names, which are the regular files in the
// folder dir. rest has the other names, each of which may be a recording by itself.
func (f *Format) GroupsOf(fsys FS, dir string, names []string) (groups []Group, rest []string) {
	if f.Layout.Recordings == nil {
		return nil, names
	}
	return f.Layout.Recordings(fsys, dir, names)
}

// StemOf returns the name of a recording without the endings that recordings of the format have. It
// returns name itself if name has no such ending.
func (f *Format) StemOf(name string) string {
	if f.Layout.Stem != nil {
		return f.Layout.Stem(name)
	}
	return TrimExtension(name, f.Extensions...)
}

// TrimExtension returns a path without the first of the extensions that it ends with, whatever
// their case. A name that is only an extension keeps it.
func TrimExtension(path string, extensions ...string) string {
	for _, x := range extensions {
		if n := len(path) - len(x); n > 0 && strings.EqualFold(path[n:], x) && len(filepath.Base(path)) > len(x) {
			return path[:n]
		}
	}
	return path
}

// Known returns the formats, and after them the formats that are known by name only. The slice must
// not be changed.
func (r *Registry) Known() []*Format { return r.known }

// Named returns the format, also a format that is known by name only, to which the extension
// of a path belongs, or nil.
func (r *Registry) Named(path string) *Format {
	ext := strings.ToLower(filepath.Ext(path))
	for _, f := range r.known {
		if slices.Contains(f.Extensions, ext) {
			return f
		}
	}
	return nil
}

// Identify returns what the formats know about a file that no format claims; "" if they know
// nothing. head is as for Sniff.
func (r *Registry) Identify(path string, head []byte) (what, hint string) {
	for _, f := range r.known {
		if f.Layout.Identify == nil {
			continue
		}
		if what, hint := f.Layout.Identify(path, head); what != "" {
			return what, hint
		}
	}
	return "", ""
}

// incomplete reports what a format lacks to be registered.
func (f *Format) incomplete() error {
	switch {
	case f == nil || f.Name == "":
		return errors.New("a format without a name")
	case f.Open == nil && f.Layout.Identify == nil:
		return fmt.Errorf("format %s has neither Open nor Identify", f.Name)
	case f.Open != nil && f.Sniff == nil:
		return fmt.Errorf("format %s has no Sniff", f.Name)
	}
	return nil
}
