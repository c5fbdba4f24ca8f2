package storage

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func format(name, magic string) *Format {
	return &Format{
		Name: name,
		Sniff: func(_ FS, _ string, head []byte) bool {
			return len(head) >= len(magic) && string(head[:len(magic)]) == magic
		},
		Open: func(_ context.Context, _ string, o ReadOptions) (Reader, error) {
			if o.Strict {
				return nil, errOpened
			}
			return nil, nil
		},
	}
}

var errOpened = errors.New("opened, with the options")

func TestRegistry(t *testing.T) {
	a, b := format("a", "AA"), format("b", "A")
	r := NewRegistry(a, b)
	if r.Lookup("b") != b || r.Lookup("c") != nil || len(r.Formats()) != 2 {
		t.Error("Lookup")
	}
	dir := t.TempDir()
	for content, want := range map[string]*Format{"AAA": a, "AB": b, "B": nil, "": nil} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := r.Detect(path)
		if got != want || (want == nil) != errors.Is(err, ErrUnknownFormat) {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "g"), []byte("AAA"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(context.Background(), filepath.Join(dir, "g"), ReadOptions{Strict: true}); !errors.Is(err,
		errOpened) {
		t.Errorf("Open: %v", err)
	}
	if _, err := r.Open(context.Background(), dir, ReadOptions{}); !errors.Is(err, ErrUnknownFormat) {
		t.Errorf("Open of a folder: %v", err)
	}
	if _, err := r.Detect(dir); !errors.Is(err, ErrUnknownFormat) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := r.Detect(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for name, formats := range map[string][]*Format{"twice": {a, a}, "incomplete": {{Name: "x"}}, "nil": {nil}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			NewRegistry(formats...)
		}()
	}
}

func TestError(t *testing.T) {
	err := error(&Error{Format: "bag", Path: "a.bag", Offset: 12, What: "chunk", Hint: "copy it again", Err: ErrTruncated})
	if got, want := err.Error(), "a.bag: bag: chunk at byte 12: truncated (unexpected EOF); copy it again"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrCorrupt) {
		t.Error("wraps the wrong things")
	}
	if got := (&Error{Offset: -1, What: "no place"}).Error(); got != "no place" {
		t.Errorf("%q", got)
	}
}

// TestPlaceOf: only what is a part of Buf, all of it, lies in the file.
func TestPlaceOf(t *testing.T) {
	b := Batch{Buf: make([]byte, 10, 20), File: "f", At: 100}
	for _, c := range []struct {
		data []byte
		file string
		at   int64
	}{
		{b.Buf, "f", 100}, {b.Buf[3:7], "f", 103}, {b.Buf[9:10:10], "f", 109}, {b.Buf[:11], "", 0}, {b.Buf[9:12], "", 0},
		{b.Buf[10:12], "", 0}, {b.Buf[4:4], "", 0}, {nil, "", 0}, {make([]byte, 3), "", 0},
	} {
		if file, at := b.PlaceOf(c.data); file != c.file || at != c.at {
			t.Errorf("%d bytes: %q at %d, want %q at %d", len(c.data), file, at, c.file, c.at)
		}
	}
	b.File = ""
	if file, _ := b.PlaceOf(b.Buf); file != "" {
		t.Error("a place in no file")
	}
}
