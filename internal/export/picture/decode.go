package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"

	"github.com/bagconv/bagconv/storage"
)

// DecodePNG returns the pixels of a PNG of 8 bits: gray, red, green and blue, or these with alpha.
// The pixels of one with a palette are its colors. The error wraps storage.ErrUnsupported for
// pixels of 16 bits, and storage.ErrCorrupt for data that are not a whole PNG.
func DecodePNG(data []byte) (Pixels, error) {
	decoded, err := decodePNG(data, "a PNG", 1) // of 8 pixels or fewer a byte
	if err != nil {
		return Pixels{}, err
	}
	p := Pixels{Width: decoded.Bounds().Dx(), Height: decoded.Bounds().Dy(), Channels: 1, Sample: Sample{'u', 1}}
	switch m := decoded.(type) {
	case *image.Gray:
		p.Data = m.Pix
	case *image.NRGBA:
		p.Channels, p.Data = 4, m.Pix
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		return Pixels{}, unsupported("--images files keeps all", "a PNG of 16 bits, as pixels of 8 bits")
	default: // *image.RGBA, *image.Paletted
		rgba := image.NewRGBA(decoded.Bounds())
		draw.Draw(rgba, rgba.Bounds(), decoded, image.Point{}, draw.Src)
		p.Channels, p.Data = 3, make([]byte, 0, 3*p.Width*p.Height)
		for i := 0; i < len(rgba.Pix); i += 4 {
			p.Data = append(p.Data, rgba.Pix[i:i+3]...)
		}
	}
	return p, nil
}

// decodePNG decodes a PNG whose pixels have at least some bits. DEFLATE makes at most 1032 bytes of one, so that an
// image that claims more is refused before there is memory for it.
func decodePNG(data []byte, what string, bits uint64) (image.Image, error) {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", what, storage.ErrCorrupt, err)
	}
	if uint64(config.Width)*uint64(config.Height)/8*bits > 1032*uint64(len(data)) {
		return nil, corrupt("%s has %d bytes for %d x %d pixels", what, len(data), config.Width, config.Height)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", what, storage.ErrCorrupt, err)
	}
	return decoded, nil
}
