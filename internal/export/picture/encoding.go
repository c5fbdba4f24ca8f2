package picture

import (
	"strconv"
	"strings"
)

// A Sample is the type of one number of a pixel.
type Sample struct {
	Kind byte // 'u' unsigned, 'i' signed, 'f' floating point: NumPy's letters
	Size int  // bytes
}

// String returns NumPy's name of a little-endian Sample: "|u1", "<f4".
func (s Sample) String() string {
	order := "<"
	if s.Size == 1 {
		order = "|"
	}
	return order + string(s.Kind) + strconv.Itoa(s.Size)
}

// A layout is how the bytes of an image are arranged.
type layout int

const (
	packed    layout = iota // pixel after pixel
	mosaic                  // one color a pixel, four patterns
	pairs                   // two pixels with one U and one V
	biplanar                // a plane of Y, one of U and V
	triplanar               // a plane each
)

// An encoding is a kind of image.
type encoding struct {
	layout   layout
	channels int // of a pixel in the message; of Y alone if there are planes
	sample   Sample
	swapped  bool // packed: blue is first
	pattern  int  // mosaic: x and y of the red pixel, as 2*y + x
	first    int  // pairs: the byte of the first Y
	vFirst   bool // V before U
	full     bool // biplanar: U and V for each pixel, not for four
}

var (
	byteSample  = Sample{'u', 1}
	shortSample = Sample{'u', 2}
)

// encodings are the names that are not general ones such as 8UC3.
var encodings = []struct {
	name string
	encoding
}{
	{"rgb8", encoding{channels: 3, sample: byteSample}},
	{"rgba8", encoding{channels: 4, sample: byteSample}},
	{"bgr8", encoding{channels: 3, sample: byteSample, swapped: true}},
	{"bgra8", encoding{channels: 4, sample: byteSample, swapped: true}},
	{"mono8", encoding{channels: 1, sample: byteSample}},
	{"rgb16", encoding{channels: 3, sample: shortSample}},
	{"rgba16", encoding{channels: 4, sample: shortSample}},
	{"bgr16", encoding{channels: 3, sample: shortSample, swapped: true}},
	{"bgra16", encoding{channels: 4, sample: shortSample, swapped: true}},
	{"mono16", encoding{channels: 1, sample: shortSample}},
	{"bayer_rggb8", encoding{layout: mosaic, channels: 1, sample: byteSample, pattern: 0}},
	{"bayer_grbg8", encoding{layout: mosaic, channels: 1, sample: byteSample, pattern: 1}},
	{"bayer_gbrg8", encoding{layout: mosaic, channels: 1, sample: byteSample, pattern: 2}},
	{"bayer_bggr8", encoding{layout: mosaic, channels: 1, sample: byteSample, pattern: 3}},
	{"bayer_rggb16", encoding{layout: mosaic, channels: 1, sample: shortSample, pattern: 0}},
	{"bayer_grbg16", encoding{layout: mosaic, channels: 1, sample: shortSample, pattern: 1}},
	{"bayer_gbrg16", encoding{layout: mosaic, channels: 1, sample: shortSample, pattern: 2}},
	{"bayer_bggr16", encoding{layout: mosaic, channels: 1, sample: shortSample, pattern: 3}},
	{"uyvy", encoding{layout: pairs, channels: 2, sample: byteSample, first: 1}},
	{"yuv422", encoding{layout: pairs, channels: 2, sample: byteSample, first: 1}},
	{"yuyv", encoding{layout: pairs, channels: 2, sample: byteSample}},
	{"yuv422_yuy2", encoding{layout: pairs, channels: 2, sample: byteSample}},
	{"nv12", encoding{layout: biplanar, channels: 1, sample: byteSample}},
	{"nv21", encoding{layout: biplanar, channels: 1, sample: byteSample, vFirst: true}},
	{"nv24", encoding{layout: biplanar, channels: 1, sample: byteSample, full: true}},
	{"nv42", encoding{layout: biplanar, channels: 1, sample: byteSample, full: true, vFirst: true}},
	{"i420", encoding{layout: triplanar, channels: 1, sample: byteSample}},
	{"yv12", encoding{layout: triplanar, channels: 1, sample: byteSample, vFirst: true}},
}

// maxChannels is OpenCV's CV_CN_MAX.
const maxChannels = 512

// parseEncoding finds an encoding by its name; it wraps storage.ErrUnsupported if there is no such encoding.
func parseEncoding(name string) (encoding, error) {
	for i := range encodings {
		if encodings[i].name == name {
			return encodings[i].encoding, nil
		}
	}
	if e, ok := general(name); ok {
		return e, nil
	}
	for i := range encodings { // names that publishers write in upper case
		if strings.EqualFold(encodings[i].name, name) {
			return encodings[i].encoding, nil
		}
	}
	if len(name) > 40 {
		name = name[:40] + "..."
	}
	return encoding{}, unsupported("there are "+known(), "encoding %q of an image", name)
}

// known lists all encodings, for errors.
func known() string {
	names := make([]string, len(encodings))
	for i := range encodings {
		names[i] = encodings[i].name
	}
	return strings.Join(names, ", ") + ", and nUCm, nSCm, nFCm such as 16UC1"
}

// general parses OpenCV's names: bits, one of U, S and F, C, and how many channels, 1 if it is not there.
func general(name string) (encoding, bool) {
	bits, rest, ok := strings.Cut(name, "C")
	if !ok || len(bits) < 2 {
		return encoding{}, false
	}
	letter := strings.IndexByte("USF", bits[len(bits)-1])
	if letter < 0 {
		return encoding{}, false
	}
	s := Sample{Kind: "uif"[letter]}
	switch bits[:len(bits)-1] {
	case "8":
		s.Size = 1
	case "16":
		s.Size = 2
	case "32":
		s.Size = 4
	case "64":
		s.Size = 8
	}
	channels := 1
	if rest != "" {
		n, err := strconv.ParseUint(rest, 10, 16)
		if err != nil {
			return encoding{}, false
		}
		channels = int(n)
	}
	if s.Size == 0 || s.Kind == 'f' && s.Size == 1 || channels < 1 || channels > maxChannels {
		return encoding{}, false
	}
	return encoding{channels: channels, sample: s}, true
}
