package verify_test

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/testing/fake"
)

// TestWrongIndex: what was compared before an index turned out to be wrong does not count.
func TestWrongIndex(t *testing.T) {
	for _, wrong := range [][2]bool{{true, false}, {false, true}, {true, true}, {false, false}} {
		for _, differ := range []bool{false, true} {
			var sides [2]verify.Side
			var n int64
			for i := range sides {
				bag := fake.Random(1, 200, 30, 5)
				honest := bag.Honest()
				bag.Timed = honest
				if wrong[i] { // a block in the middle comes too late
					bag.Timed = func(k int) (int64, int64) {
						start, end := honest(k)
						if k == 100 {
							return start + 3000, end + 3000
						}
						return start, end
					}
				}
				if differ && i == 1 {
					bag.Blocks[50][0].Data[0] ^= 1
				}
				_, _, n = bag.Span()
				sides[i].Path, sides[i].Format = bag.Source(t)
			}
			res, err := verify.Run(context.Background(), verify.Job{A: sides[0], B: sides[1]})
			if err != nil {
				t.Fatal(err)
			}
			if res.Equal == differ || res.A.Messages != n || res.B.Messages != n {
				t.Errorf("wrong %v, differ %v: equal %v, %d and %d messages of %d", wrong, differ, res.Equal, res.A.Messages,
					res.B.Messages, n)
			}
		}
	}
}
