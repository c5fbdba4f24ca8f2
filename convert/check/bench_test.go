package check_test

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

// BenchmarkRun checks recordings in memory: what check costs on top of reading.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name     string
		messages int
		size     int // of a message
	}{{"imu", 100_000, 324}, {"image", 64, 2 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			f := &fake{perBlock: max(1, 1<<20/c.size)}
			id := f.topic(storage.Topic{Name: "/x", Type: "acme_msgs/Blob", Encoding: "ros1",
				Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("std_msgs/Header header\nuint8[] data\n")}})
			head := value(start, 0)[:19]
			data := append(head, byte(c.size-23), byte((c.size-23)>>8), byte((c.size-23)>>16), 0)
			data = append(data, make([]byte, c.size-len(data))...)
			for i := range int64(c.messages) {
				f.add(id, start+i*ms, data)
			}
			b.SetBytes(int64(c.messages) * int64(c.size))
			b.ReportAllocs()
			for b.Loop() {
				f.pos = 0
				res, err := check.Run(context.Background(), f, check.Options{})
				if err != nil || res.Decoded != int64(c.messages) {
					b.Fatal(err, res.Decoded, res.Findings)
				}
			}
			b.ReportMetric(float64(c.messages)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
