package mp4

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"io"
)

// A PixelFormat is how pixels are arranged, by ffmpeg's names.
type PixelFormat string

// The formats: a byte for each sample, row after row, without padding.
const (
	Gray PixelFormat = "gray"
	RGB  PixelFormat = "rgb24"
	RGBA PixelFormat = "rgba"
)

// channels are the bytes of a pixel.
func (f PixelFormat) channels() int {
	switch f {
	case Gray:
		return 1
	case RGB:
		return 3
	case RGBA:
		return 4
	}
	return 0
}

// EncodeOptions are what an Encoder does. The zero value is the default: Motion JPEG.
type EncodeOptions struct {
	FFmpeg  string   // its path, of FindFFmpeg; "": Motion JPEG
	Encoder string   // ffmpeg's name of an encoder of H.264; "": libx264
	Args    []string // of that encoder; nil: -preset veryfast -crf 20
	Quality int      // of Motion JPEG, 1 to 100; 0: 90
}

// An Encoder writes a file of pixels. ffmpeg makes H.264 of them, without frames that refer to later ones, so
// that the frames come in order and get the times of the pixels; ffmpeg itself is told of no times. An odd
// side of the pictures becomes one pixel longer, of black, as H.264 with 4:2:0 needs. Without ffmpeg each
// picture becomes a JPEG, some ten times larger: Summary.Encoder says which it was.
//
// Colors are as in ITU-R BT.709, in its limited range, and the video says so. Motion JPEG has the
// colors of JFIF.
//
// The bytes are the same in each run of the same ffmpeg, whose encoder has 4 threads. An Encoder is used by one
// goroutine at a time, and calls the io.Writer from another one.
type Encoder struct {
	w             *Writer
	width, height int
	format        PixelFormat
	process       *process // nil: Motion JPEG
	picture       image.Image
	quality       int
	jpeg          bytes.Buffer
}

// NewEncoder begins a file of pictures of a size. If ctx ends, ffmpeg does, and all calls return its error. The
// caller must call Close in any case, as ffmpeg runs until then.
func NewEncoder(ctx context.Context, w io.Writer, format PixelFormat, width, height int, o EncodeOptions) (
	*Encoder, error) {
	if format.channels() == 0 {
		return nil, unsupported("there are gray, rgb24 and rgba", "pixels of format %q", format)
	}
	if width <= 0 || height <= 0 || width > 65535 || height > 65535 {
		return nil, unsupported("", "a video of %d x %d pixels, which has 1 to 65535", width, height)
	}
	e := &Encoder{width: width, height: height, format: format, quality: o.Quality}
	codec, name := JPEG, "image/jpeg"
	if o.FFmpeg != "" {
		codec, name = H264, o.encoder()
	} else {
		if e.quality == 0 {
			e.quality = 90
		}
		e.newPicture()
	}
	var err error
	if e.w, err = NewWriter(w, codec); err != nil {
		return nil, err
	}
	e.w.sum.Encoder = name
	if o.FFmpeg != "" {
		e.process, err = start(ctx, o.FFmpeg, o.args(format, width, height), eachAccessUnit, e.w.Frame)
	}
	return e, err
}

// newPicture makes the picture that image/jpeg reads.
func (e *Encoder) newPicture() {
	bounds := image.Rect(0, 0, e.width, e.height)
	if e.format == Gray {
		e.picture = image.NewGray(bounds)
		return
	}
	e.picture = image.NewRGBA(bounds)
}

// Frame adds a picture with its time in ns. The pixels are not kept.
func (e *Encoder) Frame(pixels []byte, time int64) error {
	if want := e.width * e.height * e.format.channels(); len(pixels) != want {
		return unsupported("write pictures of another size as another video",
			"a picture of %d bytes in a video of %d x %d pixels of %s, %d bytes", len(pixels), e.width, e.height, e.format, want)
	}
	if e.process != nil {
		return e.process.frame(pixels, time)
	}
	switch m := e.picture.(type) {
	case *image.Gray:
		copy(m.Pix, pixels)
	case *image.RGBA:
		n := e.format.channels()
		for i, j := 0, 0; i < len(pixels); i, j = i+n, j+4 {
			m.Pix[j], m.Pix[j+1], m.Pix[j+2], m.Pix[j+3] = pixels[i], pixels[i+1], pixels[i+2], 255
		}
	}
	e.jpeg.Reset()
	if err := jpeg.Encode(&e.jpeg, e.picture, &jpeg.Options{Quality: e.quality}); err != nil {
		return err
	}
	return e.w.Frame(e.jpeg.Bytes(), time)
}

// Close ends the file, and ffmpeg. It returns what is in the file, or the first error.
func (e *Encoder) Close() (Summary, error) {
	if e.process != nil {
		if err := e.process.close(); err != nil {
			return e.w.sum, err
		}
	}
	return e.w.Close()
}
