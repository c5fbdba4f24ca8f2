package verify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// BenchmarkRun compares a bag with each format: many small messages of all types,
// and images. Bytes are those of the messages of both sides.
func BenchmarkRun(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	small := generate(b, rng, 4000)
	topic, _ := topicOf(b, "/camera", "sensor_msgs/Image")
	images := storagetest.Recording{Topics: []storage.Topic{topic}}
	pixels := make([]byte, 2<<20)
	for i := range pixels {
		pixels[i] = byte(rng.Uint32())
	}
	for i := range 40 {
		data := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 5, 0, 0, 0, 'm', 'o', 'n', 'o',
			'8', 0, 0, 8, 0, 0, 0, 0, 32, 0}
		data = append(data, pixels...)
		at := int64(start + i*1e8)
		images.Messages = append(images.Messages, storage.Message{LogTime: at, PublishTime: at, Data: data})
	}
	for name, rec := range map[string]storagetest.Recording{"small": small, "images": images} {
		dir := b.TempDir()
		bag := save(b, registry.Lookup("bag"), filepath.Join(dir, "a"), rec)
		bytes := int64(0)
		for i := range rec.Messages {
			bytes += int64(len(rec.Messages[i].Data))
		}
		for _, to := range []string{"bag", "db3", "record"} {
			out := converted(b, convert.Job{}, bag, to, filepath.Join(dir, "out"))
			for _, level := range []verify.Level{verify.Content, verify.Counts} {
				b.Run(fmt.Sprintf("%s/%s/%s", name, to, level), func(b *testing.B) {
					b.SetBytes(2 * bytes)
					b.ReportAllocs()
					job := verify.Job{Level: level, A: sideOf(bag, formatOf(b, bag)), B: sideOf(out, formatOf(b, out))}
					for b.Loop() {
						if res, err := verify.Run(context.Background(), job); err != nil || !res.Equal {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*len(rec.Messages)), "ns/msg")
				})
			}
		}
	}
}
