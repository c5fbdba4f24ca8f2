package all

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// BenchmarkQuery holds one message of the recordings in BAGCONV_BENCH_QUERY, a list
// of paths as in PATH, against reading them whole. Opening is part of each. The
// topics are the one with the most messages and the one with the fewest, of those
// that have a hundred. scripts/bench --only query makes recordings for it.
func BenchmarkQuery(b *testing.B) {
	paths := os.Getenv("BAGCONV_BENCH_QUERY")
	if paths == "" {
		b.Skip("BAGCONV_BENCH_QUERY names no recordings")
	}
	for _, path := range filepath.SplitList(paths) {
		info := describe(b, path)
		b.Run(fmt.Sprintf("%s/open", info.Format), func(b *testing.B) { benchOpen(b, path, func(storage.Reader) {}) })
		b.Run(fmt.Sprintf("%s/ReadNext", info.Format), func(b *testing.B) {
			benchOpen(b, path, func(r storage.Reader) {
				if n := readOn(b, r); n != info.Messages {
					b.Fatalf("%d messages of %d", n, info.Messages)
				}
			})
		})
		b.Run(fmt.Sprintf("%s/blocks", info.Format), func(b *testing.B) {
			benchOpen(b, path, func(r storage.Reader) {
				if n := readBlocks(b, r); n != info.Messages {
					b.Fatalf("%d messages of %d", n, info.Messages)
				}
			})
		})
		for name, t := range ends(info) {
			for at, part := range map[string]int64{"begin": 100, "middle": 2, "end": 1} {
				n := t.Messages / part
				if part == 1 {
					n -= t.Messages/20 + 1
				}
				b.Run(fmt.Sprintf("%s/%s/%s", info.Format, name, at), func(b *testing.B) {
					benchOpen(b, path, func(r storage.Reader) { nth(b, r, t.ID, n) })
				})
			}
		}
	}
}

func describe(t testing.TB, path string) *storage.Info {
	t.Helper()
	r, err := Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	return info
}

// ends are the most frequent and the rarest topic of a recording.
func ends(info *storage.Info) map[string]storage.TopicInfo {
	list := slices.DeleteFunc(slices.Clone(info.Topics), func(t storage.TopicInfo) bool { return t.Messages < 100 })
	by := func(a, b storage.TopicInfo) int { return cmp.Compare(a.Messages, b.Messages) }
	return map[string]storage.TopicInfo{"frequent": slices.MaxFunc(list, by), "rare": slices.MinFunc(list, by)}
}

// benchOpen opens a recording for each run of f. On a busy machine the time of the
// processor is a better measure than wall time.
func benchOpen(b *testing.B, path string, f func(storage.Reader)) {
	time.Sleep(20 * time.Millisecond) // until the sweep is over after the collection that testing begins with
	begin := cpuTime()
	defer func() {
		if d := cpuTime() - begin; d > 0 {
			b.ReportMetric(float64(d)/float64(b.N), "cpu-ns/op")
		}
	}()
	for b.Loop() {
		r, err := Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		f(r)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// nth reads the heads of n messages, and the message after them.
func nth(t testing.TB, r storage.Reader, topic storage.TopicID, n int64) {
	query := storage.ReaderCapabilities(r).Query
	given, at := int64(0), int64(0)
	ask := storage.Query{Topics: []storage.TopicID{topic}, Limit: n + 1, NoData: true}
	for m, err := range query.Query(context.Background(), ask) {
		if err != nil {
			t.Fatal(err)
		}
		given, at = given+1, m.LogTime
	}
	for _, err := range query.Query(context.Background(), storage.Query{Topics: ask.Topics, Start: at, Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		given++
	}
	if given != n+2 {
		t.Fatalf("%d messages", given)
	}
}

func readOn(t testing.TB, r storage.Reader) (n int64) {
	for {
		_, err := r.ReadNext()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// readBlocks reads on all cores.
func readBlocks(t testing.TB, r storage.Reader) int64 {
	blocks, _, err := storage.ReaderCapabilities(r).Blocks.Blocks(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var next, messages atomic.Int64
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			var batch storage.Batch
			for {
				i := int(next.Add(1)) - 1
				if i >= len(blocks) {
					return
				}
				if err := storage.ReaderCapabilities(r).Blocks.ReadBlock(context.Background(), i, &batch); err != nil {
					t.Error(err)
					return
				}
				messages.Add(int64(len(batch.Messages)))
			}
		})
	}
	done.Wait()
	return messages.Load()
}
