package defset

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The limits of one place.
const (
	maxEntries     = 1_000_000 // files and folders that are looked at
	maxDefinitions = 100_000
	maxFile        = 1 << 20  // bytes
	maxTotal       = 64 << 20 // bytes of all definitions
)

// descriptorsExt is the ending of a file with protobuf descriptors.
const descriptorsExt = ".desc"

// ErrNone is wrapped by the error of Read if a place has no definitions.
var ErrNone = errors.New("there are no definitions")

func isArchive(lower string) bool {
	return strings.HasSuffix(lower, ".zip") || strings.HasSuffix(lower, ".tar.gz") || strings.HasSuffix(lower, ".tgz")
}

func isDefinition(name string) bool {
	switch filepath.Ext(name) {
	case ".msg", ".srv", ".action", ".idl", descriptorsExt, protoExt:
		return true
	}
	return false
}

// Read reads the definitions of a folder, an archive or a file in fsys (nil: the operating
// system's). A file that cannot be read is one of Problems. The error is about the place itself; it
// wraps ErrNone if nothing is defined there. .proto files may import the .proto files of the places
// before.
func Read(fsys storage.FS, place string, before ...*Set) (*Set, error) {
	fsys = iox.FS(fsys)
	st, err := fsys.Stat(place)
	if err != nil {
		return nil, err
	}
	b := &builder{fs: fsys, set: New(place), packages: map[string]string{}}
	lower := strings.ToLower(place)
	switch {
	case st.IsDir():
		err = b.walk(place)
	case strings.HasSuffix(lower, ".zip"):
		err = b.readZip(place)
	case isArchive(lower):
		err = b.readTar(place)
	case isDefinition(lower):
		err = b.readFile(place)
	default:
		return nil, fmt.Errorf("%s is not a folder, .zip, .tar.gz, .msg, .srv, .action, .idl, .proto or .desc", place)
	}
	if err == nil {
		err = b.build(before)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if b.set.Empty() {
		return nil, fmt.Errorf("%s: %w", place, errors.Join(append([]error{ErrNone}, problems(b.set)...)...))
	}
	return b.set, nil
}

func problems(s *Set) (list []error) {
	for _, p := range s.Problems[:min(len(s.Problems), 3)] {
		list = append(list, errors.New(p))
	}
	return list
}

// readZip reads the entries of a zip archive.
func (b *builder) readZip(place string) (err error) {
	file, err := b.fs.Open(place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, st.Size())
	if err != nil {
		return err
	}
	if len(z.File) > maxEntries {
		return fmt.Errorf("over %d files", maxEntries)
	}
	for _, f := range z.File {
		if !wanted(f.Name) {
			continue
		}
		r, err := f.Open()
		if err == nil {
			err = errors.Join(b.add(f.Name, r), r.Close())
		}
		if err := b.problem(f.Name, err); err != nil {
			return err
		}
	}
	return nil
}

// readTar reads the entries of a compressed tar archive. What it decompresses to is bounded.
func (b *builder) readTar(place string) (err error) {
	const most = 16 << 30 // bytes of an archive; the bytes of definitions are bounded by add
	f, err := b.fs.Open(place)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	r := tar.NewReader(io.LimitReader(z, most))
	for n := 0; ; n++ {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == maxEntries:
			return fmt.Errorf("over %d files", maxEntries)
		case h.Typeflag != tar.TypeReg || !wanted(h.Name):
			continue
		}
		if err := b.problem(h.Name, b.add(h.Name, r)); err != nil {
			return err
		}
	}
}

// readFile reads one file.
func (b *builder) readFile(place string) error {
	b.set.sources.beside = b.fs
	if err := b.enter(filepath.Dir(place)); err != nil {
		return err
	}
	return b.open(place, filepath.Base(place))
}

// enter makes a folder the root, and reads the package.xml above it, if there is one.
func (b *builder) enter(dir string) error {
	full, err := iox.Abs(dir)
	if err != nil {
		return err
	}
	b.root = filepath.ToSlash(full)
	for above := full; ; above = filepath.Dir(above) {
		name := filepath.Join(above, packageFile)
		if b.open(name, filepath.ToSlash(name)) == nil || above == filepath.Dir(above) || iox.IsURL(above) &&
			!iox.IsURL(filepath.Dir(above)) {
			return nil
		}
	}
}

// open adds a file of the file system.
func (b *builder) open(file, name string) error {
	f, err := b.fs.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.add(name, f)
}

// evalLinks returns the absolute path without links; a store has no links.
func evalLinks(dir string) (string, error) {
	if iox.IsURL(dir) {
		return dir, nil
	}
	full, err := iox.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// outside counts links that lead out of the folder that is read.
type outside struct {
	root  string // the folder, without links
	n     int
	first string // the first link, and where it leads
}

// leads reports whether the file or folder at a path, named name, lies elsewhere than in the folder.
func (o *outside) leads(file, name string) bool {
	real, err := evalLinks(file)
	if err != nil {
		return false // it leads nowhere
	}
	if rel, err := filepath.Rel(o.root, real); err == nil && filepath.IsLocal(rel) {
		return false
	}
	if o.n++; o.n == 1 {
		o.first = name + " -> " + real
	}
	return true
}

// problem is the line about the links; "" without links.
func (o *outside) problem() string {
	switch o.n {
	case 0:
		return ""
	case 1:
		return "a link leads out of the folder and is not followed: " + o.first + "; to read that, name its target too"
	}
	return fmt.Sprintf("%d links lead out of the folder and are not followed, such as %s; to read those, name their "+
		"targets too", o.n, o.first)
}

// walk adds the files of a folder and of all below it, in the order of their names. Links within the folder
// are followed, but each folder is read once; the folder itself may be a link.
func (b *builder) walk(root string) error {
	if err := b.enter(root); err != nil {
		return err
	}
	real, err := evalLinks(root)
	if err != nil {
		return err
	}
	out := &outside{root: real}
	done, entries := map[string]bool{}, 0
	var folder func(dir, name string) error
	folder = func(dir, name string) error {
		real, err := evalLinks(dir)
		if err != nil || done[real] {
			return b.problem(name, err)
		}
		done[real] = true
		list, err := b.fs.ReadDir(dir)
		if err != nil {
			return b.problem(name, err)
		}
		if entries += len(list); entries > maxEntries {
			return fmt.Errorf("over %d files and folders", maxEntries)
		}
		for _, e := range list {
			if isIgnored(e.Name()) {
				return nil
			}
		}
		for _, e := range list {
			file, sub, isDir := filepath.Join(dir, e.Name()), name+e.Name(), e.IsDir()
			link := e.Type()&os.ModeSymlink != 0
			if link {
				st, err := b.fs.Stat(file)
				isDir = err == nil && st.IsDir()
			}
			switch {
			case strings.HasPrefix(e.Name(), "."):
			case link && (isDir || wanted(sub)) && out.leads(file, sub):
			case isDir:
				if err := folder(file, sub+"/"); err != nil {
					return err
				}
			case wanted(sub):
				if err := b.problem(sub, b.open(file, sub)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err = folder(root, "")
	if line := out.problem(); line != "" {
		b.set.Problems = append(b.set.Problems, line)
	}
	return err
}
