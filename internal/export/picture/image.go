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

// Decode decodes a file that Stored returned: a JPEG or a PNG. Other files, and pictures of more than MaxDecoded
// pixels, wrap storage.ErrUnsupported.
func Decode(ext string, file []byte) (image.Image, error) {
	if ext != "jpg" && ext != "png" {
		return nil, unsupported("", "pixels of a file of kind %s", ext)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("a picture: %w: %w", storage.ErrCorrupt, err)
	}
	pixels := int64(config.Width) * int64(config.Height)
	switch {
	case pixels > MaxDecoded:
		return nil, unsupported("", "a picture of %d x %d pixels, as %d are decoded at most", config.Width, config.Height,
			MaxDecoded)
	case ext == "png":
		return decodePNG(file, "a PNG", 1)
	case pixels > 1<<20+256*int64(len(file)): // a block of 64 pixels takes some bits
		return nil, corrupt("a JPEG of %d x %d pixels has %d bytes", config.Width, config.Height, len(file))
	}
	decoded, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("a JPEG: %w: %w", storage.ErrCorrupt, err)
	}
	return decoded, nil
}
