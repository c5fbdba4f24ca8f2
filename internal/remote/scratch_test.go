package remote

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// heap returns the bytes that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestManyOutputs: the memory of 64 outputs at once follows the limit and not their number, and what they are is whole.
func TestManyOutputs(t *testing.T) {
	const outputs, size, piece, limit = 64, 12 << 20, 256 << 10, 32 << 20
	s, r := fakeS3(t, &Settings{Memory: limit})
	defer r.Close()
	before := heap()
	files := make([]storage.File, outputs)
	for i := range files {
		f, err := r.OpenFile(fmt.Sprintf("%sd/.x.%08x.part/new/%d", inBucket, i, i), os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = f
	}
	for off := int64(0); off < size; off += piece {
		for i, f := range files {
			if _, err := f.WriteAt(bytes.Repeat([]byte{byte(i), byte(off / piece)}, piece/2), off); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, f := range files {
		if _, err := f.WriteAt([]byte("head"), 0); err != nil { // as formats do, last
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if used := heap() - before; used > limit+16<<20 {
		t.Errorf("%d MiB for %d outputs of %d MiB, the limit is %d MiB", used>>20, outputs, size>>20, limit>>20)
	}
	for _, i := range []int{0, 62} {
		stage := fmt.Sprintf("%sd/.x.%08x.part/new", inBucket, i)
		if err := r.Place(stage, inBucket+"d", []string{fmt.Sprint(i)}, nil, false); err != nil {
			t.Fatal(err)
		}
		got := s.Get(fmt.Sprint("d/", i))
		if len(got) != size || string(got[:4]) != "head" || got[size-2] != byte(i) || got[size-1] != size/piece-1 {
			t.Errorf("output %d: %d bytes", i, len(got))
		}
	}
	r.Close()
	if r.scratch.used != 0 {
		t.Errorf("%d bytes are still counted", r.scratch.used)
	}
}

// TestScratch: objects are the same whether their parts wait in memory, in a file, or in a file whose disk is full,
// whatever the order of the writes and the holes between them.
func TestScratch(t *testing.T) {
	rng, base := rand.New(rand.NewPCG(1, 1)), noise(1<<20)
	for name, memory := range map[string]int64{"memory": 1 << 30, "file": 1, "both": partSize + partSize/2, "none": 1,
		"full": 1} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			s, r := fakeS3(t, &Settings{Memory: memory, Note: func(text string) { notes = append(notes, text) }})
			defer r.Close()
			switch name {
			case "none":
				t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
			case "full":
				disk := faultio.NewDisk(iox.OS, partSize+1<<20)
				f, err := disk.OpenFile(filepath.Join(t.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				r.scratch.file = f
			}
			for n := range 3 { // places in the file are used again
				want := make([]byte, 2*partSize+rng.IntN(partSize))
				f, err := r.OpenFile(fmt.Sprint(inBucket, n), os.O_CREATE|os.O_WRONLY, 0o666)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(want); i += 1 << 20 {
					at := (i*7 + i/3) % (len(want) - 1<<20)
					if i/(1<<20)%3 == n {
						continue // a hole
					}
					b := base[:rng.IntN(1<<20)]
					n, err := f.WriteAt(b, int64(at))
					if err != nil && !errors.Is(err, errSent) { // a part that was full cannot be changed
						t.Fatal(err)
					}
					copy(want[at:], b[:n])
				}
				if _, err := f.WriteAt([]byte{1}, int64(len(want))-1); err != nil {
					t.Fatal(err)
				}
				want[len(want)-1] = 1
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if got := s.Get(fmt.Sprint(n)); !bytes.Equal(got, want) {
					t.Errorf("object %d: %d bytes, want %d, or others", n, len(got), len(want))
				}
			}
			said := strings.Count(strings.Join(notes, "\n"), "no temporary file can be written")
			if want := map[string]int{"none": 1, "full": 1}[name]; said != want {
				t.Errorf("the notes are %q", notes)
			}
			if r.scratch.used != 0 {
				t.Errorf("%d bytes are still counted", r.scratch.used)
			}
		})
	}
}
