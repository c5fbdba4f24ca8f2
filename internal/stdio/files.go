package stdio

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// An input is standard input, and describes itself.
type input struct {
	r     io.ReaderAt
	close func() error // nil: it stays open
	size  int64
	time  time.Time
}

func (i *input) Name() string       { return In }
func (i *input) Size() int64        { return i.size }
func (i *input) Mode() os.FileMode  { return 0o400 }
func (i *input) ModTime() time.Time { return i.time }
func (i *input) IsDir() bool        { return false }
func (i *input) Sys() any           { return nil }

// A reader is an open In, with a place of its own.
type reader struct {
	*io.SectionReader
	in *input
}

func (r *reader) Name() string               { return In }
func (r *reader) Stat() (os.FileInfo, error) { return r.in, nil }
func (r *reader) Close() error               { return nil }
func (r *reader) Sync() error                { return nil }
func (r *reader) Truncate(int64) error       { return refuse("truncate", In, "it is only read") }
func (r *reader) Write([]byte) (int, error)  { return 0, refuse("write", In, "it is only read") }
func (r *reader) WriteAt([]byte, int64) (int, error) {
	return 0, refuse("write", In, "it is only read")
}
func (o *output) Name() string             { return o.name }
func (o *output) Sync() error              { return nil }
func (o *output) Read([]byte) (int, error) { return 0, errNotRead }
func (o *output) ReadAt(p []byte, off int64) (int, error) {
	if o.tmp != nil {
		return o.tmp.ReadAt(p, off)
	}
	return 0, errNotRead
}

var errNotRead = refuse("read", Out, "an output that goes to standard output cannot be read")

// An output is a file of an output in the making. It describes itself.
type output struct {
	name string
	w    io.Writer
	at   int64        // bytes that went out
	tmp  storage.File // that keeps them until the output is whole; nil: they go out at once
	pos  int64        // of Write
}

// WriteAt sends what follows the bytes that were sent.
func (o *output) WriteAt(p []byte, off int64) (int, error) {
	if o.tmp != nil {
		return o.tmp.WriteAt(p, off)
	}
	if off != o.at {
		return 0, refuse("write", Out, fmt.Sprintf("the format goes back from byte %d to byte %d of its file", o.at, off))
	}
	n, err := o.w.Write(p)
	o.at += int64(n)
	return n, err
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.WriteAt(p, o.pos)
	o.pos += int64(n)
	return n, err
}

// Seek moves the place of Write.
func (o *output) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.pos
	case io.SeekEnd:
		offset += o.Size()
	}
	if offset < 0 {
		return 0, refuse("seek", Out, "there is nothing before its first byte")
	}
	o.pos = offset
	return offset, nil
}

// Truncate changes the size of what is kept; of what went out it is only checked.
func (o *output) Truncate(size int64) error {
	switch {
	case o.tmp != nil:
		return o.tmp.Truncate(size)
	case size != o.at:
		return refuse("truncate", Out, fmt.Sprintf("%d bytes are out already", o.at))
	}
	return nil
}

// sendKept sends what is kept.
func (o *output) sendKept() error {
	if o.tmp == nil {
		return nil
	}
	tmp := o.tmp
	n, err := io.Copy(o.w, io.NewSectionReader(tmp, 0, o.Size()))
	o.tmp, o.at = nil, n
	if e := tmp.Close(); err == nil {
		err = e
	}
	return err
}

// Close leaves what is kept until the output is put in its place.
func (o *output) Close() error { return nil }

func (o *output) Stat() (os.FileInfo, error) { return o, nil }
func (o *output) Mode() os.FileMode          { return 0o600 }
func (o *output) ModTime() time.Time         { return time.Time{} }
func (o *output) IsDir() bool                { return false }
func (o *output) Sys() any                   { return nil }

// Size returns the bytes of the file so far.
func (o *output) Size() int64 {
	if o.tmp != nil {
		if st, err := o.tmp.Stat(); err == nil {
			return st.Size()
		}
	}
	return o.at
}
