package iox

import (
	"context"
	"io"

	"github.com/bagconv/bagconv/storage"
)

// copyPiece is how much CopyStart copies between two looks at its context.
const copyPiece = 256 << 20

// CopyStart copies the first n bytes of a file to the start of another, new one. On files of this machine the system
// does it: file systems that can share the blocks of both do so.
func CopyStart(ctx context.Context, to, from storage.File, n int64) error {
	out, ok := to.(osFile)
	in, ok2 := from.(osFile)
	if ok && ok2 {
		for done := int64(0); done < n; {
			if err := ctx.Err(); err != nil {
				return err
			}
			k, err := io.CopyN(out.File, in.File, min(n-done, copyPiece)) // by copy_file_range where there is one
			out.meter.AddWritten(k)
			switch done += k; {
			case err == io.EOF:
				return storage.ErrTruncated
			case err != nil:
				return err
			}
		}
		return nil
	}
	b := make([]byte, min(n, 1<<20))
	for at := int64(0); at < n; at += int64(len(b)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b = b[:min(int64(len(b)), n-at)]
		if err := ReadFull(from, b, at); err != nil {
			return err
		}
		if _, err := to.WriteAt(b, at); err != nil {
			return err
		}
	}
	return nil
}

// TakeMode gives a file of this machine the permissions of another.
func TakeMode(to, from storage.File) error {
	out, ok := to.(osFile)
	st, err := from.Stat()
	if err != nil || !ok {
		return err
	}
	return out.Chmod(st.Mode().Perm())
}
