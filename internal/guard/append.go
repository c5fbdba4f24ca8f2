package guard

import (
	"os"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/storage"
)

// Target checks a recording that will be added to: it must be there, and no file of it may
// be an input.
func (g *Guard) Target(f *storage.Format, path string) error {
	if _, err := g.fs.Stat(path); err != nil {
		if files, _ := f.FilesOf(g.fs, path); len(files.Messages) == 0 { // it is no stem of segments
			return err
		}
	}
	if f.AppendTo == nil {
		return &Refusal{path, "nothing can be added to a " + f.Name, "write a new recording: bagconv merge IN IN... OUT",
			storage.ErrUnsupported}
	}
	if err := g.inside(path); err != nil {
		return err
	}
	for p := range g.targetFiles(f, path) {
		if st, err := g.fs.Stat(p); err == nil {
			if in := g.input(st); in != "" {
				return &Refusal{path, "it is an input, or shares a file with one: " + in, "a recording cannot be added to itself",
					ErrInput}
			}
		}
	}
	return nil
}

// targetFiles returns the files of a recording, as absolute paths.
func (g *Guard) targetFiles(f *storage.Format, path string) map[string]bool {
	files, err := f.FilesOf(g.fs, path)
	if err != nil {
		files = storage.Files{Messages: []string{path}}
	}
	set := map[string]bool{absolute(path): true, absolute(inplace.RealPath(path)): true} // a link stays a link
	for _, list := range [][]string{files.Folders, files.Messages, files.Beside} {
		for _, p := range list {
			set[absolute(p)] = true
		}
	}
	return set
}

// Changer returns base (nil: the operating system) as the file system of a writer that adds
// to the recording at path: of the existing files it changes only the files of the
// recording, and what a killed run has left beside them.
func (g *Guard) Changer(base storage.FS, f *storage.Format, path string) storage.FS {
	files := g.targetFiles(f, path)
	return newWriter(base, func(p string) error {
		st, err := g.fs.Stat(p)
		if err != nil || g.leftover(p) {
			return nil
		}
		if in := g.input(st); in != "" {
			return &Refusal{p, "it is an input", otherOutput, ErrInput}
		}
		abs := absolute(p)
		if files[abs] {
			return nil
		}
		for file := range files {
			if inplace.IsJournal(abs, file) {
				return nil
			}
		}
		return &os.PathError{Op: "replace", Path: p, Err: os.ErrExist}
	})
}
