package iox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// keepName is a file in the staging folder of an output that CleanUp must not remove: what
// is in it cannot be made again.
const keepName = "keep"

// An Unfinished is a file system for an output that cannot be made again, such as a recording of a
// running system. If the output does not get its name, its staging folder stays, and CleanUp
// leaves it alone. It is for one output, and one goroutine.
type Unfinished struct {
	Wrapped
	stage   string
	swapped bool // what stood in its place is in the staging folder
}

// KeepUnfinished returns such a file system; fsys nil means the operating system's.
func KeepUnfinished(fsys storage.FS) *Unfinished { return &Unfinished{Wrapped: Wrap(fsys)} }

// Mkdir makes a folder, and marks a staging folder.
func (u *Unfinished) Mkdir(name string, perm os.FileMode) error {
	if err := u.FS.Mkdir(name, perm); err != nil {
		return err
	}
	stage := filepath.Dir(name)
	if filepath.Base(name) != newName || !IsTemp(filepath.Base(stage)) {
		return nil
	}
	f, err := u.OpenFile(filepath.Join(stage, keepName), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	u.stage = stage
	return f.Close()
}

// Exchange gives the output its name, and swaps it back if that was not the end.
func (u *Unfinished) Exchange(a, b string) error {
	err := u.Wrapped.Exchange(a, b)
	if err == nil {
		u.swapped = !u.swapped
	}
	return err
}

// RemoveAll removes a tree, but nothing that the output still needs.
func (u *Unfinished) RemoveAll(name string) error {
	if u.Left() != "" && (name == u.stage || filepath.Dir(name) == u.stage) {
		return nil
	}
	return u.FS.RemoveAll(name)
}

// Left returns what has been made and has no name yet: the path of the file or folder, or for several
// files what all their names begin with; "" for nothing.
func (u *Unfinished) Left() string {
	if u.stage == "" || u.swapped {
		return ""
	}
	return madeIn(u.FS, u.stage)
}

// kept returns what is in a staging folder that must stay, "" if it need not.
func kept(fsys storage.FS, stage string) string {
	if _, err := fsys.Stat(filepath.Join(stage, keepName)); err != nil {
		return ""
	}
	return madeIn(fsys, stage)
}

// madeIn returns what a staging folder has of its output. See Left.
func madeIn(fsys storage.FS, stage string) string {
	dir := filepath.Join(stage, newName)
	entries, err := fsys.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return ""
	}
	rest := strings.TrimSuffix(filepath.Base(stage), stageSuffix)
	if name := rest[1 : len(rest)-9]; len(entries) > 1 && strings.HasPrefix(entries[0].Name(), name+".") {
		return filepath.Join(dir, name) // segments
	}
	return filepath.Join(dir, entries[0].Name())
}
