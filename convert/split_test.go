package convert

import (
	"context"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/fake"
)

// TestWindowsWrongIndex: parts by size are the same whether the index is right or wrong.
func TestWindowsWrongIndex(t *testing.T) {
	windows := func(wrong bool) []int64 {
		bag := fake.Random(1, 60, 20, 5)
		honest := bag.Honest()
		bag.Timed = func(i int) (int64, int64) {
			if wrong {
				i = len(bag.Blocks) - 1 - i
			}
			return honest(i)
		}
		j := fakeJob(t, bag, &fake.Sink{})
		indexed(&j, bag, nil)
		list, _, err := Windows(context.Background(), &j, Cut{Size: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var starts []int64
		for _, w := range list {
			starts = append(starts, w.First)
		}
		return starts
	}
	if right, wrong := windows(false), windows(true); len(right) < 5 || !slices.Equal(right, wrong) {
		t.Errorf("%v, with a wrong index %v", right, wrong)
	}
}
