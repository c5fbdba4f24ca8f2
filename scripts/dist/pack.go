package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// pack writes a folder and what is in it, under the folder's name, into an
// archive. The entries are in the order of their names, and have the time when,
// no owner, and the mode 755 or 644, so that the bytes depend on names and
// contents only.
func pack(out, folder string, when time.Time) (err error) {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	switch {
	case strings.HasSuffix(out, ".tar.gz"):
		// The header of gzip has no name and no time.
		z, err := gzip.NewWriterLevel(file, gzip.BestCompression)
		if err != nil {
			return err
		}
		t := tar.NewWriter(z)
		err = walk(folder, func(name string, mode fs.FileMode, size int64, r io.Reader) error {
			h := &tar.Header{Name: name, Mode: int64(mode.Perm()), Size: size, ModTime: when, Typeflag: tar.TypeReg,
				Format: tar.FormatUSTAR}
			if mode.IsDir() {
				h.Typeflag = tar.TypeDir
			}
			if err := t.WriteHeader(h); err != nil {
				return err
			}
			_, err := io.Copy(t, r)
			return err
		})
		return errors.Join(err, t.Close(), z.Close())
	case strings.HasSuffix(out, ".zip"):
		z := zip.NewWriter(file)
		err := walk(folder, func(name string, mode fs.FileMode, _ int64, r io.Reader) error {
			h := &zip.FileHeader{Name: name, Modified: when, Method: zip.Deflate}
			h.SetMode(mode)
			w, err := z.CreateHeader(h)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, r)
			return err
		})
		return errors.Join(err, z.Close())
	}
	return fmt.Errorf("%s is no .tar.gz and no .zip", out)
}

// walk calls add for a folder and everything in it, in the order of the names;
// a folder's name ends with a slash, and it has nothing to read.
func walk(folder string, add func(name string, mode fs.FileMode, size int64, r io.Reader) error) error {
	base := filepath.Base(folder)
	return filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(folder, p)
		if err != nil {
			return err
		}
		name := path.Join(base, filepath.ToSlash(inside))
		if d.IsDir() {
			return add(name+"/", fs.ModeDir|0o755, 0, strings.NewReader(""))
		}
		file, err := os.Open(p)
		if err != nil {
			return err
		}
		defer file.Close()
		st, err := file.Stat()
		if err != nil {
			return err
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s is no file", p)
		}
		mode := fs.FileMode(0o644)
		if st.Mode()&0o111 != 0 {
			mode = 0o755
		}
		return add(name, mode, st.Size(), file)
	})
}
