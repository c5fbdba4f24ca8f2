package cloud

import (
	"encoding/binary"
	"math"
	"slices"
)

// A fileKind is what a layout is compiled for.
type fileKind uint8

const (
	pcd fileKind = iota
	ply
)

// Limits of a layout. Real clouds have some ten fields that do not overlap.
const (
	maxNames   = 1024 // fields of PCD, properties of PLY
	maxOverlap = 8    // bytes that are written for one of point_step: a byte may be in several fields
)

// A column is a field, checked, with its name in the file.
type column struct {
	name     string
	offset   int // in a point of the cloud, bytes
	size     int // of a value, bytes, in the cloud and in the file
	count    uint32
	datatype uint8
}

// width returns how many bytes the values of a column in one point take.
func (c *column) width() int { return c.size * int(c.count) }

// A layout is the fields of a cloud, compiled for a kind of file.
type layout struct {
	fields []Field // with step, big and kind: what it was compiled from
	step   uint32
	big    bool
	kind   fileKind

	columns  []column
	size     int    // of a packed point, bytes
	runs     []run  // that make a packed point
	moves    []move // the same in pieces of moveSize; nil if copies are better
	convert  bool   // values are changed one by one, not copied
	position []int  // indexes of the columns x, y, z; nil if they are not three floats
	head     []byte // the lines of the header about columns
}

// is reports whether a layout was compiled from these fields.
func (l *layout) is(c *Cloud, kind fileKind) bool {
	return l.kind == kind && l.step == c.PointStep && l.big == c.BigEndian && slices.Equal(l.fields, c.Fields)
}

// compile makes the layout of a cloud.
func compile(c *Cloud, kind fileKind, notes *Notes) (*layout, error) {
	l := &layout{fields: slices.Clone(c.Fields), step: c.PointStep, big: c.BigEndian, kind: kind}
	if len(c.Fields) == 0 {
		return nil, unsupported("it has no fields")
	}
	names, size := uint64(0), uint64(0)
	for i := range c.Fields {
		f := &c.Fields[i]
		if f.Datatype == 0 || int(f.Datatype) >= len(numbers) {
			return nil, unsupported("field %d %.80q has the datatype %d; 1 to 10 are known", i, f.Name, f.Datatype)
		}
		col := column{cleanName(f.Name), int(f.Offset), numbers[f.Datatype].size, max(f.Count, 1), f.Datatype}
		if f.Count == 0 {
			notes.CountZero++
		}
		if end := uint64(f.Offset) + uint64(col.size)*uint64(col.count); end > uint64(c.PointStep) && !c.empty() {
			return nil, corrupt("field %d %.80q ends at byte %d of points of %d bytes", i, f.Name, end, c.PointStep)
		} else if end > math.MaxInt32 {
			return nil, unsupported("field %d %.80q ends at byte %d of a point", i, f.Name, end)
		}
		if kind == ply {
			names += uint64(col.count)
		} else {
			names++
		}
		if names > maxNames {
			return nil, unsupported("its points have more than %d values", maxNames)
		}
		size += uint64(col.width())
		l.convert = l.convert || c.BigEndian && col.size > 1 || kind == ply && col.datatype >= Int64
		l.columns = append(l.columns, col)
	}
	if size > maxOverlap*uint64(c.PointStep) && !c.empty() {
		return nil, unsupported("its fields overlap: %d bytes of them in %d bytes a point", size, c.PointStep)
	}
	l.size = int(size)
	uniqueNames(l.columns, kind)
	for i := range l.columns {
		notes.rename(c.Fields[i].Name, l.columns[i].name)
	}
	l.position = l.findPosition()
	l.plan()
	if kind == ply {
		l.head = l.appendProperties(nil)
	} else {
		l.head = l.appendFields(nil)
	}
	return l, nil
}

func (c *Cloud) empty() bool { return c.Width == 0 || c.Height == 0 }

// findPosition returns the indexes of the columns x, y and z, nil if they are not all there as single floats.
func (l *layout) findPosition() (at []int) {
	for _, name := range []string{"x", "y", "z"} {
		i := slices.IndexFunc(l.columns, func(c column) bool {
			return c.name == name && c.count == 1 && (c.datatype == Float32 || c.datatype == Float64)
		})
		if i < 0 {
			return nil
		}
		at = append(at, i)
	}
	return at
}

// finite reports whether x, y and z of a point are numbers.
func (l *layout) finite(point []byte) bool {
	for _, i := range l.position {
		col := &l.columns[i]
		bits := load(point[col.offset:], col.size, l.big)
		if col.size == 4 && uint32(bits)&0x7f800000 == 0x7f800000 || col.size == 8 && bits&(0x7ff<<52) == 0x7ff<<52 {
			return false
		}
	}
	return true
}

// load returns the bits of a value of 1, 2, 4 or 8 bytes.
func load(b []byte, size int, big bool) uint64 {
	switch {
	case size == 1:
		return uint64(b[0])
	case size == 2 && big:
		return uint64(binary.BigEndian.Uint16(b))
	case size == 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case size == 4 && big:
		return uint64(binary.BigEndian.Uint32(b))
	case size == 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case big:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// store writes the bits of a value, little endian.
func store(b []byte, bits uint64, size int) {
	switch size {
	case 1:
		b[0] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(bits))
	default:
		binary.LittleEndian.PutUint64(b, bits)
	}
}
