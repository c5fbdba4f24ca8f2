package inplace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// RealPath returns the path of the file that a link of this machine leads to; other paths stay as they are.
func RealPath(path string) string {
	st, err := iox.Lstat(nil, path)
	if err != nil || st.Mode()&fs.ModeSymlink == 0 {
		return path
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return real
}

// checkNames refuses a file that has several names. A change would appear under all of them, also in a copy that was
// made with hard links. And a killed run could be finished only under the name beside which its journal lies.
func (p *File) checkNames() error {
	n := iox.HardLinks(p.File)
	if n <= 1 {
		return nil
	}
	return &storage.Error{
		Format: p.o.Format, Path: p.path, Offset: -1, Err: storage.ErrUnsupported,
		What: fmt.Sprintf("the file has %d names (hard links), and would change under all of them", n),
		Hint: "copy it, and give the name of the copy",
	}
}

// sumEnds is how many bytes at each end of the content the sum of a journal covers.
const sumEnds = 4096

// sumOf returns the sum of the content before the change that a journal is about, as far as the file has it
// before and after: of its first and its last bytes, with the old bytes in the place of the new ones.
func (p *File) sumOf(j *journal) (string, error) {
	end := j.Size
	if j.End > 0 {
		end = min(end, j.End)
	}
	old := &image{base: p.File, size: end}
	for _, b := range j.Patches {
		old.patches = append([]Patch{{Off: b.Off, Data: b.Old}}, old.patches...)
	}
	h := sha256.New()
	for _, at := range []int64{0, max(0, end-sumEnds)} {
		part := make([]byte, min(sumEnds, end-at))
		if err := iox.ReadFull(old, part, at); err != nil {
			return "", err
		}
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ours reports whether a journal is about what is in the file: another file may stand in its place now, or another
// program may have changed it.
func (p *File) ours(j *journal) (bool, error) {
	if j.Sum == "" {
		return true, nil
	}
	sum, err := p.sumOf(j)
	if storage.IsDamage(err) {
		return false, nil // the file is shorter now
	}
	return sum == j.Sum, err
}
