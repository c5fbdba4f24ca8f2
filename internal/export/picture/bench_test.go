package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"
)

// scene is an image that compresses as those of cameras do: shapes with edges, shading and noise of the sensor.
func scene(encoding string, width, height int) *Raw {
	e, err := parseEncoding(encoding)
	if err != nil {
		panic(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	noise := 3.0
	if e.sample.Size == 2 {
		noise = 12 // mm, of a depth camera
	}
	r := &Raw{Width: uint32(width), Height: uint32(height), Step: uint32(width * e.channels * e.sample.Size),
		Encoding: encoding}
	for y := range height {
		for x := range width {
			base := 90 + 40*math.Sin(float64(x)/97)*math.Cos(float64(y)/61)
			if (x/160+y/120)%3 == 0 {
				base += 60
			}
			if e.sample.Size == 2 {
				base *= 20
			}
			for c := range e.channels {
				v := uint16(max(0, base+float64(8*c)+noise*random.NormFloat64()/2))
				if e.sample.Size == 2 {
					r.Data = append(r.Data, byte(v), byte(v>>8))
				} else {
					r.Data = append(r.Data, byte(min(v, 255)))
				}
			}
		}
	}
	return r
}

// BenchmarkPNG measures the levels, and image/png for the same images; bytes are those of pixels.
func BenchmarkPNG(b *testing.B) {
	for _, name := range []string{"rgb8", "bgr8", "mono16"} {
		r := scene(name, 1280, 720)
		for _, level := range []Level{Fast, Small, Store} {
			b.Run(fmt.Sprintf("%s/%d", name, level), func(b *testing.B) {
				b.SetBytes(int64(len(r.Data)))
				b.ReportAllocs()
				var file []byte
				for b.Loop() {
					var err error
					if _, file, err = r.AppendFile(file[:0], Options{Level: level}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(r.Data))/float64(len(file)), "ratio")
			})
		}
		for _, level := range []png.CompressionLevel{png.BestSpeed, png.DefaultCompression} {
			b.Run(fmt.Sprintf("%s/image-png%d", name, level), func(b *testing.B) {
				b.SetBytes(int64(len(r.Data)))
				var file bytes.Buffer
				encoder := png.Encoder{CompressionLevel: level}
				for b.Loop() {
					file.Reset()
					if err := encoder.Encode(&file, standard(r)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(r.Data))/float64(file.Len()), "ratio")
			})
		}
	}
}

// standard returns an image of the standard library.
func standard(r *Raw) image.Image {
	bounds := image.Rect(0, 0, int(r.Width), int(r.Height))
	if r.Encoding == "mono16" {
		m := image.NewGray16(bounds)
		reverse(m.Pix, r.Data, 2)
		return m
	}
	m := image.NewNRGBA(bounds)
	for i, j := 0, 0; i < len(r.Data); i, j = i+3, j+4 {
		m.Pix[j], m.Pix[j+1], m.Pix[j+2], m.Pix[j+3] = r.Data[i], r.Data[i+1], r.Data[i+2], 255
	}
	return m
}

// BenchmarkPixels measures what becomes pixels of what; bytes are those of the message.
func BenchmarkPixels(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"bgr8", "bgr16", "yuyv", "nv12", "i420", "bayer_rggb8", "bayer_rggb16", "32FC1"} {
		b.Run(name, func(b *testing.B) {
			r := randomRaw(random, name, 1280, 720)
			b.SetBytes(int64(len(r.Data)))
			var p Pixels
			for b.Loop() {
				var err error
				if p, err = r.AppendPixels(p.Data[:0], Options{Debayer: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
