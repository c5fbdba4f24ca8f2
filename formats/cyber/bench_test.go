package cyber

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// benchFile writes about 64 MB of messages of one size.
func benchFile(b *testing.B, size int) (string, int64) {
	b.Helper()
	rec := storagetest.Recording{Topics: []storage.Topic{{Name: "/apollo/sensor/imu", Type: "test.String",
		Encoding: encoding}, {Name: "/tf", Type: "test.String", Encoding: encoding}}}
	data := make([]byte, size)
	n := 64 << 20 / (size + 50)
	for i := range n {
		rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(i & 1),
			LogTime: 1_700_000_000_000_000_000 + int64(i)*100_000, Data: data})
	}
	path := filepath.Join(b.TempDir(), "x.record")
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
		b.Fatal(err)
	}
	return path, int64(n) * int64(size)
}

func benchSizes(b *testing.B, f func(b *testing.B, size int)) {
	b.Run("100B", func(b *testing.B) { f(b, 100) })
	b.Run("3.5MB", func(b *testing.B) { f(b, 3_500_000) })
}

// BenchmarkReadBlock reads all blocks on one goroutine.
func BenchmarkReadBlock(b *testing.B) {
	benchSizes(b, func(b *testing.B, size int) {
		path, bytes := benchFile(b, size)
		b.SetBytes(bytes)
		b.ReportAllocs()
		var batch storage.Batch
		for b.Loop() {
			r, err := openReader(context.Background(), path, storage.ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			for i := range r.(*reader).blocks() {
				if err := r.(*reader).ReadBlock(context.Background(), i, &batch); err != nil {
					b.Fatal(err)
				}
			}
			r.Close()
		}
	})
}

// BenchmarkMeasure goes over the heads of all messages, as for a file without an
// index.
func BenchmarkMeasure(b *testing.B) {
	benchSizes(b, func(b *testing.B, size int) {
		path, bytes := benchFile(b, size)
		r, err := openReader(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		f := r.(*reader).files[0]
		w := f.window()
		b.SetBytes(bytes)
		b.ReportAllocs()
		for b.Loop() {
			if err := f.measure(context.Background(), w); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWrite writes through WriteAll.
func BenchmarkWrite(b *testing.B) {
	benchSizes(b, func(b *testing.B, size int) {
		data := make([]byte, size)
		n := 64 << 20 / (size + 50)
		path := filepath.Join(b.TempDir(), "x.record")
		b.SetBytes(int64(n) * int64(size))
		b.ReportAllocs()
		for b.Loop() {
			w, err := createWriter(context.Background(), path, storage.WriteOptions{NoSync: true, Overwrite: true})
			if err != nil {
				b.Fatal(err)
			}
			id, err := w.CreateTopic(storage.Topic{Name: "/apollo/sensor/imu", Type: "test.String", Encoding: encoding})
			if err != nil {
				b.Fatal(err)
			}
			m := storage.Message{Topic: id, Data: data}
			for i := range n {
				m.LogTime = int64(i) * 100_000
				if err := w.Write(&m); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
