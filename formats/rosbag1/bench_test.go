package rosbag1

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// benchShapes are message sizes and how many of them make a bag.
var benchShapes = []struct {
	name    string
	size, n int
}{{"100B", 100, 400_000}, {"1MB", 1 << 20, 100}}

// payload is data that compresses by about three.
func payload(size int) []byte {
	b := make([]byte, 0, size+64)
	for i := uint32(1); len(b) < size; i = i*1664525 + 1013904223 {
		b = fmt.Appendf(b, "x: %d y: 0.0 ", i%1000003)
	}
	return b[:size]
}

func writeBench(b testing.TB, path, codec string, size, n int) int64 {
	w, err := createWriter(context.Background(), path, storage.WriteOptions{Compression: codec, NoSync: true,
		Overwrite: true})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 8 {
		t := testTopics[0]
		t.Name = fmt.Sprint("/topic", i)
		if _, err := w.CreateTopic(t); err != nil {
			b.Fatal(err)
		}
	}
	m := storage.Message{Data: payload(size)}
	for i := range n {
		m.Topic = storage.TopicID(i % 8)
		m.LogTime = 1_700_000_000_000_000_000 + int64(i)*1e6
		if err := w.Write(&m); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
	return int64(size+messageFixed) * int64(n)
}

func benchMatrix(b *testing.B, f func(b *testing.B, codec string, size, n int)) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		for _, s := range benchShapes {
			n := s.n
			if codec == "bz2" {
				n /= 10
			}
			b.Run(codec+"/"+s.name, func(b *testing.B) { f(b, codec, s.size, n) })
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	dir := b.TempDir()
	benchMatrix(b, func(b *testing.B, codec string, size, n int) {
		b.ReportAllocs()
		for b.Loop() {
			b.SetBytes(writeBench(b, filepath.Join(dir, "w.bag"), codec, size, n))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/msg")
	})
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	benchMatrix(b, func(b *testing.B, codec string, size, n int) {
		path := filepath.Join(dir, "r.bag")
		b.SetBytes(writeBench(b, path, codec, size, n))
		b.ReportAllocs()
		var batch storage.Batch
		for b.Loop() {
			r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true})
			if err != nil {
				b.Fatal(err)
			}
			blocks := r.(*reader).blocks
			got := 0
			for i := range blocks {
				if err := r.(*reader).ReadBlock(context.Background(), i, &batch); err != nil {
					b.Fatal(err)
				}
				got += len(batch.Messages)
			}
			if r.Close(); got != n {
				b.Fatal(got)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/msg")
	})
}

// BenchmarkScan opens a bag without its index, which reads index records but
// only the chunks with new connections.
func BenchmarkScan(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.bag")
	b.SetBytes(writeBench(b, path, "none", 100, 400_000))
	whole, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	copy(whole, (&writer{}).fileHeader(0))
	o := storage.ReadOptions{FS: memFS{b: whole}}
	for b.Loop() {
		if _, err := openReader(context.Background(), path, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadOld opens and reads bags of before version 2.0: 100 bytes are in each message.
func BenchmarkReadOld(b *testing.B) {
	for _, f := range oldForms {
		b.Run(f.name, func(b *testing.B) {
			whole := f.write(f.messages(300_000, 100))
			b.SetBytes(int64(len(whole)))
			b.ReportAllocs()
			var batch storage.Batch
			for b.Loop() {
				r, err := openOld(b, whole, storage.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				blocks, _, err := r.(storage.BlockReader).Blocks(context.Background(), nil)
				if err != nil {
					b.Fatal(err)
				}
				for i := range blocks {
					if err := r.(storage.BlockReader).ReadBlock(b.Context(), i, &batch); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
