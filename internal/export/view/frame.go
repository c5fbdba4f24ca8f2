package view

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/export/picture"
	"github.com/bagconv/bagconv/storage"
)

// A Frame is a picture of a video: as it is stored, or pixels.
type Frame struct {
	Data          []byte
	Time          int64           // ns
	Pixels        mp4.PixelFormat // "": Data is encoded
	Width, Height int             // of pixels
}

// FrameReader returns what reads the frames of messages with pictures; nil: they have no pictures.
// The data of a frame are its own.
func (v *View) FrameReader() (read func(x *Values) (Frame, error)) {
	stamp := "header.stamp"
	switch {
	case v.Name == "sensor_msgs/Image" && v.Has("height", "width", "encoding", "is_bigendian", "step", "data"):
		read = pixels
	case v.Name == "sensor_msgs/CompressedImage" && v.Has("data"),
		v.Name == "ffmpeg_image_transport_msgs/FFMPEGPacket" && v.Has("data"):
		read = encoded
	case (v.Name == "foxglove_msgs/CompressedVideo" || v.Name == "foxglove/CompressedVideo") &&
		v.Has("data"): // of ROS, and of Foxglove's schemas
		read, stamp = encoded, "timestamp"
	default:
		return nil
	}
	v.Has(stamp)
	v.Stamp = stamp
	return read
}

// encoded takes a frame as it is, and the pixels of a PNG, which no video has.
func encoded(x *Values) (Frame, error) {
	data := x.BytesAt("data")
	if err := x.Err(); err != nil || picture.Ending(data) != "png" {
		return Frame{Data: append([]byte(nil), data...)}, err
	}
	p, err := picture.DecodePNG(data)
	if err != nil {
		return Frame{}, err
	}
	return FrameOf(p)
}

// Picture reads a sensor_msgs/Image.
func (x *Values) Picture() picture.Raw {
	r := picture.Raw{
		Height: uint32(x.UintAt("height")), Width: uint32(x.UintAt("width")), Step: uint32(x.UintAt("step")),
		Encoding: x.TextAt("encoding"), BigEndian: x.UintAt("is_bigendian") != 0,
	}
	r.Data = x.BytesAt("data")
	return r
}

// pixels takes the pixels of a sensor_msgs/Image.
func pixels(x *Values) (f Frame, err error) {
	r := x.Picture()
	if err := x.Err(); err != nil {
		return f, err
	}
	p, err := r.AppendPixels(nil, picture.Options{Debayer: true})
	if err != nil {
		return f, err
	}
	return FrameOf(p)
}

// FrameOf returns the frame that has some pixels, which have 8 bits.
func FrameOf(p picture.Pixels) (Frame, error) {
	format := map[int]mp4.PixelFormat{1: mp4.Gray, 3: mp4.RGB, 4: mp4.RGBA}[p.Channels]
	if format == "" || p.Sample.Size != 1 || p.Sample.Kind != 'u' {
		return Frame{}, fmt.Errorf("%d channels of %s in a video, which has 8 bits: --images files keeps all (%w)",
			p.Channels, p.Sample, storage.ErrUnsupported)
	}
	return Frame{Data: p.Data, Width: p.Width, Height: p.Height, Pixels: format}, nil
}
