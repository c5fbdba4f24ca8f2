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

// bz2 streams are read by the standard library and written by dsnet/compress;
// see BenchmarkBZ2 for both readers.

var bz2Writers [10]sync.Pool // by level

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

func decodeBZ2(dst, src []byte, limit int64) ([]byte, error) {
	in := bytes.NewReader(src)
	dst, err := readAll(dst, stdbzip2.NewReader(in), limit, func(err error) bool { return err == io.EOF })
	return dst, bz2Error(err)
}

// bz2Error gives the errors of both readers our sentinels.
func bz2Error(err error) error {
	var structural stdbzip2.StructuralError
	switch {
	case err == nil, errors.Is(err, ErrLimit), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case errors.As(err, &structural) && structural == "bad magic value in continuation file":
		return ErrTrailing
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
