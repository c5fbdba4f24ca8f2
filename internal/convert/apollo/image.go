package apollo

import (
	"bytes"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// pixels is how long a pixel of an encoding of sensor_msgs is, bytes.
var pixels = map[string]uint64{
	"mono8": 1, "8UC1": 1, "bayer_rggb8": 1, "bayer_bggr8": 1, "bayer_gbrg8": 1, "bayer_grbg8": 1,
	"mono16": 2, "16UC1": 2, "yuv422": 2, "yuv422_yuy2": 2,
	"rgb8": 3, "bgr8": 3, "8UC3": 3, "rgba8": 4, "bgra8": 4, "8UC4": 4, "32FC1": 4,
	"rgb16": 6, "bgr16": 6, "rgba16": 8, "bgra16": 8,
}

// encodings pairs names of Apollo's cameras with names of sensor_msgs; the first
// of several for one name is written. ROS calls UYVY yuv422.
var encodings = [...][2][]byte{
	{[]byte("gray"), []byte("mono8")}, {[]byte("y"), []byte("mono8")},
	{[]byte("yuyv"), []byte("yuv422_yuy2")}, {[]byte("YUYV"), []byte("yuv422_yuy2")},
	{[]byte("uyvy"), []byte("yuv422")}, {[]byte("UYVY"), []byte("yuv422")}, {[]byte("YUV422"), []byte("yuv422")},
}

// The sides of encodings.
const apolloName, rosName = 0, 1

// encoding returns what a side calls an encoding of the other side.
func encoding(name []byte, side int) []byte {
	for i := range encodings {
		if bytes.Equal(encodings[i][1-side], name) {
			return encodings[i][side]
		}
	}
	return name
}

// writeImage writes what is after the header of a sensor_msgs/Image. A step that
// is 0 is computed, if the encoding or the data allow it.
func writeImage(w *ros.Writer, v *values) {
	height, width, step := uint32(v.num[imageHeight]), uint32(v.num[imageWidth]), uint32(v.num[imageStep])
	name, data := encoding(v.bytes(label), rosName), v.bytes(payload)
	if step == 0 {
		if n := pixels[string(name)] * uint64(width); n > 0 && n <= 1<<32-1 {
			step = uint32(n)
		} else if height > 0 && uint64(len(data))%uint64(height) == 0 {
			step = uint32(uint64(len(data)) / uint64(height))
		}
	}
	w.U32(height)
	w.U32(width)
	w.String(name)
	w.U8(0) // is_bigendian
	w.U32(step)
	w.Bytes(data)
}
