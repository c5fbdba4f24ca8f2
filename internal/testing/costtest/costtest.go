// Package costtest tests that work costs in proportion to its input. It counts what
// does not depend on the clock, the load or the number of cores: bytes of memory that
// are allocated, whether they are freed or not. Work that is quadratic without
// allocating anything is not seen.
//
// It counts for the whole process: tests that use this package do not run in
// parallel with others.
package costtest

import (
	"runtime"
	"testing"
)

// maxGrowth is how many times the cost of twice the input may be.
const maxGrowth = 2.3

// Linear fails the test if work over 2n things allocates more than 2.3 times what it
// allocates over n. It makes no sense if most of the cost is the same for any n.
func Linear(t *testing.T, n int, work func(n int)) {
	t.Helper()
	work(n) // what is made once
	one, two := allocated(n, work), allocated(2*n, work)
	if growth := float64(two) / float64(one); growth > maxGrowth {
		t.Errorf("%d things cost %d bytes of memory and %d cost %d, %.2f times as many, want at most %.1f", n, one, 2*n, two,
			growth, maxGrowth)
	}
}

func allocated(n int, work func(n int)) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work(n)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
