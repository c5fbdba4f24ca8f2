package mcap

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestJoinSums: the sum of two pieces is that of all bytes.
func TestJoinSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 70_000)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for range 300 {
		from, to := r.IntN(len(b)), r.IntN(len(b)+1)
		p := b[:min(from, to)]
		q := b[len(p):max(from, to)]
		if got, want := joinSums(crc32.ChecksumIEEE(p), crc32.ChecksumIEEE(q), int64(len(q))), crc32.ChecksumIEEE(b[:len(p)+len(q)]); got != want {
			t.Fatalf("%d and %d bytes: %08x, want %08x", len(p), len(q), got, want)
		}
	}
}

func BenchmarkJoinSums(b *testing.B) {
	for b.Loop() {
		joinSums(1, 2, 1<<20)
	}
}
