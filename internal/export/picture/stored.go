package picture

import (
	"bytes"
	"strings"
)

// magics are how files begin, and their endings. A point stands for any byte.
var magics = []struct{ prefix, ext string }{
	{"\xff\xd8\xff", "jpg"},
	{"\x89PNG\r\n\x1a\n", "png"},
	{"RIFF....WEBP", "webp"},
	{"II*\x00", "tiff"}, {"MM\x00*", "tiff"}, {"II+\x00", "tiff"}, {"MM\x00+", "tiff"},
	{"GIF87a", "gif"}, {"GIF89a", "gif"},
	{"....ftypavif", "avif"}, {"....ftypavis", "avif"},
	{"....ftypheic", "heic"}, {"....ftypheix", "heic"}, {"....ftypmif1", "heif"},
	{"\xff\x0a", "jxl"}, {"\x00\x00\x00\x0cJXL \r\n\x87\n", "jxl"},
	{"\x00\x00\x00\x0cjP  \r\n\x87\n", "jp2"}, {"\xff\x4f\xff\x51", "j2k"},
	{"\x76\x2f\x31\x01", "exr"}, {"#?RADIANCE", "hdr"}, {"qoif", "qoi"},
	{"\x93NUMPY", "npy"},
	{"BM", "bmp"},
	{"P1", "pbm"}, {"P2", "pgm"}, {"P3", "ppm"}, {"P4", "pbm"}, {"P5", "pgm"}, {"P6", "ppm"},
}

// videos are parts of names of video in the format of a compressed image.
var videos = []string{"h264", "h.264", "h265", "h.265", "hevc", "avc1", "vp8", "vp9", "av1"}

// Ending returns the ending of the name of an image file without a point by its first bytes, "jpg",
// "png", and "" if it is no image known here.
func Ending(data []byte) string {
	for _, m := range magics {
		if begins(data, m.prefix) {
			return m.ext
		}
	}
	return ""
}

func begins(data []byte, prefix string) bool {
	if len(data) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if prefix[i] != data[i] && prefix[i] != '.' {
			return false
		}
	}
	return true
}

// Stored returns the file that a compressed image is, with the ending of its name: data as they
// are, not decoded and not copied. The first bytes decide the ending; format, which is free text in
// sensor_msgs/CompressedImage ("jpeg", "rgb8; jpeg compressed bgr8"), only decides about depth:
//
//	"16UC1; compressedDepth png"    the PNG after the header of 12 bytes
//	"32FC1; compressedDepth png"    floats, made from the PNG: .npy or, with Options.TIFF, TIFF
//	"16UC1; compressedDepth rvl"    PNG of 16 bits
//	"32FC1; compressedDepth rvl"    floats
//
// No data wrap storage.ErrCorrupt; video, and what begins like no image known here, storage.ErrUnsupported.
func Stored(format string, data []byte, o Options) (ext string, file []byte, err error) {
	if len(data) == 0 {
		return "", nil, corrupt("a compressed image without data, of format %q", short(format))
	}
	if strings.Contains(strings.ToLower(format), "compresseddepth") {
		return depth(format, data, o)
	}
	if ext = Ending(data); ext != "" {
		return ext, data, nil
	}
	if isVideo(format, data) {
		return "", nil, unsupported("write the topic as video",
			"a compressed image of format %q, which is part of a video", short(format))
	}
	return "", nil, unsupported("export its bytes in a table",
		"a compressed image of format %q that begins with % x, as no image known here",
		short(format), data[:min(len(data), 12)])
}

// isVideo reports whether data begin with the start code of a NAL unit, or format names a video codec.
func isVideo(format string, data []byte) bool {
	if bytes.HasPrefix(data, []byte{0, 0, 1}) || bytes.HasPrefix(data, []byte{0, 0, 0, 1}) {
		return true
	}
	format = strings.ToLower(format)
	for _, v := range videos {
		if strings.Contains(format, v) {
			return true
		}
	}
	return false
}

// short returns text that errors may have in full.
func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "..."
	}
	return text
}
