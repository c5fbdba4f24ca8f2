package chunked

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// readLog is a file that notes what is read of it.
type readLog struct {
	sizes []int
	err   error
}

func (f *readLog) ReadAt(b []byte, off int64) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	f.sizes = append(f.sizes, len(b))
	for i := range b {
		b[i] = byte(off + int64(i))
	}
	return len(b), nil
}

// TestWindow: pieces grow while they follow each other, and end with the file.
func TestWindow(t *testing.T) {
	const size = 1 << 20
	f := &readLog{}
	w := NewWindow(f, size)
	for _, c := range []struct{ off, n, want int64 }{
		{0, 10, 10}, {100, 3000, 3000}, {4000, 200, 200}, {4 << 10, 300 << 10, 300 << 10}, {800 << 10, 1, 1}, {size - 5, 10,
			5}, {size + 5, 1, 0},
	} {
		b, err := w.Data(c.off, c.n)
		if err != nil || int64(len(b)) != c.want {
			t.Fatalf("%d bytes at %d: %d, %v", c.n, c.off, len(b), err)
		}
		for i := range b {
			if b[i] != byte(c.off+int64(i)) {
				t.Fatalf("byte %d at %d is %d", i, c.off, b[i])
			}
		}
	}
	want := []int{windowJump, WindowStep, 300 << 10, windowJump, 5}
	if len(f.sizes) < len(want) {
		t.Fatalf("pieces of %v bytes; want %v", f.sizes, want)
	}
	for i, n := range want {
		if f.sizes[i] != n {
			t.Fatalf("pieces of %v bytes; want %v", f.sizes, want)
		}
	}
	f.err = io.ErrClosedPipe
	if _, err := w.Data(0, 1); !IsIO(err) || !errors.Is(err, io.ErrClosedPipe) || OnlyIO(err) == nil {
		t.Errorf("an error of the disk: %v", err)
	}
	if OnlyIO(storage.ErrCorrupt) != nil {
		t.Error("ErrCorrupt is an error of the disk")
	}
}

// fakeBlock notes what is done with it.
type fakeBlock struct {
	calls string
	err   error
}

func (b *fakeBlock) Encode() error { b.calls += "e"; return b.err }
func (b *fakeBlock) Append() error { b.calls += "a"; return nil }
func (b *fakeBlock) Lent() bool    { return false }

func newState(ctx context.Context) *State {
	return &State{Ctx: ctx, Fail: func(what string, err error) error {
		return &storage.Error{What: what, Offset: -1,
			Err: err}
	}}
}

// TestState: the first error stays; after Finish only Commit follows, once.
func TestState(t *testing.T) {
	s, b := newState(context.Background()), &fakeBlock{}
	nothing := func() error { return nil }
	if err := s.Hand(b); err != nil || b.calls != "ea" || s.Handed != 1 {
		t.Fatalf("a block that nobody is handed: %q, %v", b.calls, err)
	}
	finish := func() (storage.Output, error) { return s.Finish(nothing, "temp") }
	if out, err := finish(); err != nil || out.Path != "temp" || s.Ready() || !s.Finished() {
		t.Fatalf("Finish: %q, %v", out.Path, err)
	}
	if _, err := finish(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a second Finish: %v", err)
	}
	if err := s.Commit(finish, nothing); err != nil {
		t.Errorf("Commit: %v", err)
	}
	if err := s.Commit(finish, nothing); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a second Commit: %v", err)
	}
	s, b = newState(context.Background()), &fakeBlock{err: io.ErrShortWrite}
	if err := s.Hand(b); !errors.Is(err, io.ErrShortWrite) || b.calls != "e" {
		t.Errorf("a block that fails: %q, %v", b.calls, err)
	}
	if err := s.Stop(io.ErrNoProgress); !errors.Is(err, io.ErrShortWrite) || s.Ready() || s.Finished() {
		t.Errorf("the first error is gone: %v", err)
	}
	if err := s.Commit(finish, nothing); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Commit of a stopped writer: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := newState(ctx).Hand(&fakeBlock{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was stopped: %v", err)
	}
}

// TestDamage: what cannot be repaired comes before what can.
func TestDamage(t *testing.T) {
	var d Damage
	d.Repair("op", 1, "an op")
	d.Repair("op", 2, "another")
	if !d.Repaired || d.Places != 2 || d.At != 1 {
		t.Errorf("repaired: %+v", d)
	}
	d.Add("cut", 3, 10, "%d bytes", 10)
	d.Add("cut", 4, 5, "more")
	if d.Repaired || d.Places != 4 || d.Code != "cut" || d.At != 3 || d.What != "10 bytes" || d.Bytes != 15 {
		t.Errorf("damaged: %+v", d)
	}
}
