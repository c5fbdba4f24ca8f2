// Package picture makes files of images: raw pixels with any encoding of ROS, and compressed ones as they
// are. It knows no message encoding; the caller has read the fields.
//
//	r := picture.Raw{Width: 640, Height: 480, Step: 1920, Encoding: "bgr8", Data: data}
//	ext, file, err := r.AppendFile(nil, picture.Options{})              // "png"
//	ext, file, err = picture.Stored("jpeg", data, picture.Options{})    // "jpg", the bytes of the message
//
// A raw image is rows of Step bytes, of which the last of each are padding:
//
//	Data   +-- Width * bytes of a pixel --+-- padding --+   row 0, the upper one
//	       +------------------------------+-------------+   row 1
//	       ...                                              Height of them; the last may lack its padding
//
// # Encodings
//
//	encoding                          a pixel                           file
//	mono8, 8UC1                       1 byte                            PNG, gray, 8 bit
//	mono16, 16UC1                     2 bytes                           PNG, gray, all 16 bits
//	rgb8, rgba8, 8UC3, 8UC4           3, 4 bytes                        PNG, 8 bit
//	bgr8, bgra8                       3, 4 bytes                        PNG, 8 bit, in the order of rgb
//	rgb16, rgba16, 16UC3, 16UC4       6, 8 bytes                        PNG, 16 bit
//	bgr16, bgra16                     6, 8 bytes                        PNG, 16 bit, in the order of rgb
//	bayer_rggb8 and the 7 others      1, 2 bytes                        PNG, gray; with Debayer rgb
//	uyvy, yuv422                      U Y V Y for two pixels            PNG, 8 bit, rgb
//	yuyv, yuv422_yuy2                 Y U Y V for two pixels            PNG, 8 bit, rgb
//	nv12, nv21                        rows of Y, then of U V or V U     PNG, 8 bit, rgb
//	i420, yv12                        rows of Y, then of U, V or V, U   PNG, 8 bit, rgb
//	nv24, nv42                        as nv12, a U V for each pixel     PNG, 8 bit, rgb
//	all other nTCm: 32FC1, 16SC1      m numbers of n bits, T U, S, F    .npy or TIFF
//
// The names are the names of sensor_msgs/image_encodings.hpp; i420, yv12 and nv42 are not in it,
// but in use. Y, U and V become red, green and blue by ITU-R BT.601 with Y from 16 to 235, in the
// integers of OpenCV, bit by bit what cv_bridge shows. ROS calls UYVY yuv422. A bayer_ name has the
// colors of the first two pixels of the first two rows. 8UC3 and the like do not name their colors:
// they are written as if rgb.
//
// The half rows of nv12 have Step bytes, the half rows of i420 half of it. nv24 has 2 * Step.
// Publishers disagree about Step of these: if Data is exactly as long as an image without padding,
// it is one.
//
// # Refused
//
// Images without pixels, rows that are longer than Step, and Data shorter than the rows wrap
// storage.ErrCorrupt. Encodings that are not in the table, odd sides of images whose pixels share colors, and
// video in place of an image wrap storage.ErrUnsupported. No size is trusted: memory is in proportion to
// Data, except for RVL, whose images may have 4 Mi pixels in a few bytes.
//
// All functions may be used by any number of goroutines at once. They do not change what they are given.
package picture
