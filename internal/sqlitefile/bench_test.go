package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// BenchmarkLoad writes tables of small, middle and large rows, on pages of several
// sizes, with times in order and not; what is set up in between is not measured.
// The size of the file is reported beside the speed.
func BenchmarkLoad(b *testing.B) {
	for _, sh := range []struct{ rows, size int }{{300_000, 100}, {100_000, 1000}, {4000, 32_000}, {150, 1 << 20}} {
		for _, u := range []int{1024, 4096, 8192, 16384, 65536} {
			for _, kind := range []string{"ascending", "jittered"} {
				if kind == "jittered" && u != 4096 {
					continue
				}
				b.Run(fmt.Sprintf("size=%d/page=%d/%s", sh.size, u, kind), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 1))
					times := make([]int64, sh.rows)
					for i := range times {
						times[i] = timeKinds[kind](r, i)
					}
					data := fill(r, sh.size)
					empty := readFile(b, newBase(b, u))
					path := filepath.Join(b.TempDir(), "x.db3")
					b.SetBytes(int64(sh.rows * sh.size))
					b.ReportAllocs()
					size := int64(0)
					for b.Loop() {
						b.StopTimer()
						if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, empty, 0o666)); err != nil {
							b.Fatal(err)
						}
						f, err := os.OpenFile(path, os.O_RDWR, 0)
						if err != nil {
							b.Fatal(err)
						}
						b.StartTimer()
						l, err := Open(storage.File(f), Options{})
						if err != nil {
							b.Fatal(err)
						}
						for i, t := range times {
							if err := l.Add(int64(i&7), t, data); err != nil {
								b.Fatal(err)
							}
						}
						if err := l.Finish(); err != nil {
							b.Fatal(err)
						}
						b.StopTimer()
						st, err := f.Stat()
						if err = errors.Join(err, f.Close()); err != nil {
							b.Fatal(err)
						}
						size = st.Size()
						b.StartTimer()
					}
					b.ReportMetric(float64(sh.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
					b.ReportMetric(float64(size)/float64(sh.rows*sh.size), "file/data")
				})
			}
		}
	}
}

// BenchmarkSalvage finds and reads all rows of a table without its tree.
func BenchmarkSalvage(b *testing.B) {
	for _, sh := range []struct{ rows, size int }{{300_000, 320}, {100, 1 << 20}} {
		b.Run(fmt.Sprint(sh.size), func(b *testing.B) {
			path := newBase(b, 4096)
			data := fill(rand.New(rand.NewPCG(1, 1)), sh.size)
			rows := make([]row, sh.rows)
			for i := range rows {
				rows[i] = row{1, int64(i), data}
			}
			load(b, path, way{}, rows)
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			st, err := f.Stat()
			if err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.SetBytes(int64(sh.rows * sh.size))
			b.ReportAllocs()
			for b.Loop() {
				s, err := NewSalvage(context.Background(), f, st.Size())
				if err != nil {
					b.Fatal(err)
				}
				v := s.NewSalvager(f)
				n := 0
				for _, g := range s.Ranges(2 << 20) {
					err := v.Scan(g.Lo, g.Hi, func(row *Row) (err error) {
						n++
						buf, err = v.Append(buf[:0], row)
						return err
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				if n != sh.rows {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(sh.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
