package ros2bag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// Join makes one folder of several. See storage.Format.
//
//	1  the files of each part are moved to stage, with the numbers that they will have
//	2  metadata.yaml is written there
//	3  stage is renamed
//
// A store cannot rename a folder. There the server copies:
//
//	1  metadata.yaml is written to stage, which shows that the folder is being made
//	2  the files are moved to path
//	3  metadata.yaml is moved there
//
// metadata.yaml is made of the metadata.yaml of the parts, which stay.
func (s *Storage) Join(ctx context.Context, fsys storage.FS, parts []string, stage, path string) (size int64,
	err error) {
	j := &joiner{ctx: ctx, s: s, fs: iox.FS(fsys), stage: stage, path: path}
	if size, err = j.run(parts); err != nil {
		return 0, &storage.Error{Format: s.Format, Path: path, Offset: -1, What: "joining its parts", Err: err}
	}
	return size, nil
}

// A joiner does one call of Join.
type joiner struct {
	ctx         context.Context
	s           *Storage
	fs          storage.FS
	stage, path string
	meta        *Metadata // of all parts
	files       []joinFile
}

// A joinFile is a file of a part, and the name that it will have.
type joinFile struct{ from, name string }

// run joins folders, and returns the size of the recording.
func (j *joiner) run(parts []string) (size int64, err error) {
	for _, dir := range parts {
		if err := errors.Join(j.ctx.Err(), j.read(dir)); err != nil {
			return 0, err
		}
	}
	if j.meta == nil {
		return 0, fmt.Errorf("there is none: %w", fs.ErrNotExist)
	}
	if err := j.join(); err != nil {
		return 0, err
	}
	return j.size()
}

// exists reports whether there is a file or a folder.
func (j *joiner) exists(path string) (bool, error) {
	_, err := j.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// join goes on from where a call before has ended.
func (j *joiner) join() error {
	iox.Refresh(j.fs, j.path)
	staged, err := j.exists(j.stage)
	if err != nil {
		return err
	}
	there, err := j.exists(j.path)
	if err != nil {
		return err
	}
	distant := iox.IsURL(j.path)
	switch {
	case there && staged && distant: // its files are being moved
	case there:
		if moved, err := j.moved(); err != nil || moved && !staged {
			return err
		}
		return fs.ErrExist
	}
	if distant {
		return j.moveDistant(staged)
	}
	return j.move(staged)
}

// size returns the bytes of the recording.
func (j *joiner) size() (size int64, err error) {
	for _, f := range append(j.files, joinFile{name: MetadataName}) {
		st, err := j.fs.Stat(filepath.Join(j.path, f.name))
		if err != nil {
			return 0, err
		}
		size += st.Size()
	}
	return size, nil
}

// read reads the metadata.yaml of a part.
func (j *joiner) read(dir string) error {
	l := &Layout{}
	refused := func(_ string, _ bool, format string, args ...any) error {
		return fmt.Errorf("%s: %s: %w", dir, fmt.Sprintf(format, args...), storage.ErrCorrupt)
	}
	if err := l.readMetadata(j.ctx, j.fs, dir, refused); err != nil {
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
func (j *joiner) moved() (bool, error) {
	for _, f := range j.files {
		before, err := j.exists(f.from)
		if err != nil || before {
			return false, err
		}
		if after, err := j.exists(filepath.Join(j.path, f.name)); err != nil || !after {
			return false, err
		}
	}
	return true, nil
}

// move makes the folder.
func (j *joiner) move(staged bool) error {
	if !staged {
		if err := j.fs.Mkdir(j.stage, 0o777); err != nil {
			return err
		}
	}
	for _, f := range j.files {
		if err := j.moveFile(f, j.stage); err != nil {
			return err
		}
	}
	// perhaps half of it
	if err := j.fs.Remove(filepath.Join(j.stage, MetadataName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
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

// moveFile moves a file, unless a call before has moved it.
func (j *joiner) moveFile(f joinFile, dir string) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	to := filepath.Join(dir, f.name)
	err := j.fs.Rename(f.from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if there, _ := j.exists(to); there {
			return nil
		}
	}
	return err
}

// copies is how many files a store copies at a time.
const copies = 4

// moveDistant makes the folder in a store.
func (j *joiner) moveDistant(staged bool) error {
	if !staged {
		if err := j.meta.WriteFile(j.fs, j.stage, true); err != nil {
			return err
		}
	}
	err := ordered.Each(j.ctx, copies, len(j.files), func(i int) error { return j.moveFile(j.files[i], j.path) })
	if err != nil {
		return err
	}
	return j.moveFile(joinFile{filepath.Join(j.stage, MetadataName), MetadataName}, j.path)
}
