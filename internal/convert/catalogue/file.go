package catalogue

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Version is the version of the columns: a catalogue of another version is made anew.
const Version = 1

// ErrOther is wrapped by the errors of files that are no catalogues, ErrOld by the errors of catalogues of another
// version.
var (
	ErrOther = errors.New("it is not a catalogue of bagconv")
	ErrOld   = errors.New("it is a catalogue of another version of bagconv")
)

// A Reader goes through the recordings of a catalogue, in order of path.
type Reader interface {
	// Next returns the next recording, which belongs to the caller, or io.EOF.
	Next() (*Recording, error)
	Close() error
}

// A Writer writes a catalogue.
type Writer interface {
	Add(r *Recording) error
	Close() error // writes the rest; it does not close the file
}

// A kindOf is a kind of files.
type kindOf struct {
	endings []string
	open    func(f storage.File, size int64) (Reader, error)
	write   func(fsys storage.FS, dir string, w io.Writer, fill func(w Writer) error) error
}

var kinds = []kindOf{
	{[]string{".parquet"}, openParquet, writeParquet},
	{[]string{".sqlite", ".sqlite3", ".db"}, openSQLite, writeSQLite},
}

// Endings lists the endings of names of catalogues.
func Endings() (list []string) {
	for _, k := range kinds {
		list = append(list, k.endings...)
	}
	return list
}

// kindBy returns the kind of files of a name; nil if its ending is not among Endings.
func kindBy(path string) *kindOf {
	for i := range kinds {
		if slices.Contains(kinds[i].endings, strings.ToLower(filepath.Ext(path))) {
			return &kinds[i]
		}
	}
	return nil
}

// Is reports whether a file is a catalogue, of any version.
func Is(fsys storage.FS, path string) bool {
	if kindBy(path) == nil {
		return false
	}
	r, err := Open(fsys, path)
	if err != nil {
		return errors.Is(err, ErrOld)
	}
	return r.Close() == nil
}

// Open opens a catalogue.
func Open(fsys storage.FS, path string) (Reader, error) {
	k := kindBy(path)
	if k == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrOther)
	}
	f, err := iox.FS(fsys).Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	var r Reader
	if err == nil {
		r, err = k.open(f, st.Size())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &openFile{r, f, path, ""}, nil
}

// An openFile is a Reader and its file. It proves that the rows are in order.
type openFile struct {
	Reader
	file storage.File
	path string
	last string
}

func (o *openFile) Next() (*Recording, error) {
	r, err := o.Reader.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err == nil && r.Path < o.last:
		err = fmt.Errorf("its rows are not in order of path: %w", storage.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	o.last = r.Path
	return r, nil
}

func (o *openFile) Close() error { return errors.Join(o.Reader.Close(), o.file.Close()) }

// none is the Reader of a catalogue that is not there.
type none struct{}

func (none) Next() (*Recording, error) { return nil, io.EOF }
func (none) Close() error              { return nil }

// Previous opens the catalogue at path, which a run will replace. Of a catalogue that is not there, is empty or of
// another version, nothing is taken; full says that nothing is taken of any. A file that is no catalogue is an error.
func Previous(fsys storage.FS, path string, full bool) (Reader, error) {
	st, err := iox.FS(fsys).Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && st.Mode().IsRegular() && st.Size() == 0:
		return none{}, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, ErrOther)
	}
	r, err := Open(fsys, path)
	switch {
	case errors.Is(err, ErrOld), full && err != nil && !errors.Is(err, ErrOther):
		return none{}, nil
	case err != nil || !full:
		return r, err
	}
	return none{}, r.Close()
}
