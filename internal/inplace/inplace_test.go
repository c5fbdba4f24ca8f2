package inplace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

const (
	before = "head 0 body"
	after  = "head 1 body and more"
)

// open opens a file whose messages are as read has them.
func open(fsys storage.FS, path string) (*inplace.File, error) {
	return inplace.Open(context.Background(), path, inplace.Options{Format: "toy", Read: read, Hint: "make a copy",
		FS: fsys})
}

// A toy is a recording: with "head 0" it has one message of four bytes, with "head 1" the rest is another
// one, and with other heads there are no messages.
type toy struct{ messages []storage.Message }

func read(_ context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	f, err := o.FS.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	r := &toy{}
	if len(text) >= len(before) && (text[5] == '0' || text[5] == '1') {
		r.messages = append(r.messages, storage.Message{Data: text[7:11]})
		if text[5] == '1' {
			r.messages = append(r.messages, storage.Message{Data: text[11:]})
		}
	}
	return r, nil
}

func readNothing(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
	return &toy{}, nil
}

func (r *toy) Info() *storage.Info {
	return &storage.Info{Topics: []storage.TopicInfo{{Topic: storage.Topic{Name: "/toy"}}}}
}
func (r *toy) Damage() storage.Damage { return storage.Damage{} }
func (r *toy) Close() error           { return nil }
func (r *toy) ReadNext() (*storage.Message, error) {
	if len(r.messages) == 0 {
		return nil, io.EOF
	}
	m := &r.messages[0]
	r.messages = r.messages[1:]
	return m, nil
}

// TestProof: a change after which the reader finds fewer messages is refused, also in a dry run, and
// the file stays as it is.
func TestProof(t *testing.T) {
	for _, dry := range []bool{false, true} {
		for off, c := range map[int64]struct {
			data    string
			refused bool
		}{5: {"1", false}, 4: {" 2", true}, 7: {"B", true}, 8: {"o", false}} {
			path := start(t)
			f, err := inplace.Open(t.Context(), path, inplace.Options{Read: read, Hint: "make a copy", DryRun: dry})
			if err != nil {
				t.Fatal(err)
			}
			at, err := f.Begin(int64(len(before)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte(" more"), at); err != nil {
				t.Fatal(err)
			}
			err = f.Commit(inplace.Patch{Off: off, Data: []byte(c.data)})
			var e *storage.Error
			if refused := errors.Is(err, storage.ErrUnsupported) && errors.As(err, &e) &&
				e.Hint == "make a copy"; refused != c.refused || err != nil && !refused {
				t.Errorf("%q at %d: %v", c.data, off, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if same := content(t, path) == before; same != (c.refused || dry) {
				t.Errorf("%q at %d: the file is %q", c.data, off, content(t, path))
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("%q at %d: %d files are left", c.data, off, len(entries))
			}
		}
	}
}

// change makes after of before.
func change(fsys storage.FS, path string) (err error) {
	f, err := open(fsys, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at, err := f.Begin(int64(len(before)))
	if err != nil {
		return err
	}
	for i, b := range []string{" and", " more"} {
		if _, err := f.WriteAt([]byte(b), at+int64(4*i)); err != nil {
			return err
		}
	}
	return f.Commit(inplace.Patch{Off: 5, Data: []byte("1")})
}

func start(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFaults: after a fault at any operation the file is as before or as after, and the
// change can be made by the next run. Who fails alive leaves nothing behind.
func TestFaults(t *testing.T) {
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short, faultio.Death} {
		for n := int64(1); ; n++ {
			path := start(t)
			disk := &faultio.FS{FS: iox.OS, N: n, Fault: fault}
			err := change(disk, path)
			if !disk.Fired() {
				if err != nil || n < 10 || content(t, path) != after {
					t.Errorf("after %d operations: %v", n, err)
				}
				break
			}
			switch got := content(t, path); {
			case got == after:
			case err == nil:
				t.Errorf("fault %d, operation %d: no error, and the file is %q", fault, n, got)
			case got[:len(before)] != before:
				t.Errorf("fault %d, operation %d: the file is %q", fault, n, got)
			}
			if content(t, path) == after {
				continue
			}
			if err := change(iox.OS, path); err != nil || content(t, path) != after {
				t.Errorf("fault %d, operation %d: the next run: %v, the file is %q", fault, n, err, content(t, path))
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("fault %d, operation %d: %d files are left", fault, n, len(entries))
			}
		}
	}
}

// TestTorn: an overwriting that a power cut has torn is finished, and nothing else is.
func TestTorn(t *testing.T) {
	journal := []byte(`{"size":11,"patches":[{"off":0,"old":"aGVhZCAw","new":"SEVBRCAx"}]}`) // "head 0", "HEAD 1"
	for name, c := range map[string]struct {
		now, want string
		fails     bool
	}{
		"torn":            {"HEAd 0 body and more", "HEAD 1 body", false},
		"not begun":       {"head 0 body and more", "head 0 body", false},
		"done":            {"HEAD 1 body and more", "HEAD 1 body", false},
		"changed by else": {"hxad 0 body and more", "hxad 0 body and more", true},
		"cut":             {"hea", "hea", true},
	} {
		path := start(t)
		if err := errors.Join(os.WriteFile(path, []byte(c.now), 0o666), os.WriteFile(inplace.JournalPath(path), journal,
			0o666)); err != nil {
			t.Fatal(err)
		}
		f, err := open(nil, path)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if at, err := f.Begin(int64(len(before))); err != nil || at != int64(len(before)) {
				t.Errorf("%s: begins at %d: %v", name, at, err)
			}
			if err := f.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := content(t, path); got != c.want {
			t.Errorf("%s: the file is %q, want %q", name, got, c.want)
		}
	}
}

// TestCut: a file that is shorter after the change, also if a killed run has not come so far.
func TestCut(t *testing.T) {
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Death} {
		for n := int64(1); ; n++ {
			path := start(t)
			disk := &faultio.FS{FS: iox.OS, N: n, Fault: fault}
			err := cut(disk, path)
			got := content(t, path)
			if !disk.Fired() {
				if err != nil || got != "head 1" {
					t.Errorf("%v, %q", err, got)
				}
				break
			}
			if whole := got == before || got == "head 1"; !whole && (err == nil || fault == faultio.Error) {
				t.Errorf("fault %d, operation %d: %v, and the file is %q", fault, n, err, got)
			}
			f, err := open(nil, path)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if got := content(t, path); got != before && got != "head 1" {
				t.Errorf("fault %d, operation %d: the next run: the file is %q", fault, n, got)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); content(t, path) == "head 1" && len(entries) != 1 {
				t.Errorf("fault %d, operation %d: %d files are left", fault, n, len(entries))
			}
		}
	}
}

// cut makes "head 1" of before.
func cut(fsys storage.FS, path string) (err error) {
	f, err := inplace.Open(context.Background(), path, inplace.Options{Read: readNothing, FS: fsys})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Begin(int64(len(before))); err != nil {
		return err
	}
	return f.CommitAt(6, inplace.Patch{Off: 5, Data: []byte("1")})
}

// TestForeign: what follows the content and was not left by a killed run stays.
func TestForeign(t *testing.T) {
	path := start(t)
	if err := os.WriteFile(path, []byte(before+"junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := change(iox.OS, path); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "head 1 bodyjunk and more" {
		t.Errorf("the file is %q", got)
	}
}

// TestRefused: what may not be written, and a second run.
func TestRefused(t *testing.T) {
	path := start(t)
	f, err := open(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(nil, path); !errors.Is(err, iox.ErrLocked) {
		t.Errorf("a second run: %v", err)
	}
	if _, err := f.WriteAt([]byte("x"), 20); err == nil {
		t.Error("WriteAt before Begin")
	}
	if err := f.Commit(); err == nil {
		t.Error("Commit before Begin")
	}
	if _, err := f.Begin(12); !errors.Is(err, storage.ErrTruncated) {
		t.Errorf("a content that ends after the file: %v", err)
	}
	if _, err := f.Begin(11); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 10); err == nil {
		t.Error("WriteAt into what was there")
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	if !bytes.Equal([]byte(content(t, path)), []byte(before)) {
		t.Error("the file has changed")
	}
}
