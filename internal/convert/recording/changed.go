package recording

import (
	"fmt"
	"os"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// sourceFiles are the files of a source as they were when it was opened. Formats read
// them at their own time, some more than once: when one is overwritten meanwhile, what
// is read may be partly of before and partly of after.
type sourceFiles struct {
	fs    storage.FS
	paths []string
	infos []os.FileInfo // nil for a file that could not be looked at
}

func lookAt(fsys storage.FS, paths []string) sourceFiles {
	f := sourceFiles{fs: iox.FS(fsys), paths: paths, infos: make([]os.FileInfo, len(paths))}
	for i, path := range paths {
		f.infos[i], _ = f.fs.Stat(path)
	}
	return f
}

// changes has a warning for each file that has another size or time of modification
// now, or is another file. A name that is gone is no change: what was open stays readable.
// A change within the resolution of the file system's clock, or a change that sets the
// time back, is not seen.
func (f *sourceFiles) changes() (list []storage.Warning) {
	for i, path := range f.paths {
		was := f.infos[i]
		is, err := f.fs.Stat(path)
		if was == nil || err != nil || !iox.Replaced(was, is) && was.Size() == is.Size() &&
			was.ModTime().Equal(is.ModTime()) {
			continue
		}
		list = append(list, storage.Warning{
			Code: "source-changed", Offset: -1, Damage: true,
			Message: fmt.Sprintf("%s was changed while it was read: the output may mix old and new content; convert it again",
				path),
		})
	}
	return list
}
