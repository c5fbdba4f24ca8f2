package ros2bag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Join makes one folder of several. See storage.Format.
//
//	1  the files of each part are moved to stage, with the numbers that they will have
//	2  metadata.yaml is written there, from those of the parts, which stay
//	3  stage is renamed
func (s *Storage) Join(ctx context.Context, fsys storage.FS, parts []string, stage, path string) (size int64, err error) {
	j := &joining{s: s, fs: iox.FS(fsys), stage: stage, path: path}
	fail := func(err error) (int64, error) {
		return 0, &storage.Error{Format: s.ID, Path: path, Offset: -1, What: "joining its parts", Err: err}
	}
	for _, dir := range parts {
		if err := errors.Join(ctx.Err(), j.read(ctx, dir)); err != nil {
			return fail(err)
		}
	}
	if j.meta == nil {
		return fail(fmt.Errorf("there is none: %w", fs.ErrNotExist))
	}
	staged, there := exists(j.fs, stage), exists(j.fs, path)
	if there && (staged || !j.moved()) {
		return fail(fs.ErrExist)
	}
	if !there {
		if err := j.move(staged); err != nil {
			return fail(err)
		}
	}
	for _, f := range j.files {
		st, err := j.fs.Stat(filepath.Join(path, f.name))
		if err != nil {
			return fail(err)
		}
		size += st.Size()
	}
	st, err := j.fs.Stat(filepath.Join(path, MetadataName))
	if err != nil {
		return fail(err)
	}
	return size + st.Size(), nil
}

// A joining is one call of Join.
type joining struct {
	s           *Storage
	fs          storage.FS
	stage, path string
	meta        *Metadata // of all parts
	files       []joinFile
}

// A joinFile is a file of a part, and the name that it will have.
type joinFile struct{ from, name string }

func exists(fsys storage.FS, path string) bool {
	_, err := fsys.Stat(path)
	return err == nil
}

// read reads the metadata.yaml of a part.
func (j *joining) read(ctx context.Context, dir string) error {
	l := &Layout{}
	refused := func(_ string, _ bool, format string, args ...any) error {
		return fmt.Errorf(dir+": "+format+": %w", append(args, storage.ErrCorrupt)...)
	}
	if err := l.readMetadata(ctx, j.fs, dir, refused); err != nil {
		return err
	}
	m := l.Meta
	if m == nil || m.StorageID != j.s.ID {
		return fmt.Errorf("%s has other files than %s: %w", dir, j.s.Ext, storage.ErrUnsupported)
	}
	for i, name := range m.Paths {
		if name != filepath.Base(name) {
			return fmt.Errorf("%s lists %.80q, which is not in it: %w", dir, name, storage.ErrUnsupported)
		}
		plain := j.s.PartName(filepath.Base(j.path), len(j.files))
		own := plain + strings.TrimPrefix(name, plainName(name))
		j.files = append(j.files, joinFile{filepath.Join(dir, name), own})
		if m.Paths[i] = own; i < len(m.Files) {
			m.Files[i].Path = plain
		}
	}
	if j.meta == nil {
		j.meta = m
		return nil
	}
	return j.meta.extend(m)
}

// moved reports whether path has the files of all parts, and the parts do not.
func (j *joining) moved() bool {
	for _, f := range j.files {
		if exists(j.fs, f.from) || !exists(j.fs, filepath.Join(j.path, f.name)) {
			return false
		}
	}
	return true
}

// move makes the folder.
func (j *joining) move(staged bool) error {
	if !staged {
		if err := j.fs.Mkdir(j.stage, 0o777); err != nil {
			return err
		}
	}
	for _, f := range j.files {
		to := filepath.Join(j.stage, f.name)
		if exists(j.fs, to) {
			continue // a call before has moved it
		}
		if err := j.fs.Rename(f.from, to); err != nil {
			return err
		}
	}
	if name := filepath.Join(j.stage, MetadataName); exists(j.fs, name) { // perhaps half of it
		if err := j.fs.Remove(name); err != nil {
			return err
		}
	}
	if err := j.meta.WriteFile(j.fs, j.stage, true); err != nil {
		return err
	}
	if err := iox.SyncDir(j.fs, j.stage); err != nil {
		return err
	}
	if err := j.fs.Rename(j.stage, j.path); err != nil {
		return err
	}
	return iox.SyncDir(j.fs, filepath.Dir(j.path))
}
