package values

import (
	"encoding/binary"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/storage"
)

// BenchmarkDecode reads and writes messages of many fields, and of many numbers.
func BenchmarkDecode(b *testing.B) {
	src := fixMessage(b)
	topic := &storage.Topic{Name: "/fix", Type: "sensor_msgs/NavSatFix", Encoding: "ros1"}
	run := func(name string, decode func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var m navSatFix
	codec, err := For[navSatFix](topic)
	if err != nil {
		b.Fatal(err)
	}
	run("fix/struct", func() error { return codec.Decode(src, &m) })
	maps, err := For[map[string]any](topic)
	if err != nil {
		b.Fatal(err)
	}
	var v map[string]any
	run("fix/map", func() error { return maps.Decode(src, &v) })
	var out []byte
	run("fix/struct/write", func() error { out, err = codec.Append(out[:0], &m); return err })

	type point struct{ X, Y, Z float64 }
	type cloud struct{ Points []point }
	points, err := compileFor[cloud](parse(b, "P[] points\n"+separator+"MSG: p/P\nfloat64 x\nfloat64 y\nfloat64 z\n",
		rosmsg.ROS1))
	if err != nil {
		b.Fatal(err)
	}
	src = append(binary.LittleEndian.AppendUint32(nil, 10_000), make([]byte, 240_000)...)
	var c cloud
	run("points/struct", func() error { return points.Decode(src, &c) })
	run("points/struct/write", func() error { out, err = points.Append(out[:0], &c); return err })
}
