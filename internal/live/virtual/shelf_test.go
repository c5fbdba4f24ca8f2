package virtual_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/live/virtual"
)

// job copies a recording of testdata, and returns its conversion and what that writes.
func job(t *testing.T, path, from string) (convert.Job, []byte) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", from))
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	formats := all.Registry()
	source, err := formats.Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	j := convert.Job{Source: path, SourceFormat: source, SinkFormat: formats.Lookup("mcap"),
		Sink: filepath.Join(t.TempDir(), "out.mcap")}
	j.Write.NoSync, j.Write.Compression = true, "none"
	if _, err := convert.Run(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(j.Sink)
	if err != nil {
		t.Fatal(err)
	}
	return j, want
}

// read returns all bytes of an output, and its tag.
func read(s *virtual.Shelf, j convert.Job, options string) ([]byte, string, error) {
	ctx := context.Background()
	out, err := s.Open(ctx, j, options)
	if err != nil {
		return nil, "", err
	}
	defer out.Release()
	b := make([]byte, out.Size())
	if n, err := out.ReadAt(ctx, b, 0); n < len(b) && err != io.EOF {
		return nil, "", err
	}
	return b, out.Tag(), nil
}

// TestShelf: readers at the same time share a layout, another shelf finds it in its file, and a
// source that has changed gets a new one.
func TestShelf(t *testing.T) {
	dir, in := t.TempDir(), filepath.Join(t.TempDir(), "in")
	j, want := job(t, in, "demo.bag")
	var made atomic.Int32
	shelf := func() *virtual.Shelf {
		s := virtual.NewShelf(context.Background(), dir, func(string, *convert.Report) { made.Add(1) })
		t.Cleanup(s.Close)
		return s
	}
	s := shelf()
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if got, _, err := read(s, j, ""); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
			}
		})
	}
	readers.Wait()
	if made.Load() != 1 {
		t.Errorf("%d layouts were made", made.Load())
	}
	_, tag, _ := read(s, j, "")
	if got, again, err := read(shelf(), j, ""); err != nil || !bytes.Equal(got, want) || again != tag || made.Load() != 1 {
		t.Errorf("from its file: %d bytes, tag %s, %v, %d layouts were made", len(got), again, err, made.Load())
	}
	if _, _, err := read(s, j, "other"); err != nil || made.Load() != 2 {
		t.Errorf("with other options: %v, %d layouts were made", err, made.Load())
	}
	for _, file := range layouts(t, dir) { // broken files are made again
		if err := os.WriteFile(file, []byte("bagconv layout 1\nnot this"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := read(shelf(), j, ""); err != nil || !bytes.Equal(got, want) || made.Load() != 3 {
		t.Errorf("without its file: %v, %d layouts were made", err, made.Load())
	}
	j, want = job(t, in, "tiny.bag")
	if got, other, err := read(s, j, ""); err != nil || !bytes.Equal(got, want) || other == tag {
		t.Errorf("of another source: %d bytes of %d, %v", len(got), len(want), err)
	}
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(s, j, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a source: %v", err)
	}
}

func layouts(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.layout"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}

// TestChangedWhileRead: a reader of a source that changes gets an error, the next one new bytes.
func TestChangedWhileRead(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	j, _ := job(t, in, "demo.bag")
	ctx := context.Background()
	s := virtual.NewShelf(ctx, t.TempDir(), nil)
	defer s.Close()
	out, err := s.Open(ctx, j, "")
	if err != nil {
		t.Fatal(err)
	}
	other, want := job(t, in, "tiny.bag")
	if n, err := out.ReadAt(ctx, make([]byte, out.Size()), 0); !errors.Is(err, recording.ErrChanged) {
		t.Errorf("%d bytes, %v", n, err)
	}
	out.Release()
	if got, _, err := read(s, other, ""); err != nil || !bytes.Equal(got, want) {
		t.Errorf("afterwards: %d bytes of %d, %v", len(got), len(want), err)
	}
}

// TestManySources: outputs that nobody reads are closed, and can be opened again.
func TestManySources(t *testing.T) {
	dir := t.TempDir()
	s := virtual.NewShelf(context.Background(), "", nil)
	defer s.Close()
	for range 2 {
		for i := range 20 {
			j, want := job(t, filepath.Join(dir, fmt.Sprint(i)), "tiny.bag")
			if got, _, err := read(s, j, ""); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d: %v", i, err)
			}
		}
	}
}

// TestImpatient: a reader that goes before the layout is there gets the cause of its context.
func TestImpatient(t *testing.T) {
	j, _ := job(t, filepath.Join(t.TempDir(), "in"), "tiny.bag")
	s := virtual.NewShelf(context.Background(), "", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if out, err := s.Open(ctx, j, ""); err == nil {
		out.Release() // it was there at once
	} else if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "deadline") {
		t.Error(err)
	}
	s.Close()
	time.Sleep(10 * time.Millisecond) // what is being made ends by itself
}
