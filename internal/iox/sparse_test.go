package iox

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestSparse: what is written sparsely reads as what was written.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 50 {
		path := filepath.Join(t.TempDir(), "x")
		f, err := Sparse(nil).OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for range 20 {
			p := make([]byte, rng.IntN(5*holeBlock))
			if rng.IntN(2) == 0 {
				p = append(p, 1)
			}
			if rng.IntN(3) > 0 || len(want) == 0 {
				want = append(want, p...)
				_, err = f.Write(p)
			} else {
				at := rng.IntN(len(want))
				want = append(want, make([]byte, max(at+len(p)-len(want), 0))...)
				copy(want[at:], p)
				_, err = f.WriteAt(p, int64(at))
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(int64(len(want)), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
		}
	}
}
