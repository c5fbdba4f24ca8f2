package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest"
	"github.com/bagconv/bagconv/storage"
)

// BenchmarkImport reads 100,000 messages of sensor_msgs/msg/Imu in each form, on one core.
func BenchmarkImport(b *testing.B) {
	const n = 100_000
	var lines bytes.Buffer
	for i := range n {
		fmt.Fprintf(&lines, `{"topic":"/imu","time":"%d","fields":{"header":{"stamp":{"sec":1,"nanosec":%d},"frame_id":"imu_link"},"orientation":{"x":0.25,"w":1.0},`+
			`"orientation_covariance":[1.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,1.0],"angular_velocity":{"z":%d.5}}}`+"\n", i, i, i)
	}
	o := ingest.Options{In: &lines, TempDir: os.TempDir(), Type: "sensor_msgs/msg/Imu"}
	text := bytes.Clone(lines.Bytes())
	source := ingest.Source(o)
	var table bytes.Buffer
	if _, err := convert.Run(context.Background(), convert.Job{Source: ingest.Stdin, SourceFormat: source, Sink: "-",
		SinkFormat: export.Stream(&table)}); err != nil {
		b.Fatal(err)
	}
	names := frames.AppendNames(nil, "cdr", "sensor_msgs/msg/Imu", "/imu")
	var framed []byte
	for i := range n {
		framed, _ = frames.Append(framed, int64(i), names, make([]byte, 324))
	}
	for _, c := range []struct {
		name  string
		input []byte
	}{{"frames", framed}, {"arrow", table.Bytes()}, {"ndjson", text}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.input)))
			b.ReportAllocs()
			for b.Loop() {
				o := ingest.Options{In: bytes.NewReader(c.input), TempDir: os.TempDir(), Type: "sensor_msgs/msg/Imu"}
				r, err := ingest.Source(o).Open(context.Background(), ingest.Stdin, storage.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				got := 0
				for err == nil {
					if _, err = r.ReadNext(); err == nil {
						got++
					}
				}
				if err != io.EOF || got != n {
					b.Fatal(got, err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
