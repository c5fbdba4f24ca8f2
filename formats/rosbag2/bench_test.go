package rosbag2

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	_ "modernc.org/sqlite"
)

const benchTables = createTopics2 + ");" + createMessages

const insertMessage = "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)"

const scanSQL = "SELECT id, topic_id, timestamp, data FROM messages"

var benchShapes = []struct {
	name       string
	rows, size int
}{{"100B", 200000, 100}, {"1MB", 300, 1 << 20}}

func benchFill(b *testing.B, path string, page, cache, tx, rows, size int, index bool) {
	f, err := iox.OS.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	check(b, err)
	v := sqlite.Options{File: sqlite.Plain{File: f}}
	d, err := sqlite.Open(v)
	check(b, err)
	pragmas := fmt.Sprintf("PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA "+
		"locking_mode=EXCLUSIVE; PRAGMA temp_store=MEMORY;", page)
	if cache != 0 {
		pragmas += fmt.Sprintf("PRAGMA cache_size=%d;", -cache)
	}
	check(b, d.Exec(pragmas+benchTables+";BEGIN"))
	s, err := d.Prepare(insertMessage)
	check(b, err)
	blob := make([]byte, size)
	for i := range rows {
		blob[0] = byte(i)
		check(b, s.Bind(int64(i%8+1), 1700000000000000000+int64(i)*1000, blob))
		_, err := s.Step()
		check(b, err)
		s.Reset()
		if tx > 0 && i%tx == tx-1 {
			check(b, d.Exec("COMMIT; BEGIN"))
		}
	}
	s.Finalize()
	check(b, d.Exec("COMMIT"))
	if index {
		check(b, d.Exec(createIndex))
	}
	check(b, d.Close())
	check(b, f.Close())
}

func check(tb testing.TB, err error) {
	if err != nil { // Helper costs as much as a row
		tb.Helper()
		tb.Fatal(err)
	}
}

// BenchmarkEngine measures the SQLite engine by itself: through database/sql
// and through the C API, inserting, building timestamp_idx and scanning.
func BenchmarkEngine(b *testing.B) {
	dir := b.TempDir()
	report := func(b *testing.B, rows, size int) {
		b.SetBytes(int64(rows * size))
		b.ReportAllocs()
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	}
	for _, sh := range benchShapes {
		path := filepath.Join(dir, sh.name)
		b.Run(sh.name+"/insert/api=sql", func(b *testing.B) {
			for b.Loop() {
				os.Remove(path)
				d, err := sql.Open("sqlite",
					"file:"+path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)")
				check(b, err)
				d.SetMaxOpenConns(1)
				_, err = d.Exec(benchTables)
				check(b, err)
				tx, err := d.Begin()
				check(b, err)
				s, err := tx.Prepare(insertMessage)
				check(b, err)
				blob := make([]byte, sh.size)
				for i := range sh.rows {
					_, err = s.Exec(int64(i%8+1), 1700000000000000000+int64(i)*1000, blob)
					check(b, err)
				}
				check(b, s.Close())
				check(b, tx.Commit())
				check(b, d.Close())
			}
			report(b, sh.rows, sh.size)
		})
		b.Run(sh.name+"/scan/api=sql", func(b *testing.B) {
			for b.Loop() {
				d, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
				check(b, err)
				rows, err := d.Query(scanSQL)
				check(b, err)
				var id, topic, stamp int64
				var raw sql.RawBytes
				n := 0
				for rows.Next() {
					check(b, rows.Scan(&id, &topic, &stamp, &raw))
					n++
				}
				check(b, rows.Err())
				check(b, d.Close())
				if n != sh.rows {
					b.Fatal(n)
				}
			}
			report(b, sh.rows, sh.size)
		})
		for _, page := range []int{4096, 8192, 65536} {
			name := fmt.Sprintf("api=c/page=%d", page)
			b.Run(sh.name+"/insert/"+name, func(b *testing.B) {
				for b.Loop() {
					os.Remove(path)
					benchFill(b, path, page, 0, 0, sh.rows, sh.size, false)
				}
				report(b, sh.rows, sh.size)
			})
			b.Run(sh.name+"/insert+index/"+name, func(b *testing.B) {
				for b.Loop() {
					os.Remove(path)
					benchFill(b, path, page, 0, 0, sh.rows, sh.size, true)
				}
				report(b, sh.rows, sh.size)
			})
			b.Run(sh.name+"/scan/"+name, func(b *testing.B) {
				var buf []byte
				for b.Loop() {
					f, err := iox.OS.Open(path)
					check(b, err)
					v := sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true}
					d, err := sqlite.Open(v)
					check(b, err)
					n := 0
					check(b, d.Query(scanSQL, func(s *sqlite.Stmt) error {
						buf = append(buf[:0], s.Bytes(3)...)
						n += int(s.Int(0)*0+s.Int(1)*0+s.Int(2)*0) + 1
						return nil
					}))
					if n != sh.rows {
						b.Fatal(n)
					}
					check(b, d.Close())
					check(b, f.Close())
				}
				report(b, sh.rows, sh.size)
			})
		}
		for _, kb := range []int{512, 16 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/insert/api=c/page=4096/cache=%dKB", sh.name, kb), func(b *testing.B) {
				for b.Loop() {
					os.Remove(path)
					benchFill(b, path, 4096, kb, 0, sh.rows, sh.size, false)
				}
				report(b, sh.rows, sh.size)
			})
		}
		for _, tx := range []int{1000, 20000} {
			if tx < sh.rows {
				b.Run(fmt.Sprintf("%s/insert/api=c/page=4096/tx=%d", sh.name, tx), func(b *testing.B) {
					for b.Loop() {
						os.Remove(path)
						benchFill(b, path, 4096, 0, tx, sh.rows, sh.size, false)
					}
					report(b, sh.rows, sh.size)
				})
			}
		}
	}
}

// BenchmarkWriter writes recordings of small and of large messages.
func BenchmarkWriter(b *testing.B) {
	for _, sh := range benchShapes {
		b.Run(sh.name, func(b *testing.B) {
			dir := b.TempDir()
			rows := make([]storage.Message, sh.rows)
			data := make([]byte, sh.size)
			for i := range rows {
				rows[i] = storage.Message{Topic: storage.TopicID(i % 5), LogTime: 1700000000000000000 + int64(i)*1000, Data: data}
			}
			b.SetBytes(int64(sh.rows * sh.size))
			b.ReportAllocs()
			for b.Loop() {
				write(b, filepath.Join(dir, "bag"), storage.WriteOptions{Overwrite: true}, sampleTopics(), rows)
			}
			b.ReportMetric(float64(sh.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkReader opens such recordings and reads all blocks.
func BenchmarkReader(b *testing.B) {
	for _, sh := range benchShapes {
		b.Run(sh.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "bag")
			rows := make([]storage.Message, sh.rows)
			data := make([]byte, sh.size)
			for i := range rows {
				rows[i] = storage.Message{LogTime: int64(i), Data: data}
			}
			write(b, path, storage.WriteOptions{}, sampleTopics()[:1], rows)
			b.SetBytes(int64(sh.rows * sh.size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := open(context.Background(), path, storage.ReadOptions{})
				check(b, err)
				n := 0
				for {
					_, err := r.ReadNext()
					if err == io.EOF {
						break
					}
					check(b, err)
					n++
				}
				check(b, r.Close())
				if n != sh.rows {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(sh.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkReadBlocks reads all blocks on two goroutines, as a conversion does.
// BAGCONV_BENCH_DB3 names recordings to read too, separated as in PATH.
func BenchmarkReadBlocks(b *testing.B) {
	paths := map[string]string{}
	for _, sh := range benchShapes {
		path := filepath.Join(b.TempDir(), "bag")
		rows := make([]storage.Message, sh.rows)
		data := make([]byte, sh.size)
		for i := range rows {
			rows[i] = storage.Message{LogTime: int64(i), Data: data}
		}
		write(b, path, storage.WriteOptions{}, sampleTopics()[:1], rows)
		paths[sh.name] = path
	}
	for _, path := range filepath.SplitList(os.Getenv("BAGCONV_BENCH_DB3")) {
		paths[filepath.Base(path)] = path
	}
	for name, path := range paths {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			messages, bytes := int64(0), int64(0)
			for b.Loop() {
				r, err := open(context.Background(), path, storage.ReadOptions{})
				check(b, err)
				br := r.(storage.BlockReader)
				blocks, _, err := br.Blocks(context.Background(), nil)
				check(b, err)
				var next, n, size atomic.Int64
				var wait sync.WaitGroup
				for range 2 {
					wait.Go(func() {
						var batch storage.Batch
						for {
							i := int(next.Add(1)) - 1
							if i >= len(blocks) {
								return
							}
							if err := br.ReadBlock(context.Background(), i, &batch); err != nil {
								b.Error(err)
								return
							}
							n.Add(int64(len(batch.Messages)))
							size.Add(int64(len(batch.Buf)))
						}
					})
				}
				wait.Wait()
				check(b, r.Close())
				messages, bytes = n.Load(), size.Load()
			}
			b.SetBytes(bytes)
			b.ReportMetric(float64(messages)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
