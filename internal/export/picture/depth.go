package picture

import (
	"encoding/binary"
	"image"
	"math"
	"strings"
)

// depthHeader is the header of image_transport's compressedDepth:
//
//	kind i32  a f32  b f32  then a PNG of 16 bits, or: width u32  height u32  RVL      little endian
//
// For 32FC1 a sample v is the inverse of a depth in metres, a / (v - b), and 0 is no depth: NaN.
const depthHeader = 12

// depth returns the file of a compressedDepth image.
func depth(format string, data []byte, o Options) (ext string, file []byte, err error) {
	encoding, _, _ := strings.Cut(format, ";")
	encoding = strings.TrimSpace(encoding)
	if len(data) <= depthHeader {
		return "", nil, corrupt("compressedDepth of %d bytes, whose header has %d", len(data), depthHeader)
	}
	body := data[depthHeader:]
	isFloat := encoding == "32FC1"
	if !isFloat && encoding != "16UC1" && encoding != "mono16" {
		return "", nil, unsupported("there are 16UC1 and 32FC1", "compressedDepth of format %q", short(format))
	}
	rvl := strings.Contains(strings.ToLower(format), "rvl")
	if !isFloat && !rvl {
		if ext = Ending(body); ext == "" {
			return "", nil, corrupt("compressedDepth has no image after its header")
		}
		return ext, body, nil
	}
	var samples Raw
	if rvl {
		samples, err = decodeRVL(body)
	} else {
		samples, err = decodePNG16(body)
	}
	if err != nil {
		return "", nil, err
	}
	if isFloat {
		a := math.Float32frombits(binary.LittleEndian.Uint32(data[4:]))
		b := math.Float32frombits(binary.LittleEndian.Uint32(data[8:]))
		samples = inverse(samples, a, b)
	}
	return samples.AppendFile(nil, o)
}

// inverse makes depths of their inverses.
func inverse(r Raw, a, b float32) Raw {
	out := make([]byte, 0, 2*len(r.Data))
	for i := 0; i+1 < len(r.Data); i += 2 {
		z := float32(math.NaN())
		if v := binary.LittleEndian.Uint16(r.Data[i:]); v != 0 {
			z = a / (float32(v) - b)
		}
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(z))
	}
	return Raw{Width: r.Width, Height: r.Height, Encoding: "32FC1", Data: out}
}

// decodePNG16 reads a PNG of one channel with 16 bits.
func decodePNG16(data []byte) (Raw, error) {
	const what = "the PNG of compressedDepth"
	decoded, err := decodePNG(data, what, 16)
	if err != nil {
		return Raw{}, err
	}
	gray, ok := decoded.(*image.Gray16)
	if !ok {
		return Raw{}, unsupported("", "%s does not have one channel of 16 bits", what)
	}
	out := make([]byte, len(gray.Pix))
	reverse(out, gray.Pix, 2)
	size := gray.Bounds()
	return Raw{Width: uint32(size.Dx()), Height: uint32(size.Dy()), Encoding: "16UC1", Data: out}, nil
}
