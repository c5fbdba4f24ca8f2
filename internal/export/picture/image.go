package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/bagconv/bagconv/storage"
)

// MaxDecoded is the most pixels of a picture that Decode decodes.
const MaxDecoded = 64 << 20

// A Decoded is a picture as it is to be shown small.
type Decoded struct {
	image.Image       // or a fourth of it, in width and height
	Width, Height int // of the picture
}

// Decode decodes a file that Stored returned: a JPEG or a PNG. A JPEG whose width or height is at least four times side
// comes in a fourth of its size if that is possible, which costs a part. Other files, and pictures of more than
// MaxDecoded pixels, wrap storage.ErrUnsupported.
func Decode(ext string, file []byte, side int) (Decoded, error) {
	if ext != "jpg" && ext != "png" {
		return Decoded{}, unsupported("", "pixels of a file of kind %s", ext)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return Decoded{}, fmt.Errorf("a picture: %w: %w", storage.ErrCorrupt, err)
	}
	d := Decoded{Width: config.Width, Height: config.Height}
	pixels := int64(config.Width) * int64(config.Height)
	switch {
	case pixels > MaxDecoded:
		return d, unsupported("", "a picture of %d x %d pixels, as %d are decoded at most", config.Width, config.Height,
			MaxDecoded)
	case ext == "png":
		d.Image, err = decodePNG(file, "a PNG", 1)
		return d, err
	case pixels > 1<<20+256*int64(len(file)): // a block of 64 pixels takes some bits
		return d, corrupt("a JPEG of %d x %d pixels has %d bytes", config.Width, config.Height, len(file))
	}
	if max(config.Width, config.Height) >= 4*side {
		if d.Image, err = decodeQuarter(file); err == nil {
			return d, nil
		}
	}
	if d.Image, err = jpeg.Decode(bytes.NewReader(file)); err != nil {
		err = fmt.Errorf("a JPEG: %w: %w", storage.ErrCorrupt, err)
	}
	return d, err
}
