package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// street makes a picture with edges, gradients and some noise.
func street(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{uint8(x * 255 / width), uint8(y * 255 / height), uint8((x/40 + y/30) % 2 * 200), 255}
			c.R += uint8((x*7919 + y*104729) % 13)
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

// apart returns the mean distance of the colors of a small picture from the means of 4 x 4 pixels of the whole one.
func apart(t *testing.T, whole, small image.Image) float64 {
	t.Helper()
	w, h := (whole.Bounds().Dx()+3)/4, (whole.Bounds().Dy()+3)/4
	if small.Bounds() != image.Rect(0, 0, w, h) {
		t.Fatalf("%v of %v", small.Bounds(), whole.Bounds())
	}
	sum, n := 0.0, 0
	for y := range whole.Bounds().Dy() / 4 {
		for x := range whole.Bounds().Dx() / 4 {
			var mean [3]float64
			for i := range 16 {
				r, g, b, _ := whole.At(4*x+i%4, 4*y+i/4).RGBA()
				mean[0], mean[1], mean[2] = mean[0]+float64(r>>8)/16, mean[1]+float64(g>>8)/16, mean[2]+float64(b>>8)/16
			}
			r, g, b, _ := small.At(x, y).RGBA()
			sum += math.Abs(mean[0]-float64(r>>8)) + math.Abs(mean[1]-float64(g>>8)) + math.Abs(mean[2]-float64(b>>8))
			n += 3
		}
	}
	return sum / float64(n)
}

// TestQuarter compares a fourth of JPEGs with the whole, in color and gray, of sizes that fill no block.
func TestQuarter(t *testing.T) {
	for _, size := range []image.Point{{960, 540}, {97, 61}, {8, 8}, {1, 1}, {17, 200}} {
		m := street(size.X, size.Y)
		gray := image.NewGray(m.Rect)
		for i := range gray.Pix {
			gray.Pix[i] = m.Pix[4*i]/2 + m.Pix[4*i+2]/2
		}
		for _, source := range []image.Image{m, gray} {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, source, &jpeg.Options{Quality: 90}); err != nil {
				t.Fatal(err)
			}
			whole, err := jpeg.Decode(bytes.NewReader(b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			small, err := decodeQuarter(b.Bytes())
			if err != nil {
				t.Fatal(size, err)
			}
			most := 1.0
			if source == m { // colors are coarser, which small pictures show
				most = map[bool]float64{true: 6, false: 40}[size.X > 900]
			}
			if d := apart(t, whole, small); d > most {
				t.Errorf("%v %T: %.1f from the means on average", size, source, d)
			}
			for n := range b.Len() { // cut off, it is an error: whoever calls decodes as usual, which says why
				if _, err := decodeQuarter(b.Bytes()[:n]); err == nil && n < b.Len()-2 {
					t.Fatalf("%v: no error after %d of %d bytes", size, n, b.Len())
				}
				if b.Len() > 5000 {
					break
				}
			}
		}
	}
}

// TestQuarterEncoders decodes what another encoder writes: all subsamplings, restart markers, optimised tables; and
// refuses progressive ones and colors that are not YCbCr.
func TestQuarterEncoders(t *testing.T) {
	python := os.Getenv("BAGCONV_PICTURES_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Error("BAGCONV_PICTURES_PYTHON is missing")
		}
		t.Skip("no Pillow")
	}
	dir := t.TempDir()
	const script = `
import sys
from PIL import Image
m = Image.new("RGB", (333, 214))
m.putdata([((x * 255) // 333, (y * 255) // 214, ((x // 40 + y // 30) % 2) * 200) for y in range(214) for x in range(333)])
for name, o in {"444": {"subsampling": 0}, "422": {"subsampling": 1}, "420": {"subsampling": 2},
                "restart": {"restart_marker_blocks": 5}, "optimized": {"optimize": True, "quality": 40},
                "progressive": {"progressive": True}}.items():
    m.save(f"{sys.argv[1]}/{name}.jpg", **o)
m.convert("L").save(f"{sys.argv[1]}/gray.jpg")
m.convert("CMYK").save(f"{sys.argv[1]}/cmyk.jpg")
`
	if out, err := exec.Command(python, "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	for _, name := range []string{"444", "422", "420", "restart", "optimized", "gray", "progressive", "cmyk"} {
		b, err := os.ReadFile(filepath.Join(dir, name+".jpg"))
		if err != nil {
			t.Fatal(err)
		}
		small, err := decodeQuarter(b)
		if name == "progressive" || name == "cmyk" {
			if err == nil {
				t.Errorf("%s was decoded", name)
			}
			if d, err := Decode("jpg", b, 10); err != nil || d.Width != 333 || d.Bounds().Dx() != 333 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		whole, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if d := apart(t, whole, small); d > 8 {
			t.Errorf("%s: %.1f from the means on average", name, d)
		}
	}
}

// FuzzQuarter: what is decoded in part has the size that the whole picture says.
func FuzzQuarter(f *testing.F) {
	for _, source := range []image.Image{street(40, 24), image.NewGray(image.Rect(0, 0, 9, 9))} {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, source, nil); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeQuarter(b)
		if err != nil {
			return
		}
		config, err := jpeg.DecodeConfig(bytes.NewReader(b))
		if err == nil && m.Bounds() != image.Rect(0, 0, (config.Width+3)/4, (config.Height+3)/4) {
			t.Errorf("%v of %+v", m.Bounds(), config)
		}
		m.At(m.Bounds().Dx()-1, m.Bounds().Dy()-1)
	})
}

func BenchmarkDecodeQuarter(b *testing.B) {
	var file bytes.Buffer
	if err := jpeg.Encode(&file, street(1920, 1080), &jpeg.Options{Quality: 85}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for name, decode := range map[string]func() error{
		"whole":   func() error { _, err := jpeg.Decode(bytes.NewReader(file.Bytes())); return err },
		"quarter": func() error { _, err := decodeQuarter(file.Bytes()); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
