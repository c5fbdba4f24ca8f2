package lerobot

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/export/picture"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// A camera is a video of the data set, or a column of images. Its first picture decides its size and its kind.
type camera struct {
	name  string
	w     *Writer
	s     *stream
	kind  kind
	codec string // of the data set: "h264", "av1", "jpeg", the codec of the stored video, or "image"
	spool *spool // of kindVideo

	source        mp4.Codec       // of kindVideo and kindJPEG
	pixels        mp4.PixelFormat // of kindPixels
	width, height int
	episode       *take
}

// A kind is what the pictures of a camera are in the recording.
type kind int

const (
	kindUnknown kind = iota
	kindJPEG
	kindPixels
	kindVideo // a frame may need the frames before it
)

// A frame is a picture that waits for rows.
type frame struct {
	data  []byte
	index int // of kindVideo: in the spool, which has the data
}

// errSize is the error of a picture that does not go with the first one.
var errSize = errors.New("another size or kind")

// look takes a picture; nil: it is kept by the spool alone, as a frame before the first key frame.
func (c *camera) look(f view.Frame) (*frame, error) {
	source, width, height, err := c.measure(f)
	if err != nil {
		return nil, err
	}
	if c.kind == kindUnknown {
		if err := c.decide(f, source, width, height); err != nil || c.kind == kindUnknown {
			return nil, err
		}
	}
	if c.pixels != f.Pixels || c.source != source || width > 0 && (width != c.width || height != c.height) {
		return nil, fmt.Errorf("%w: %s in a video of %s", errSize, describe(f.Pixels, source, width, height),
			describe(c.pixels, c.source, c.width, c.height))
	}
	if c.kind == kindVideo {
		index, err := c.spool.add(f.Data, width > 0)
		return &frame{index: index}, err
	}
	return &frame{data: f.Data}, nil
}

func describe(pixels mp4.PixelFormat, source mp4.Codec, width, height int) string {
	what := source.String()
	if pixels != "" {
		what = string(pixels)
	}
	return fmt.Sprintf("%d x %d pixels of %s", width, height, what)
}

// measure returns the codec and the size of a picture; the size of a frame of video that is no key frame is 0.
func (c *camera) measure(f view.Frame) (source mp4.Codec, width, height int, err error) {
	if f.Pixels != "" {
		return mp4.Unknown, f.Width, f.Height, nil
	}
	if source = c.source; c.kind != kindVideo {
		source = mp4.Sniff(f.Data)
	}
	switch source {
	case mp4.Unknown, mp4.VP8, mp4.VP9:
		return source, 0, 0, fmt.Errorf("%w: a frame that is no JPEG, PNG, H.264, H.265 or AV1", storage.ErrUnsupported)
	case mp4.JPEG:
		width, height, err = mp4.JPEGSize(f.Data)
		if end := f.Data[max(0, len(f.Data)-64):]; err == nil && !bytes.Contains(end, []byte{0xff, 0xd9}) {
			err = fmt.Errorf("%w: a JPEG of %d bytes without an end", storage.ErrCorrupt, len(f.Data))
		}
		return source, width, height, err
	}
	shape, err := mp4.ShapeOf(source, f.Data)
	return source, shape.Width, shape.Height, err
}

// decide takes the size and the kind of the first picture.
func (c *camera) decide(f view.Frame, source mp4.Codec, width, height int) (err error) {
	want := c.w.m.Codec
	noEncoder := c.w.ffmpeg == "" && (want == "h264" || want == "av1")
	kind := kindVideo
	switch {
	case f.Pixels != "":
		kind = kindPixels
	case source == mp4.JPEG:
		kind = kindJPEG
	case width == 0: // of a frame that needs others
		c.s.lose("lerobot-begin", "frames before the first key frame are not used: nothing can decode them")
		return nil
	case want == "images" && c.w.ffmpeg == "":
		return fmt.Errorf("the camera %s is %v, and only ffmpeg, which is not on the path, makes images of it", c.name,
			source)
	}
	if kind == kindVideo && c.spool == nil {
		if c.spool, err = newSpool(c.w.fs, c.w.temp); err != nil {
			return err
		}
	}
	c.kind, c.source, c.pixels, c.width, c.height = kind, source, f.Pixels, width, height
	switch {
	case want == "images", noEncoder && kind != kindVideo, want == "stored" && kind == kindPixels && c.w.ffmpeg == "":
		c.codec = "image"
	case want == "stored" && kind == kindJPEG:
		c.codec = "jpeg"
	case kind == kindVideo && (want == "stored" || noEncoder):
		c.codec = videoNames[source]
	case want == "av1":
		c.codec = "av1"
	default:
		c.codec = "h264"
	}
	if c.codec == "image" && want != "images" {
		c.w.note("ffmpeg is not on the path: the pictures of %s are images in the tables, in place of a video, and take "+
			"more room", c.name)
	}
	return nil
}

// videoNames are the names of codecs in info.json, as ffmpeg has them.
var videoNames = map[mp4.Codec]string{mp4.H264: "h264", mp4.H265: "hevc", mp4.AV1: "av1", mp4.JPEG: "mjpeg"}

// codecOf returns the codec of a video of a data set by the name in episodes.json.
func codecOf(name string) mp4.Codec {
	return map[string]mp4.Codec{"h264": mp4.H264, "hevc": mp4.H265, "av1": mp4.AV1, "jpeg": mp4.JPEG}[name]
}

// imageOf returns the picture as a file that all readers know as red, green and blue.
func (c *camera) imageOf(data []byte) ([]byte, error) {
	if c.kind == kindJPEG && !grayJPEG(data) {
		return data, nil
	}
	rgb, err := c.rgb(data)
	if err != nil {
		return nil, err
	}
	r := picture.Raw{Width: uint32(c.width), Height: uint32(c.height), Encoding: "rgb8", Data: rgb}
	_, file, err := r.AppendFile(nil, picture.Options{})
	return file, err
}

// rgb returns the pixels of a picture as red, green and blue.
func (c *camera) rgb(data []byte) ([]byte, error) {
	if c.kind == kindVideo {
		return data, nil // decoded as such
	}
	if c.kind == kindJPEG {
		return decodeJPEG(data, c.width, c.height)
	}
	n := len(data) / (c.width * c.height)
	if n == 3 {
		return data, nil
	}
	out := make([]byte, 0, 3*c.width*c.height)
	for i := 0; i+n <= len(data); i += n {
		if n == 1 {
			out = append(out, data[i], data[i], data[i])
		} else {
			out = append(out, data[i:i+3]...)
		}
	}
	return out, nil
}
