package cloud

import (
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// A Cloud is a sensor_msgs/PointCloud2 without its header. An Encoder reads it and does not keep
// its slices.
type Cloud struct {
	Width, Height uint32 // points in a row, rows
	PointStep     uint32 // bytes from one point to the next
	RowStep       uint32 // bytes from one row to the next
	BigEndian     bool
	Fields        []Field
	Data          []byte
}

// A Field is a sensor_msgs/PointField.
type Field struct {
	Name     string
	Offset   uint32 // of its first value in a point, bytes
	Datatype uint8  // Int8 to Uint64
	Count    uint32 // values; old drivers write 0 for 1
}

// Datatypes of sensor_msgs/PointField. Int64 and Uint64 are only in ROS 2 Rolling.
const (
	Int8 = 1 + iota
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Float32
	Float64
	Int64
	Uint64
)

// numbers has the names of the datatypes in both formats. PLY has no integers of 64 bits. Its ushort has a second
// name, uint16, and Open3D 0.20 reads that one only (measured).
var numbers = [...]struct {
	size int // bytes
	pcd  byte
	ply  string
}{
	Int8: {1, 'I', "char"}, Uint8: {1, 'U', "uchar"}, Int16: {2, 'I', "short"}, Uint16: {2, 'U', "uint16"},
	Int32: {4, 'I', "int"}, Uint32: {4, 'U', "uint"}, Float32: {4, 'F', "float"}, Float64: {8, 'F', "double"},
	Int64: {8, 'I', "double"}, Uint64: {8, 'U', "double"},
}

// A grid is where the points of a cloud are, checked.
type grid struct {
	data          []byte
	width, height int // both 0 for a cloud without points
	step, stride  int // of a point and of a row, bytes
}

func (g *grid) points() int { return g.width * g.height }

// grid checks the lengths of a cloud against its data. Drivers write a row_step of 0, and clouds of one row have
// wrong ones; the points follow each other then. The last row may lack its padding.
func (c *Cloud) grid(notes *Notes) (grid, error) {
	width, height, step, stride := uint64(c.Width), uint64(c.Height), uint64(c.PointStep), uint64(c.RowStep)
	have := uint64(len(c.Data))
	if width == 0 || height == 0 {
		notes.Unused += have
		return grid{}, nil
	}
	row := width * step // 32 bits each
	if stride < row && (stride == 0 || height == 1) {
		if stride != 0 {
			notes.RowSteps++
		}
		stride = row
	}
	switch {
	case step == 0:
		return grid{}, corrupt("%d x %d points have a point_step of 0", width, height)
	case stride < row:
		return grid{}, corrupt("row_step %d is less than %d points of %d bytes", stride, width, step)
	case row > have, height > 1 && (height-1)*stride > have-row:
		return grid{}, corrupt("%d rows of %d bytes and a row_step of %d do not fit in %d bytes of data",
			height, row, stride, have)
	}
	if used := (height-1)*stride + row; have > used && have-used > stride-row {
		notes.Unused += have - used - (stride - row)
	}
	return grid{c.Data, int(width), int(height), int(step), int(stride)}, nil
}

// corrupt returns an error about a cloud that contradicts itself.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("point cloud: %s (%w)", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// unsupported returns an error about a sound cloud that no file can hold.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("point cloud: %s (%w)", fmt.Sprintf(format, args...), storage.ErrUnsupported)
}
