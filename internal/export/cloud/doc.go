// Package cloud writes point clouds as files: PCD 0.7 and PLY. It takes plain structs in the shape of
// sensor_msgs/PointCloud2 and knows no encoding of messages.
//
// A cloud is rows of points, and a point is fields at offsets, with gaps between fields and behind them:
//
//	0   4   8   12  16          20     22            32
//	x   y   z   gap intensity   ring   gap to point_step
//	f32 f32 f32     f32         u16
//
// Both formats get every field with its own type, in the order of the fields, packed: gaps, tails of points and
// tails of rows are cut. Big endian values are swapped. Points that are not a number stay, unless
// [Options.DropNaN] is set. Fields that overlap are written once each.
//
// What a format cannot hold is changed, counted, and reported by [Encoder.Notes]: names with spaces (PCD separates
// names by spaces), names that occur twice, integers of 64 bits in PLY, which become doubles.
//
// The lengths of a cloud are compared with its bytes before anything is allocated: a cloud that contradicts itself
// is refused with an error that wraps [storage.ErrCorrupt], one that the format cannot hold with one that wraps
// [storage.ErrUnsupported]. The output is at most 8 times as large as the points, see maxOverlap.
//
// An [Encoder] keeps the compiled layout of a topic. It may not be used concurrently; several may.
//
// Sources: the PCD file format (pointclouds.org, version 0.7), with the column-major order of binary_compressed
// from PCL's reader; PLY by Greg Turk, 1994; sensor_msgs/PointField for the datatypes.
package cloud
