package virtual

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/iox"
)

// files keeps layouts in a folder: NAME.layout, NAME being a hash of the files of the source (path,
// size, time, first and last bytes) and of what is asked for. A nil one keeps nothing. What cannot
// be written or read is made again: no error is worth a word.
type files struct{ dir string }

// The most that the folder has, in bytes, and how many bytes of a source are hashed at each end.
const (
	maxFiles  = 256 << 20
	hashBytes = 64 << 10
	ending    = ".layout"
)

// name returns the file for the layout of a job; "" if its source cannot be read.
func (f *files) name(job convert.Job, key string) string {
	set, err := job.SourceFormat.FilesOf(job.Read.FS, job.Source)
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", key)
	for _, path := range slices.Concat(set.Messages, set.Beside) {
		if err := addFile(h, job, path); err != nil {
			return ""
		}
	}
	return filepath.Join(f.dir, hex.EncodeToString(h.Sum(nil)[:16])+ending)
}

// addFile adds what a file is to a hash.
func addFile(h hash.Hash, job convert.Job, path string) error {
	file, err := iox.FS(job.Read.FS).Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil || st.IsDir() {
		return err
	}
	fmt.Fprintf(h, "%q %d %d\n", path, st.Size(), st.ModTime().UnixNano())
	for _, at := range []int64{0, max(st.Size()-hashBytes, 0)} {
		b := make([]byte, min(hashBytes, st.Size()-at))
		if err := iox.ReadFull(file, b, at); err != nil {
			return err
		}
		h.Write(b)
	}
	return nil
}

// load reads a layout.
func (f *files) load(name string) (*layout, error) {
	if f == nil || name == "" {
		return nil, fs.ErrNotExist
	}
	st, err := os.Stat(name)
	if err != nil || st.Size() > maxFiles {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	_ = os.Chtimes(name, time.Time{}, time.Now()) // the layouts used last stay
	return decodeLayout(text)
}

// save writes a layout, except the layout of an encrypted source, and removes the layouts used
// least while there are too many bytes.
func (f *files) save(name string, l *layout) {
	if f == nil || name == "" || l.Secret {
		return
	}
	text, err := l.encode()
	if err != nil || os.MkdirAll(f.dir, 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(f.dir, "new-*")
	if err != nil {
		return
	}
	_, err = temp.Write(text)
	if err = cmp.Or(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return
	}
	f.prune()
}

// prune removes files until the others have maxFiles bytes at most.
func (f *files) prune() {
	list, err := os.ReadDir(f.dir)
	if err != nil {
		return
	}
	var infos []fs.FileInfo
	for _, d := range list {
		st, err := d.Info()
		switch {
		case err != nil || !st.Mode().IsRegular():
		case strings.HasSuffix(d.Name(), ending):
			infos = append(infos, st)
		case strings.HasPrefix(d.Name(), "new-") && time.Since(st.ModTime()) > time.Hour: // of a process that was killed
			_ = os.Remove(filepath.Join(f.dir, d.Name()))
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	sum := int64(0)
	for _, st := range infos {
		if sum += st.Size(); sum > maxFiles {
			_ = os.Remove(filepath.Join(f.dir, st.Name()))
		}
	}
}

// remove removes a layout that was wrong.
func (f *files) remove(name string) {
	if f != nil && name != "" {
		_ = os.Remove(name)
	}
}
