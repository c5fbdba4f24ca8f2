package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Hash returns the SHA-256 of an input in hex: of its file, or for several files of
// the lines "HASH  NAME\n" of each, in the order of Files, as sha256sum prints
// them in their folder.
func (in *Input) Hash(ctx context.Context) (string, error) {
	if len(in.Files) == 1 {
		return hashFile(ctx, in.FS, in.Files[0])
	}
	all := sha256.New()
	for _, path := range in.Files {
		h, err := hashFile(ctx, in.FS, path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%s  %s\n", h, filepath.Base(path))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

func hashFile(ctx context.Context, fsys storage.FS, path string) (string, error) {
	f, err := iox.FS(fsys).Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, untilDone{ctx, f}, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// untilDone reads until ctx is cancelled.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Stands reports whether the output of an entry is still in fsys (nil: the operating system's), with its size.
func (e *Entry) Stands(fsys storage.FS) bool {
	size, err := SizeOf(fsys, e.OutputFiles)
	return err == nil && len(e.OutputFiles) > 0 && size == e.OutputSize
}

// Gone reports whether nothing of the output of an entry is there any more.
func (e *Entry) Gone(fsys storage.FS) bool {
	return !slices.ContainsFunc(e.OutputFiles, func(path string) bool { return exists(fsys, path) })
}

// SizeOf adds up the sizes of files, and of the files in folders.
func SizeOf(fsys storage.FS, paths []string) (size int64, err error) {
	for _, path := range paths {
		err := iox.WalkDir(fsys, path, func(_ string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			st, err := d.Info()
			if err == nil {
				size += st.Size()
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return size, nil
}
