package report

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"github.com/bagconv/bagconv/internal/export/picture"
	"github.com/bagconv/bagconv/storage"
)

// thumbSide is how many pixels a thumbnail has at most, in width and in height; thumbQuality is of its JPEG.
const (
	thumbSide    = 240
	thumbQuality = 70
)

// A canvas is a picture of which a thumbnail is made: its size, and the color of a pixel.
type canvas struct {
	width, height int
	at            func(x, y int) (r, g, b uint8)
}

// thumbnail returns the picture as a small JPEG.
func (c *canvas) thumbnail() (t Thumbnail, err error) {
	w, h := thumbSize(c.width, c.height)
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, c.mean(x*c.width/w, (x+1)*c.width/w, y*c.height/h, (y+1)*c.height/h))
		}
	}
	var b bytes.Buffer
	if err = jpeg.Encode(&b, m, &jpeg.Options{Quality: thumbQuality}); err != nil {
		return t, err
	}
	return Thumbnail{Width: w, Height: h, JPEG: b.Bytes()}, nil
}

// thumbSize returns the size of a thumbnail: the sides keep their proportion, and none is larger than before.
func thumbSize(width, height int) (w, h int) {
	largest := max(width, height)
	if largest <= thumbSide {
		return width, height
	}
	side := func(n int) int { return max(1, int(math.Round(float64(n)*thumbSide/float64(largest)))) }
	return side(width), side(height)
}

// maxTaps is of how many pixels in a row, and rows, a pixel of a thumbnail is the mean.
const maxTaps = 4

// mean returns the mean of some pixels of a part of the picture.
func (c *canvas) mean(x0, x1, y0, y1 int) color.RGBA {
	x1, y1 = max(x1, x0+1), max(y1, y0+1)
	dx, dy := max(1, (x1-x0)/maxTaps), max(1, (y1-y0)/maxTaps)
	var r, g, b, n uint
	for y := y0; y < y1; y += dy {
		for x := x0; x < x1; x += dx {
			pr, pg, pb := c.at(x, y)
			r, g, b, n = r+uint(pr), g+uint(pg), b+uint(pb), n+1
		}
	}
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255}
}

// storedCanvas is the picture of a compressed image.
func storedCanvas(format string, data []byte) (*canvas, error) {
	ext, file, err := picture.Stored(format, data, picture.Options{})
	if err != nil {
		return nil, err
	}
	m, err := picture.Decode(ext, file)
	if err != nil {
		return nil, err
	}
	return imageCanvas(m), nil
}

// imageCanvas is a decoded picture.
func imageCanvas(m image.Image) *canvas {
	size := m.Bounds()
	c := &canvas{width: size.Dx(), height: size.Dy()}
	switch m := m.(type) {
	case *image.YCbCr:
		c.at = func(x, y int) (r, g, b uint8) {
			p := m.YCbCrAt(size.Min.X+x, size.Min.Y+y)
			return color.YCbCrToRGB(p.Y, p.Cb, p.Cr)
		}
	case *image.Gray16: // depth
		c.at = gray(c.width, c.height, func(x, y int) float64 {
			return float64(m.Gray16At(size.Min.X+x, size.Min.Y+y).Y)
		})
	default:
		c.at = func(x, y int) (r, g, b uint8) {
			cr, cg, cb, _ := m.At(size.Min.X+x, size.Min.Y+y).RGBA()
			return uint8(cr >> 8), uint8(cg >> 8), uint8(cb >> 8)
		}
	}
	return c
}

// rawCanvas is the picture of a raw image.
func rawCanvas(raw picture.Raw) (*canvas, error) {
	p, err := raw.AppendPixels(nil, picture.Options{Debayer: true})
	if err != nil {
		return nil, err
	}
	c := &canvas{width: p.Width, height: p.Height}
	at := func(x, y int) int { return (y*p.Width + x) * p.Channels * p.Sample.Size }
	switch {
	case p.Channels == 1 && p.Sample.Kind == 'u' && p.Sample.Size == 1:
		c.at = func(x, y int) (r, g, b uint8) { v := p.Data[at(x, y)]; return v, v, v }
	case p.Channels == 1:
		c.at = gray(p.Width, p.Height, func(x, y int) float64 { return sample(p.Data[at(x, y):], p.Sample) })
	case (p.Channels == 3 || p.Channels == 4) && p.Sample.Kind == 'u' && p.Sample.Size <= 2:
		high := p.Sample.Size - 1 // the upper byte
		c.at = func(x, y int) (r, g, b uint8) {
			v := p.Data[at(x, y)+high:]
			return v[0], v[p.Sample.Size], v[2*p.Sample.Size]
		}
	default:
		return nil, fmt.Errorf("%d channels of %s have no colors (%w)", p.Channels, p.Sample, storage.ErrUnsupported)
	}
	return c, nil
}

// sample returns a number in little endian.
func sample(b []byte, s picture.Sample) float64 {
	var bits uint64
	switch s.Size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(binary.LittleEndian.Uint16(b))
	case 4:
		bits = uint64(binary.LittleEndian.Uint32(b))
	default:
		bits = binary.LittleEndian.Uint64(b)
	}
	switch {
	case s.Kind == 'f' && s.Size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case s.Kind == 'f' && s.Size == 8:
		return math.Float64frombits(bits)
	case s.Kind == 'f':
		return math.NaN()
	case s.Kind == 'i':
		shift := 64 - 8*s.Size
		return float64(int64(bits) << shift >> shift)
	}
	return float64(bits)
}

// gray shows numbers, such as depths: the least of some is black, the greatest is white. What is no number, and 0,
// which is no depth, is black.
func gray(width, height int, value func(x, y int) float64) func(x, y int) (r, g, b uint8) {
	const grid = 128
	least, most := math.Inf(1), math.Inf(-1)
	for j := range min(grid, height) {
		for i := range min(grid, width) {
			v := value(i*width/min(grid, width), j*height/min(grid, height))
			if v != 0 && v-v == 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	return func(x, y int) (r, g, b uint8) {
		v := value(x, y)
		if v == 0 || v-v != 0 || !(most > least) {
			return 0, 0, 0
		}
		s := uint8(255 * min(max((v-least)/(most-least), 0), 1))
		return s, s, s
	}
}
