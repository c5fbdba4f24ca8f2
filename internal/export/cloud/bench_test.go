package cloud

import "testing"

// layouts of sensors.
func layouts() map[string]*Cloud {
	const points = 65536
	float := func(name string, offset uint32) Field { return Field{name, offset, Float32, 1} }
	position := []Field{float("x", 0), float("y", 4), float("z", 8)}
	ouster := append(position[:3:3], float("intensity", 16), Field{"t", 20, Uint32, 1},
		Field{"reflectivity", 24, Uint16, 1}, Field{"ring", 26, Uint16, 1}, Field{"ambient", 28, Uint16, 1},
		Field{"range", 32, Uint32, 1})
	gapped := append(position[:3:3], float("intensity", 16), Field{"ring", 20, Uint16, 1})
	swapped := velodyne(points)
	swapped.BigEndian = true
	livox := append(position[:3:3], float("intensity", 12), Field{"tag", 16, Uint8, 1}, Field{"line", 17, Uint8, 1},
		Field{"timestamp", 18, Float64, 1})
	return map[string]*Cloud{
		"velodyne32": velodyne(points), "velodyne22": of(points, 22, gapped...), "ouster48": of(points, 48, ouster...),
		"xyzi16": of(points, 16, append(position[:3:3], float("intensity", 12))...), "bigendian32": swapped,
		"livox26": of(points, 26, livox...),
	}
}

// BenchmarkPCD: bytes are those of the cloud's data.
func BenchmarkPCD(b *testing.B) {
	for _, name := range []string{"xyzi16", "velodyne22", "livox26", "velodyne32", "ouster48", "bigendian32"} {
		for _, o := range []struct {
			name string
			Options
		}{{"binary", Options{}}, {"dropnan", Options{DropNaN: true}}, {"compressed", Options{Compressed: true}}} {
			b.Run(name+"/"+o.name, func(b *testing.B) {
				c := layouts()[name]
				var e Encoder
				var dst []byte
				var err error
				b.SetBytes(int64(len(c.Data)))
				b.ReportAllocs()
				for b.Loop() {
					if dst, err = e.AppendPCD(dst[:0], c, o.Options); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(dst))/float64(len(c.Data)), "out/in")
			})
		}
	}
}

// BenchmarkCopy is what a copy of the data takes.
func BenchmarkCopy(b *testing.B) {
	c := layouts()["ouster48"]
	var dst []byte
	b.SetBytes(int64(len(c.Data)))
	for b.Loop() {
		dst = append(dst[:0], c.Data...)
	}
}
