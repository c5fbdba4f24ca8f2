package iox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bagconv/bagconv/storage"
)

// An Output is a file or folder in the making, or several of them that will stand
// beside each other. Until Commit it lives in a staging folder beside its final name:
//
//	.NAME.XXXXXXXX.part/
//	  run      locked as long as the process lives that makes the output
//	  new/     what is made, under the names that it will have
//	  old/     what Commit replaces, until all that is new is in its place
//	  journal  there while Commit moves several names: see journal
//
// Commit makes all of it appear, Abort removes it. What a process that was killed
// has left is removed or finished by CleanUp. An Output is for one goroutine.
type Output struct {
	fs        storage.FS
	dir, base string // the final name
	stage     string // the staging folder
	run       storage.File
	overwrite bool
	sync      bool
	done      bool
}

// The names in a staging folder.
const (
	runName     = "run"
	newName     = "new"
	oldName     = "old"
	journalName = "journal"
)

// NewOutput starts an output that will stand at path: the caller makes a file or a
// folder at Temp, and then calls Commit. Errors wrap fs.ErrExist when path exists and
// may not be overwritten.
func NewOutput(fsys storage.FS, path string, overwrite, sync bool) (*Output, error) {
	fsys = FS(fsys)
	path = filepath.Clean(path)
	if _, err := fsys.Stat(path); err == nil {
		if !overwrite {
			return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return NewOutputs(fsys, path, overwrite, sync)
}

// NewOutputs starts several outputs that will stand beside each other: the caller
// makes files or folders in TempDir, and then calls CommitAll. They will stand in the
// folder of path; the last part of path names the staging folder.
func NewOutputs(fsys storage.FS, path string, overwrite, sync bool) (*Output, error) {
	o := &Output{fs: FS(fsys), overwrite: overwrite, sync: sync}
	o.dir, o.base = filepath.Split(filepath.Clean(path))
	o.dir = filepath.Clean(o.dir)
	for try := 0; ; try++ {
		// A cleaner may take the folder away before it is locked.
		err := o.makeStage()
		if err == nil || try == 10 || !errors.Is(err, errStage) {
			return o, err
		}
	}
}

// errStage is the error of a staging folder whose name is taken; another name may be
// free.
var errStage = errors.New("the name of the staging folder is taken")

func (o *Output) makeStage() error {
	o.stage = filepath.Join(o.dir, fmt.Sprintf("%s%08x%s", stagePrefix(o.base), rand.Uint32(), stageSuffix))
	if err := o.fs.Mkdir(o.stage, 0o777); errors.Is(err, fs.ErrExist) {
		return errors.Join(errStage, err)
	} else if err != nil {
		return err
	}
	run, err := o.fs.OpenFile(filepath.Join(o.stage, runName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Join(errStage, err)
	case err != nil:
		return errors.Join(err, o.fs.Remove(o.stage))
	}
	o.run = run
	// If there are no locks the output is made all the same; CleanUp then leaves
	// its staging folder alone.
	if err := TryLock(run); errors.Is(err, ErrLocked) {
		return errors.Join(errStage, run.Close())
	}
	if err := o.fs.Mkdir(o.TempDir(), 0o777); errors.Is(err, fs.ErrNotExist) {
		return errors.Join(errStage, run.Close())
	} else if err != nil {
		return errors.Join(err, o.Abort())
	}
	return nil
}

const stageSuffix = ".part"

// stagePrefix returns what the names of the staging folders of an output begin with.
func stagePrefix(base string) string {
	const limit = 200 // bytes, so that the name is no longer than a name may be
	for len(base) > limit {
		base = strings.ToValidUTF8(base[:limit], "")
	}
	return "." + base + "."
}

// IsTemp reports whether a name, without its folder, is the name of a staging folder.
func IsTemp(name string) bool {
	rest, ok := strings.CutSuffix(name, stageSuffix)
	return ok && strings.HasPrefix(name, ".") && len(rest) > 9 && isHex(rest[len(rest)-8:]) && rest[len(rest)-9] == '.'
}

// TempOf returns the name, or its beginning if it is long, of the output whose staging folder has a name. See IsTemp.
func TempOf(stage string) string { return stage[1 : len(stage)-len(stageSuffix)-9] }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// FinalPath returns the path that something in a staging folder will have; other
// paths are returned as they are.
func FinalPath(path string) string {
	parts := strings.Split(path, string(filepath.Separator))
	var kept []string
	for i := 0; i < len(parts); i++ {
		if IsTemp(parts[i]) && i+1 < len(parts) && parts[i+1] == newName {
			i++
			continue
		}
		kept = append(kept, parts[i])
	}
	return strings.Join(kept, string(filepath.Separator))
}

// Temp returns where the output is made that will stand at Final.
func (o *Output) Temp() string { return filepath.Join(o.TempDir(), o.base) }

// TempDir returns the folder in which outputs are made that will stand beside each other.
func (o *Output) TempDir() string { return filepath.Join(o.stage, newName) }

// Final returns the path that NewOutput got.
func (o *Output) Final() string { return filepath.Join(o.dir, o.base) }

// Replace writes a file that appears when it is whole and synced, in the place of an older one.
func Replace(fsys storage.FS, path string, write func(io.Writer) error) (err error) {
	out, err := NewOutput(fsys, path, true, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Abort()) }()
	f, err := out.fs.OpenFile(out.Temp(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return out.Commit()
}

// Commit moves what is at Temp to Final. The caller has closed and synced the files
// themselves; the names are synced here (if the output was made with sync). On
// error the output is removed, and what stood at Final stands there.
func (o *Output) Commit() error {
	return o.commit([]string{o.base}, nil)
}

// CommitAll moves what is in TempDir under these names into the folder of the
// output, and removes what stands there under these names or the names in old: all or
// nothing, on error as for Commit. Each name must be without a folder.
func (o *Output) CommitAll(names, old []string) error {
	return o.commit(names, old)
}

func (o *Output) commit(names, old []string) error {
	if o.done {
		return nil
	}
	err := o.place(names, old)
	var unclean *uncleanError
	if errors.As(err, &unclean) { // what is in the staging folder is needed
		o.done = true
		return errors.Join(err, o.run.Close())
	}
	if err != nil {
		return errors.Join(err, o.Abort())
	}
	o.done = true
	_ = o.removeStage() // all stands in its place; CleanUp names what may be left
	return nil
}

// Abort removes the unfinished output. After Commit it does nothing.
func (o *Output) Abort() error {
	if o.done {
		return nil
	}
	o.done = true
	return o.removeStage()
}

// removeStage removes the staging folder. The file run goes last, so that CleanUp
// knows the rest for what it is if the process is killed meanwhile.
func (o *Output) removeStage() error {
	return errors.Join(removeStage(o.fs, o.stage, o.run))
}

func removeStage(fsys storage.FS, stage string, run storage.File) error {
	if err := errors.Join(fsys.RemoveAll(filepath.Join(stage, newName)),
		fsys.RemoveAll(filepath.Join(stage, oldName))); err != nil {
		return errors.Join(err, run.Close())
	}
	return errors.Join(run.Close(), fsys.RemoveAll(stage)) // not every system removes an open file
}

// SyncDir makes the names in a folder durable.
func SyncDir(fsys storage.FS, dir string) error {
	if store(fsys, dir) != nil {
		return nil // what is there is durable
	}
	d, err := fsys.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cannotSync(err) || errors.Is(err, os.ErrPermission) { // so answers Windows
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Sync is f.Sync, but a file system that does not sync is no error: what is written there is as durable as it can be.
func Sync(f interface{ Sync() error }) error {
	err := f.Sync()
	if cannotSync(err) {
		return nil
	}
	return err
}

// cannotSync tells a file system that does not sync (some of networks, and of virtual machines) from a disk that
// failed. Linux answers EINVAL if a file system does not have the operation; Go's fs.ErrInvalid is another error.
func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}
