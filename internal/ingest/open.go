package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// piece is how many bytes are read at once.
const piece = 1 << 20

// An input is what is read: once from its start, and then any part of it.
type input struct {
	*bufio.Reader       // at offset of the input
	offset        int64 // bytes that were taken of the Reader
	path          string
	file          storage.File // the input itself, or what of it has come
	long          []byte       // a line that is longer than the Reader
}

// openInput opens a file, or begins to read a stream.
func openInput(ctx context.Context, path string, o *Options, fsys storage.FS) (*input, error) {
	in := &input{path: path}
	var err error
	if path != Stdin {
		if in.file, err = iox.FS(fsys).Open(path); err != nil {
			return nil, err
		}
		in.Reader = bufio.NewReaderSize(io.NewSectionReader(in.file, 0, 1<<62), piece)
		return in, nil
	}
	if o.In == nil {
		return nil, fmt.Errorf("there is no standard input: %w", storage.ErrUnsupported)
	}
	if in.file, err = iox.TempFile(fsys, o.TempDir); err != nil {
		return nil,
			fmt.Errorf("the input cannot be read twice, and the temporary file that keeps it cannot be created: %w",
				err)
	}
	in.Reader = bufio.NewReaderSize(io.TeeReader(&stream{ctx: ctx, in: o.In}, in.file), piece)
	return in, nil
}

// A stream is a Reader whose Read ends with its context, also if the other end sends nothing.
type stream struct {
	ctx  context.Context
	in   io.Reader
	next chan received // nil: nothing was read
	free chan []byte
	left []byte // of the last piece
	all  []byte // that piece
	err  error
}

type received struct {
	data []byte
	err  error
}

// Read reads what has come.
func (s *stream) Read(p []byte) (int, error) {
	if s.next == nil {
		s.next, s.free = make(chan received, 1), make(chan []byte, 2)
		s.free <- make([]byte, piece)
		s.free <- make([]byte, piece)
		go s.receive()
	}
	for len(s.left) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if s.all != nil {
			s.free <- s.all
			s.all = nil
		}
		select {
		case r := <-s.next:
			s.all, s.left, s.err = r.data[:cap(r.data)], r.data, r.err
		case <-s.ctx.Done():
			s.err = context.Cause(s.ctx)
		}
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// receive reads until there is an error, or nobody wants more.
func (s *stream) receive() {
	for {
		select {
		case b := <-s.free:
			n, err := s.in.Read(b)
			s.next <- received{b[:n], err}
			if err != nil {
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// look returns the next n bytes, fewer only at the end of the input.
func (in *input) look(n int) ([]byte, error) {
	b, err := in.Peek(n)
	if err == io.EOF {
		err = nil
	}
	return b, err
}

// skip steps over n bytes; the error is io.EOF if the input ends before.
func (in *input) skip(n int64) error {
	for n > 0 {
		k, err := in.Discard(int(min(n, 1<<30)))
		n, in.offset = n-int64(k), in.offset+int64(k)
		if err != nil {
			return err
		}
	}
	return nil
}

// take appends the next n bytes to b, and takes memory as they come; the error is io.EOF if the input ends before.
func (in *input) take(b []byte, n int64) ([]byte, error) {
	for n > 0 {
		k := int(min(n, piece))
		at := len(b)
		b = append(b, make([]byte, k)...)
		got, err := io.ReadFull(in.Reader, b[at:])
		in.offset += int64(got)
		if err != nil {
			if err == io.ErrUnexpectedEOF {
				err = io.EOF
			}
			return nil, err
		}
		n -= int64(k)
	}
	return b, nil
}

// wrong makes the error of what begins at an offset of the input. io.EOF becomes storage.ErrTruncated.
func (in *input) wrong(offset int64, what string, err error) error {
	if err == io.EOF {
		err = storage.ErrTruncated
	}
	name := in.path
	if name == Stdin {
		name = "standard input"
	}
	return &storage.Error{Path: name, Offset: offset, What: what, Err: err}
}

// open reads an input once.
func open(ctx context.Context, path string, o *Options, read storage.ReadOptions) (r *reader, err error) {
	s := &scan{o: o, topics: newTopics(o), reader: &reader{strict: read.Strict, path: path}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.reader.Close())
		}
	}()
	paths := []string{path}
	if path != Stdin {
		if st, err := iox.FS(read.FS).Stat(path); err == nil && st.IsDir() {
			if paths, err = s.folder(read.FS, path); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range paths {
		if err := s.input(ctx, path, read.FS); err != nil {
			return nil, err
		}
	}
	return s.reader, s.finish()
}

// input reads one file, or the stream.
func (s *scan) input(ctx context.Context, path string, fsys storage.FS) error {
	in, err := openInput(ctx, path, s.o, fsys)
	if err != nil {
		return err
	}
	s.in, s.inputs, s.block = in, append(s.inputs, in), storage.Block{}
	form, err := formOf(in, s.o.Form)
	if err != nil {
		return err
	}
	switch form {
	case Frames:
		return s.frames()
	case Lines:
		return s.lines()
	case Arrow:
		return s.arrowForm()
	case Parquet:
		return s.parquet()
	}
	return fmt.Errorf("%q is not one of the forms %v: %w", form, Forms(), storage.ErrUnsupported)
}

// formOf returns the form of an input by its first bytes, unless it is given.
func formOf(in *input, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	b, err := in.look(512)
	switch {
	case err != nil:
		return "", in.wrong(0, "", err)
	case len(b) == 0:
		return "", in.wrong(0, "the input is empty", storage.ErrTruncated)
	case isArrow(b):
		return Arrow, nil
	case bytes.HasPrefix(b, []byte("PAR1")):
		return Parquet, nil
	case frames.Plausible(b):
		return Frames, nil
	case bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte{'{'}):
		return Lines, nil
	}
	return "", in.wrong(0, "the input has none of the forms that can be imported", storage.ErrUnsupported)
}
