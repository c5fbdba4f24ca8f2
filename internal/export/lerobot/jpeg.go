package lerobot

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"

	"github.com/bagconv/bagconv/storage"
)

// grayJPEG reports whether a JPEG has one component.
func grayJPEG(data []byte) bool {
	config, err := jpeg.DecodeConfig(bytes.NewReader(data))
	return err == nil && config.ColorModel == color.GrayModel
}

// decodeJPEG returns the pixels of a JPEG as red, green and blue.
func decodeJPEG(data []byte, width, height int) ([]byte, error) {
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	}
	if m.Bounds().Dx() != width || m.Bounds().Dy() != height {
		return nil, fmt.Errorf("%w: a JPEG of another size than it states", storage.ErrCorrupt)
	}
	out := make([]byte, 3*width*height)
	at := 0
	for y := range height {
		for x := range width {
			r, g, b := pixel(m, x, y)
			out[at], out[at+1], out[at+2] = r, g, b
			at += 3
		}
	}
	return out, nil
}

// pixel returns the color of a pixel.
func pixel(m image.Image, x, y int) (r, g, b byte) {
	switch m := m.(type) {
	case *image.YCbCr:
		i := m.COffset(x, y)
		return color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[i], m.Cr[i])
	case *image.Gray:
		v := m.Pix[m.PixOffset(x, y)]
		return v, v, v
	}
	c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
	return c.R, c.G, c.B
}
