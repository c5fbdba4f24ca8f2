package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/bagconv/bagconv/convert"
)

// cleanUp removes or finishes what runs that were killed have left of the outputs, and
// names it.
func (e *env) cleanUp(paths []string, jobs ...*convert.Job) {
	found, err := convert.CleanUp(e.fs, paths, jobs...)
	for _, l := range found {
		switch {
		case l.Err != nil:
			e.writeLines("warning",
				[]string{fmt.Sprintf("%s: left by a run that was killed: %v; when no run uses it any more, remove it", l.Path,
					l.Err)})
		case l.Kept != "":
			e.writeLines("note",
				[]string{fmt.Sprintf("%s: left by a recording that was killed; bagconv recover %s OUT saves it, then remove the "+
					"folder", l.Path, l.Kept)})
		case l.Finished:
			e.writeLines("note", []string{l.Path + ": a run was killed while it put its output in place; this is now finished"})
		default:
			e.writeLines("note", []string{l.Path + ": left by a run that was killed; now removed"})
		}
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) { // then nothing can be written there either
		e.sayError(explain(err))
	}
}
