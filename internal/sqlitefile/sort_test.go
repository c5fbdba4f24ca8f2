package sqlitefile

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestTimes: the order of the index, by memory and by a file, against a plain
// stable sort.
func TestTimes(t *testing.T) {
	for kind, at := range timeKinds {
		for _, n := range []int{0, 1, 2, 1000, chunkLen - 1, chunkLen, 3*chunkLen + 7} {
			for _, rows := range []int64{1, 1000, 100_000, 1 << 40} {
				if n > 1000 && rows == 1 {
					continue
				}
				t.Run(fmt.Sprint(kind, n, rows), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(n), uint64(rows)))
					want := make([]runCursor, n)
					made := 0
					times := times{limit: rows * sortBytes, temp: func() (storage.File, error) {
						made++
						return os.Create(filepath.Join(t.TempDir(), "runs"))
					}}
					for i := range want {
						v := at(r, i)
						want[i] = runCursor{key: unsigned(v), rowid: int64(i) + 1}
						if err := times.add(v); err != nil {
							t.Fatal(err)
						}
					}
					slices.SortFunc(want, func(a, b runCursor) int {
						return cmp.Or(cmp.Compare(a.key, b.key),
							cmp.Compare(a.rowid, b.rowid))
					})
					i := 0
					err := times.each(func(v, rowid int64) error {
						if i >= n || want[i].rowid != rowid || signed(want[i].key) != v {
							return fmt.Errorf("entry %d is row %d at %d", i, rowid, v)
						}
						i++
						return nil
					})
					if err := errors.Join(err, times.close()); err != nil || i != n {
						t.Fatal(i, err)
					}
					if spills := int64(n) > 4*rows; spills != (made == 1) && (spills || int64(n) <= rows) {
						t.Errorf("%d temporary files", made)
					}
				})
			}
		}
	}
}

// TestSpill: a load whose times do not fit into memory.
func TestSpill(t *testing.T) {
	for _, kind := range []string{"ascending", "jittered", "random", "equal"} {
		rows := makeRows(8, 20_000, 30, kind)
		path := newBase(t, 512)
		name := filepath.Join(t.TempDir(), "runs")
		var w way
		w.Memory = 1000 * sortBytes
		w.Temp = func() (storage.File, error) { return os.Create(name) }
		load(t, path, w, rows)
		if st, err := os.Stat(name); err != nil || st.Size() != 20_000*entryLen {
			t.Errorf("%s: nothing was spilled: %v", kind, err)
		}
		check(t, path, rows, kind == "random")
	}
}

// TestNoTemp: without a temporary file there is no limit.
func TestNoTemp(t *testing.T) {
	rows := makeRows(8, 5000, 30, "random")
	path := newBase(t, 512)
	load(t, path, way{Options: Options{Memory: 1000}}, rows)
	check(t, path, rows, false)
}

func BenchmarkSort(b *testing.B) {
	const n = 1_000_000
	for _, kind := range []string{"ascending", "jittered", "random"} {
		b.Run(kind, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			in := make([]int64, n)
			for i := range in {
				in[i] = timeKinds[kind](r, i)
			}
			b.SetBytes(n * 8)
			b.ReportAllocs()
			for b.Loop() {
				t := times{limit: Memory}
				for _, v := range in {
					if err := t.add(v); err != nil {
						b.Fatal(err)
					}
				}
				sum := int64(0)
				if err := t.each(func(v, rowid int64) error { sum += v ^ rowid; return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
