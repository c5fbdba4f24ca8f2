package track

import (
	"fmt"
	"testing"
)

func BenchmarkTUM(b *testing.B) {
	p := Pose{1700000000123456789, 1.23456789, -12345.678, 0.001234, 0.1234567890123, 0.2, 0.3, 0.92}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendTUM(dst[:0], p)
	}
}

func BenchmarkKITTI(b *testing.B) {
	p := Pose{1700000000123456789, 1.23456789, -12345.678, 0.001234, 0.1234567890123, 0.2, 0.3, 0.92}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendKITTI(dst[:0], p)
	}
}

func BenchmarkFixes(b *testing.B) {
	f := Fix{1700000000123456789, 48.123456789, 11.123456789, 519.25, StatusFix}
	b.Run("gpx", func(b *testing.B) {
		var g GPX
		dst := g.Begin(nil, Options{})
		b.ReportAllocs()
		for b.Loop() {
			dst = g.Append(dst[:0], f)
		}
	})
	b.Run("geojson", func(b *testing.B) {
		var g GeoJSON
		dst := g.Begin(nil, Options{})
		b.ReportAllocs()
		for b.Loop() {
			dst = g.Append(dst[:0], f)
		}
	})
}

// BenchmarkSet: an hour of 100 Hz, in order and with each second transform late, by 1 s.
func BenchmarkSet(b *testing.B) {
	for name, late := range map[string]int64{"ordered": 0, "late": 100} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var buffer Buffer
				for i := range int64(360_000) {
					set(b, &buffer, "odom", "base", at(1+2*i+i%2-i%2*2*late+1000, 1), false)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/360_000, "ns/transform")
		})
	}
}

// BenchmarkLookup: a chain of map, odom, base, and one of static frames, in a recording of an hour.
func BenchmarkLookup(b *testing.B) {
	var buffer Buffer
	for i := range int64(360_000) {
		set(b, &buffer, "map", "odom", yaw(1+i*10_000_000, float64(i), float64(i)), false)
		set(b, &buffer, "odom", "base", yaw(1+i*10_000_000, float64(i), float64(i)), false)
	}
	last := "base"
	for i := range 5 {
		next := fmt.Sprint("link", i)
		set(b, &buffer, last, next, yaw(0, 1, 10), true)
		last = next
	}
	for name, c := range map[string][2]string{"map-base": {"map", "base"}, "map-link4": {"map", "link4"},
		"base-link4": {"base", "link4"}} {
		for _, when := range []string{"time", "latest"} {
			b.Run(name+"/"+when, func(b *testing.B) {
				b.ReportAllocs()
				time := int64(0)
				for b.Loop() {
					if when == "time" {
						time = (time+12_345_678)%3_000_000_000_000 + 1
					}
					if _, err := buffer.Lookup(c[0], c[1], time); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
