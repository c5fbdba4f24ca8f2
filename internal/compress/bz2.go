package compress

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/dsnet/compress/bzip2"
)

// bz2 streams are read and written by dsnet/compress. It reads a fifth faster
// than the standard library, about as fast as libbz2, and it can be pooled (see
// BenchmarkReaders). What it makes of damaged data depends on what the reader
// read before, so damaged data are left to the standard library.

var (
	bz2Writers [10]sync.Pool // by level
	bz2Readers sync.Pool
)

func encodeBZ2(dst, src []byte, level int) ([]byte, error) {
	if level == 0 {
		level = 9
	}
	out := &appender{dst}
	w, _ := bz2Writers[level].Get().(*bzip2.Writer)
	var err error
	if w == nil {
		w, err = bzip2.NewWriter(out, &bzip2.WriterConfig{Level: level})
	} else {
		err = w.Reset(out)
	}
	if err != nil {
		return dst, err
	}
	if _, err = w.Write(src); err == nil {
		err = w.Close()
	}
	if err != nil {
		return dst, err
	}
	bz2Writers[level].Put(w)
	return out.b, nil
}

// decodeBZ2 decodes one stream after the other. A cut stream returns its whole
// blocks.
func decodeBZ2(dst, src []byte, limit int64) ([]byte, error) {
	isEOF := func(err error) bool { return err == io.EOF }
	r, _ := bz2Readers.Get().(*bzip2.Reader)
	if r == nil {
		r = new(bzip2.Reader)
	}
	if err := r.Reset(bytes.NewReader(src)); err == nil {
		out, err := readAll(dst, r, limit, isEOF)
		if err == nil {
			bz2Readers.Put(r)
			return out, nil
		}
		dst = out[:len(dst)] // keep what it has grown to
	}
	dst, err := readAll(dst, stdbzip2.NewReader(bytes.NewReader(src)), limit, isEOF)
	var structural stdbzip2.StructuralError
	switch {
	case err == nil, errors.Is(err, ErrLimit), errors.Is(err, io.ErrUnexpectedEOF):
		return dst, err
	case errors.As(err, &structural) && structural == "bad magic value in continuation file":
		return dst, ErrTrailing
	}
	return dst, fmt.Errorf("%w: %w", ErrCorrupt, err)
}
