package lerobot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Join makes one data set of Episodes, or adds them to one.
type Join struct {
	FS        storage.FS // nil: the operating system's
	Path      string     // of the data set
	Parts     []Part     // in the order that their episodes will have
	Append    bool       // add to the data set at Path, which must exist
	Overwrite bool       // replace it
	NoSync    bool
}

// Run makes the data set. It appears when it is whole: on an error, and if the process is killed at any moment, what
// was at Path stays as it was. An Append makes a new folder, in which the files that are there already have a second
// name (a copy in a store, or on a file system without links), and then swaps the two. The Report is about the episodes
// of the parts.
func (j *Join) Run(ctx context.Context) (report *Report, err error) {
	fsys := iox.FS(j.FS)
	a := &assembly{ctx: ctx, fs: fsys, from: fsys}
	if j.Append {
		if a.base, err = openDataset(fsys, j.Path); err != nil {
			return nil, err
		}
		if err := a.base.apart(j.Parts); err != nil {
			return nil, err
		}
	}
	out, err := iox.NewOutput(fsys, j.Path, j.Overwrite || j.Append, !j.NoSync)
	if err != nil {
		return nil, err
	}
	a.dir = out.Temp()
	if err := fsys.Mkdir(a.dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(err, out.Abort())
	}
	before := 0
	if a.base != nil {
		before = len(a.base.report)
		if err := keepFiles(ctx, fsys, j.Path, a.dir, ""); err != nil {
			return nil, errors.Join(err, out.Abort())
		}
	}
	if err := a.make(j.Parts); err != nil {
		return nil, errors.Join(err, out.Abort())
	}
	if err := out.Commit(); err != nil {
		return nil, err
	}
	list := a.report[before:]
	return &Report{SchemaVersion: 1, Notes: summarize(list, a.set.FPS), Episodes: list}, nil
}

// rewritten reports whether an Append writes a file anew.
func rewritten(name string) bool {
	switch name {
	case infoName, statsName, tasksName, reportName:
		return true
	}
	return false
}

// keepFiles gives all files of a data set a second name in another folder, except the files that
// will be written anew.
func keepFiles(ctx context.Context, fsys storage.FS, from, to, below string) error {
	entries, err := fsys.ReadDir(filepath.Join(from, below))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(below, e.Name())
		switch {
		case e.IsDir():
			if err := fsys.Mkdir(filepath.Join(to, name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			if err := keepFiles(ctx, fsys, from, to, name); err != nil {
				return err
			}
		case rewritten(filepath.ToSlash(name)):
		default:
			if err := keepFile(fsys, filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepFile gives a file a second name, or copies it.
func keepFile(fsys storage.FS, from, to string) error {
	if !iox.IsURL(from) && os.Link(from, to) == nil {
		return nil
	}
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := createFile(fsys, to)
	if err != nil {
		return err
	}
	st, err := in.Stat()
	if err == nil {
		_, err = io.Copy(out, io.NewSectionReader(in, 0, st.Size()))
	}
	return errors.Join(err, syncClose(out))
}

// Apart reports a part that the data set at Path has already; only the sources of the parts are needed.
func (j *Join) Apart() error {
	d, err := openDataset(iox.FS(j.FS), j.Path)
	if err != nil {
		return err
	}
	return d.apart(j.Parts)
}

// apart reports parts that the data set has already.
func (d *dataset) apart(parts []Part) error {
	has := map[string]bool{}
	for _, e := range d.report {
		if e.Source != "" {
			has[e.Source] = true
		}
	}
	for _, p := range parts {
		if has[p.Source] {
			return fmt.Errorf("the data set has the episodes of %s already: %w", p.Source, fs.ErrExist)
		}
	}
	return nil
}

// ReadReport reads the report of a data set.
func ReadReport(fsys storage.FS, path string) (*Report, error) {
	var r Report
	return &r, readJSON(fsys, filepath.Join(path, filepath.FromSlash(reportName)), &r)
}

// IsDataset reports whether a data set stands at a path.
func IsDataset(fsys storage.FS, path string) bool {
	return exists(fsys, filepath.Join(path, filepath.FromSlash(infoName)))
}

// lastPlace returns the place after the files of a folder such as data: chunk-000/file-000.parquet.
func lastPlace(fsys storage.FS, dir string, chunkFiles int) (at place, err error) {
	chunks, err := fsys.ReadDir(dir)
	if err != nil {
		return at, err
	}
	for _, c := range chunks {
		var chunk, file int
		if _, err := fmt.Sscanf(c.Name(), "chunk-%d", &chunk); err != nil || !c.IsDir() || strings.HasPrefix(c.Name(), ".") {
			continue
		}
		files, err := fsys.ReadDir(filepath.Join(dir, c.Name()))
		if err != nil {
			return at, err
		}
		for _, f := range files {
			if _, err := fmt.Sscanf(f.Name(), "file-%d.", &file); err != nil || chunk < 0 || file < 0 {
				continue
			}
			if next := (place{chunk, file}).next(chunkFiles); next.chunk > at.chunk || next.chunk == at.chunk &&
				next.file > at.file {
				at = next
			}
		}
	}
	return at, nil
}
