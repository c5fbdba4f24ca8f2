package apollo

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/schema/numbers"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A column is a field of the rows of a cloud.
type column struct {
	offset int
	size   int // of a value, bytes; 0: the cloud does not have it
	class  numbers.Class
	big    bool
	float  bool // float32 in little endian, as nearly all are
}

// datatypes has the kind of number of each datatype of sensor_msgs/PointField.
var datatypes = [...]schema.Kind{fieldInt8: schema.Int8, fieldUint8: schema.Uint8, fieldInt16: schema.Int16,
	fieldUint16: schema.Uint16,
	fieldInt32:  schema.Int32, fieldUint32: schema.Uint32, fieldFloat32: schema.Float32, fieldFloat64: schema.Float64,
	fieldInt64: schema.Int64, fieldUint64: schema.Uint64}

// bits returns the bits of the column in a row.
func (c *column) bits(row []byte) uint64 {
	b := row[c.offset:]
	switch {
	case c.size == 1:
		return uint64(b[0])
	case c.size == 2 && c.big:
		return uint64(binary.BigEndian.Uint16(b))
	case c.size == 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case c.size == 4 && c.big:
		return uint64(binary.BigEndian.Uint32(b))
	case c.size == 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case c.big:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// integer returns a value that is not a float.
func (c *column) integer(row []byte) int64 { return int64(c.class.Widen(c.bits(row), 8*c.size)) }

func (c *column) real(row []byte) float64 {
	if c.float {
		return math.Float64frombits(widen(binary.LittleEndian.Uint32(row[c.offset:])))
	}
	if c.isFloat32() {
		return math.Float64frombits(widen(uint32(c.bits(row))))
	}
	return c.class.Float(c.class.Widen(c.bits(row), 8*c.size))
}

func (c *column) isFloat32() bool { return c.class == numbers.Float && c.size == 4 }

// float32 returns a value as the bits of a float32.
func (c *column) float32(row []byte) uint32 {
	if c.float {
		return binary.LittleEndian.Uint32(row[c.offset:])
	}
	return c.otherFloat32(row)
}

func (c *column) otherFloat32(row []byte) uint32 {
	if c.isFloat32() {
		return uint32(c.bits(row))
	}
	return narrow(math.Float64bits(c.real(row)))
}

// whole returns a value, rounded and clamped to 32 bits without a sign.
func (c *column) whole(row []byte) uint64 { return wholeNumber(c.real(row)) }

// Times of points by magnitude: an offset from the stamp, or s, ms, us or ns
// since 1970.
const (
	offsetSeconds = 1e6
	plainSeconds  = 1e11
	milliseconds  = 1e14
	microseconds  = 1e17
	offsetNanos   = int64(1e15)
)

// nanoseconds returns the time of a point, ns since 1970; 0 if it has no time. Floats
// of 32 bits are offsets in s, of 64 bits offsets or absolute; integers up to 32
// bits are offsets in ns, of 64 bits absolute ns or, when small, offsets.
func (c *column) nanoseconds(row []byte, stamp int64) int64 {
	if c.class != numbers.Float {
		x := c.integer(row)
		if x < offsetNanos && x > -offsetNanos {
			x += stamp
		}
		return max(x, 0)
	}
	x := c.real(row)
	switch size := math.Abs(x); {
	case c.isFloat32() || size < offsetSeconds:
		d, ok := Nanoseconds(size)
		if !ok {
			return 0
		}
		if x < 0 {
			d = -d
		}
		if d > math.MaxInt64-stamp {
			return 0
		}
		return max(stamp+d, 0)
	case x < plainSeconds:
	case x < milliseconds:
		x /= 1e3
	case x < microseconds:
		x /= 1e6
	case x < math.MaxInt64:
		return int64(x)
	}
	ns, _ := Nanoseconds(x)
	return ns
}

// cloudRows is a cloud as it lies in a message.
type cloudRows struct {
	data          []byte
	width, height int
	size, stride  int // of a row and of a line of rows, bytes
	columns       [pointRing + 1]column
}

// The names that columns go by; of several the first that a cloud has.
var columnNames = [pointRing + 1][]string{
	pointX: {"x"}, pointY: {"y"}, pointZ: {"z"}, pointIntensity: {"intensity", "i"},
	pointTime: {"timestamp", "time", "t", "offset"}, pointRing: {"ring"},
}

// readRows reads and checks what is after the header of a sensor_msgs/PointCloud2.
// If it is wrong, r has the error, and there are no rows.
func readRows(r *ros.Reader) (c cloudRows, dense uint8) {
	height, width := uint64(r.U32()), uint64(r.U32())
	var names [pointRing + 1]int // how good a name was found, from 1 for the best
	for range r.Count(13) {
		name, offset, datatype := r.String(), r.U32(), r.U8()
		r.U32() // count: of several values the first is read
		for i := range columnNames {
			for j, n := range columnNames[i] {
				if n == string(name) && (names[i] == 0 || names[i] > j+1) && datatype > 0 && int(datatype) < len(datatypes) {
					names[i] = j + 1
					class, width := numbers.Of(datatypes[datatype])
					c.columns[i] = column{offset: int(offset), size: width / 8, class: class}
				}
			}
		}
	}
	big := r.U8() != 0
	size, stride := uint64(r.U32()), uint64(r.U32())
	c.data = r.Bytes()
	dense = r.U8()
	for i := range c.columns {
		col := &c.columns[i]
		col.big = big
		col.float = col.isFloat32() && !big
		switch {
		case col.size == 0 && i <= pointZ:
			r.Fail("the cloud has no field %s", columnNames[i][0])
		case col.size > 0 && uint64(col.offset)+uint64(col.size) > size:
			r.Fail("field %s of the cloud is outside of its rows", columnNames[i][names[i]-1])
		}
	}
	if width == 0 || height == 0 || !r.OK() {
		return c, dense
	}
	if stride < width*size && (stride == 0 || height == 1) {
		stride = width * size
	}
	have := uint64(len(c.data))
	if stride < width*size || width*size > have || height > 1 && (stride > have || (height-1)*stride > have-width*size) {
		r.Fail("a cloud's size does not fit its data")
		return c, dense
	}
	c.width, c.height, c.size, c.stride = int(width), int(height), int(size), int(stride)
	return c, dense
}

// cloud reads what is after the header of a sensor_msgs/PointCloud2.
func (p *FromROSProgram) cloud(dst []byte, v *values, r *ros.Reader, stamp int64) []byte {
	c, dense := readRows(r)
	v.setInteger(cloudDense, uint64(min(dense, 1)))
	v.setInteger(cloudWidth, uint64(c.width))
	v.setInteger(cloudHeight, uint64(c.height))
	dst = p.t.append(dst, v, 0, p.list)
	if p.layout.usual {
		dst = slices.Grow(dst, c.width*c.height*longestPoint)
	}
	for line := range c.height {
		b := c.data[line*c.stride:]
		for i := range c.width {
			row := b[i*c.size : (i+1)*c.size]
			if p.layout.usual {
				dst = p.layout.append(dst, row, &c.columns, stamp)
			} else {
				dst = p.appendPoint(dst, row, &c.columns, stamp)
			}
		}
	}
	return p.t.append(dst, v, p.list+1, maxNumber)
}

// appendPoint writes a point as the descriptor has it.
func (p *FromROSProgram) appendPoint(dst, row []byte, columns *[pointRing + 1]column, stamp int64) []byte {
	var e values
	for i := pointX; i <= pointZ; i++ {
		e.setReal(i, columns[i].real(row))
	}
	if c := &columns[pointIntensity]; c.size > 0 {
		e.setReal(pointIntensity, c.real(row))
	} else {
		e.setReal(pointIntensity, 0)
	}
	if ns := pointNanos(row, columns, stamp); ns > 0 {
		e.setInteger(pointTime, uint64(ns))
	}
	if c := &columns[pointRing]; c.size > 0 {
		e.setInteger(pointRing, c.whole(row))
	}
	return p.element.appendAs(dst, p.list, &e)
}

// pointNanos returns the time of a point, or the time of the cloud if points have no times.
func pointNanos(row []byte, columns *[pointRing + 1]column, stamp int64) int64 {
	if c := &columns[pointTime]; c.size > 0 {
		return c.nanoseconds(row, stamp)
	}
	return stamp
}

// longestPoint is how long a point in the usual layout can become, bytes: tag and
// length, three numbers, and three varints of up to 5, 10 and 5 bytes.
const longestPoint = 2 + 3*5 + 6 + 11 + 6

// append writes a point in the usual layout. dst has room for it.
func (l *pointLayout) append(dst, row []byte, columns *[pointRing + 1]column, stamp int64) []byte {
	at := len(dst)
	dst = dst[:at+2+15]
	b := dst[at:]
	b[0] = l.listTag
	b[2], b[7], b[12] = 0x0d, 0x15, 0x1d
	binary.LittleEndian.PutUint32(b[3:], columns[pointX].float32(row))
	binary.LittleEndian.PutUint32(b[8:], columns[pointY].float32(row))
	binary.LittleEndian.PutUint32(b[13:], columns[pointZ].float32(row))
	intensity := uint64(0)
	if c := &columns[pointIntensity]; c.size > 0 {
		intensity = c.whole(row)
	}
	dst = protowire.AppendVarint(append(dst, 0x20), intensity)
	if ns := pointNanos(row, columns, stamp); ns > 0 {
		dst = protowire.AppendVarint(append(dst, 0x28), uint64(ns))
	}
	if c := &columns[pointRing]; l.ringTag != 0 && c.size > 0 {
		dst = protowire.AppendVarint(append(dst, l.ringTag), c.whole(row))
	}
	dst[at+1] = byte(len(dst) - at - 2)
	return dst
}
