package ahead

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

// TestQueue: every job is done once, and before it is taken.
func TestQueue(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		rng := rand.New(rand.NewPCG(1, 2))
		q := Queue{Workers: workers}
		done := make([]atomic.Int32, 3000)
		added, taken := 0, 0
		for taken < len(done) {
			if added < len(done) && (q.Len() == 0 || rng.IntN(9) > 3 && q.Len() < 20) {
				i, nap := added, rng.IntN(50) == 0
				q.Add(func() {
					if nap {
						time.Sleep(time.Duration(i%7) * 100 * time.Microsecond)
					}
					done[i].Add(1)
				})
				added++
				continue
			}
			if q.Take(); done[taken].Load() != 1 {
				t.Fatalf("%d workers: job %d was done %d times", workers, taken, done[taken].Load())
			}
			if taken++; q.Len() != added-taken {
				t.Fatalf("%d jobs are left of %d", q.Len(), added-taken)
			}
		}
		if n := q.Stop(); n != 0 {
			t.Errorf("%d jobs after the last", n)
		}
	}
}

// TestStop: what was begun ends before Stop returns, and nothing else begins.
func TestStop(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		for range 200 {
			q := Queue{Workers: workers}
			var begun, ended atomic.Int32
			for range 30 {
				q.Add(func() { begun.Add(1); ended.Add(1) })
			}
			for range 5 {
				q.Take()
			}
			done := int32(q.Stop()) + 5
			if begun.Load() != done || ended.Load() != done || q.Len() != 0 {
				t.Fatalf("%d workers: %d jobs are done, %d begun, %d ended, %d left", workers, done, begun.Load(), ended.Load(),
					q.Len())
			}
		}
	}
}
