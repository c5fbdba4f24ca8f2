package intake

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/bagconv/bagconv/storage"
)

// An endless sends zeros, and notes how much memory there is.
type endless struct{ sent, heap uint64 }

func (e *endless) Read(b []byte) (int, error) {
	if e.sent += uint64(len(b)); e.sent>>20 != (e.sent-uint64(len(b)))>>20 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.heap = max(e.heap, m.HeapAlloc)
	}
	return len(b), nil
}

// TestReadMessage: what comes is read, however it comes, and no more than the limit.
func TestReadMessage(t *testing.T) {
	for _, n := range []int{0, 1, 16 << 10, 16<<10 + 1, 5 << 20} {
		want := bytes.Repeat([]byte("0123456789abcdef!"), n/17+1)[:n]
		for _, sure := range []int64{0, 100, int64(n), 1 << 20} {
			for _, r := range []io.Reader{bytes.NewReader(want), iotest.DataErrReader(bytes.NewReader(want)),
				iotest.HalfReader(bytes.NewReader(want))} {
				if got, err := ReadMessage(r, sure, int64(n)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %d sure: %d bytes, %v", n, sure, len(got), err)
				}
			}
			if n > 0 {
				if _, err := ReadMessage(bytes.NewReader(want), sure, int64(n-1)); !errors.Is(err, ErrTooMuch) {
					t.Errorf("%d bytes, one too many: %v", n, err)
				}
			}
		}
	}
	cut := io.MultiReader(bytes.NewReader(make([]byte, 100)), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := ReadMessage(cut, 0, 1000); err != io.ErrUnexpectedEOF {
		t.Errorf("a connection that ends within the message: %v", err)
	}
}

// TestReadMessageMemory: a message without an end takes no more memory than the limit and a piece.
func TestReadMessageMemory(t *testing.T) {
	runtime.GC()
	e := &endless{}
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	const limit = 64 << 20
	if _, err := ReadMessage(e, 0, limit); !errors.Is(err, ErrTooMuch) {
		t.Fatal(err)
	}
	if most := e.heap - before.HeapAlloc; most > limit+8<<20 {
		t.Errorf("%d bytes of memory for %d bytes of a message", most, limit)
	}
}

// TestTooManyTopics: definitions do not fill the memory.
func TestTooManyTopics(t *testing.T) {
	r := NewRecorder(t.Context(), Options{})
	defer r.Close()
	text := make([]byte, 8<<20)
	added := 0
	for range 20 {
		if _, err := r.AddTopic(storage.Topic{Name: "/a", Schema: storage.Schema{Data: text}}); err == nil {
			added++
		} else if !errors.Is(err, ErrTooMuch) {
			t.Error(err)
		}
	}
	if added != 8 {
		t.Errorf("%d topics of 8 MiB each", added)
	}
}
