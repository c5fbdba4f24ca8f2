package guard

import (
	"errors"
	"io"
	"io/fs"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Kind is a sort of file that is written beside recordings, such as reports. It takes
// the place of empty files and of its own kind, and of nothing else.
type Kind struct {
	Name string                 // "report of bagconv"
	Is   func(head []byte) bool // by the first storage.SniffLen bytes
}

// Check returns nil when a file of the kind may be written to path in fsys (nil: the operating system's).
func (k Kind) Check(fsys storage.FS, path string) error {
	fsys = iox.FS(fsys)
	if _, err := iox.Lstat(fsys, path); err != nil {
		return unlessMissing(err)
	}
	st, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Refusal{path, "it is a link to something that is not there", "remove the link, or choose another name", nil}
	case err != nil:
		return err
	case st.IsDir():
		return &Refusal{path, "it is a folder", "give the name of a file", nil}
	case !st.Mode().IsRegular():
		return &Refusal{path, "it is " + irregular(st.Mode()), "choose a file", nil}
	case st.Size() == 0:
		return nil
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	head := make([]byte, storage.SniffLen)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !k.Is(head[:n]) {
		return &Refusal{path, "it is not a " + k.Name + ", and nothing else is replaced", "choose another name", nil}
	}
	return nil
}

// Writer returns base (nil: the operating system) as the file system for files of the
// kind.
func (k Kind) Writer(base storage.FS) storage.FS {
	return newWriter(base, func(path string) error { return k.Check(base, path) })
}
