package crc

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestJoin: the sum of two pieces is the sum of all bytes.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for _, polynomial := range []uint32{crc32.IEEE, crc32.Castagnoli} {
		table := crc32.MakeTable(polynomial)
		for i := range 300 {
			size := min(len(b), 1<<(i%21))
			from, to := r.IntN(size), r.IntN(size+1)
			p := b[:min(from, to)]
			q := b[len(p):max(from, to)]
			got := Join(polynomial, crc32.Checksum(p, table), crc32.Checksum(q, table), int64(len(q)))
			if want := crc32.Checksum(b[:len(p)+len(q)], table); got != want {
				t.Fatalf("%d and %d bytes: %08x, want %08x", len(p), len(q), got, want)
			}
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	for b.Loop() {
		Join(crc32.IEEE, 1, 2, 1<<20)
	}
}
