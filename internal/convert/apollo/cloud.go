package apollo

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// Datatypes of sensor_msgs/PointField. Only ROS 2 Rolling has 9 and 10.
const (
	fieldInt8 = 1 + iota
	fieldUint8
	fieldInt16
	fieldUint16
	fieldInt32
	fieldUint32
	fieldFloat32
	fieldFloat64
	fieldInt64
	fieldUint64
)

// A row of the clouds that are written, little endian:
//
//	0   4   8   12          16          24
//	x   y   z   intensity   timestamp   ring
//	f32 f32 f32 f32         f64, s      u16, when the descriptor has it
const (
	rowSize     = 24
	rowRingSize = 26
)

type rowField struct {
	name     []byte
	offset   uint32
	datatype uint8
}

var rowFields = [...]rowField{
	{[]byte("x"), 0, fieldFloat32}, {[]byte("y"), 4, fieldFloat32}, {[]byte("z"), 8, fieldFloat32},
	{[]byte("intensity"), 12, fieldFloat32}, {[]byte("timestamp"), 16, fieldFloat64}, {[]byte("ring"), 24, fieldUint16},
}

// A pointLayout describes how points are laid out on the wire, if they are laid out as Apollo's own
// descriptor and drivers have them:
//
//	list tag, length, 0d x, 15 y, 1d z, 20 intensity, 28 timestamp,
//	and ring after, when the descriptor has it as a varint with a number from 6 to 15
//
// The tags must come in this order, else the point is read the long way.
type pointLayout struct {
	usual   bool // numbers and kinds are Apollo's own
	listTag byte
	ring    bool // points have a ring
	ringTag byte // 0: they have no ring
}

// layoutOf finds out whether the points of a descriptor can take the short way.
func layoutOf(t *table, list protowire.Number) pointLayout {
	l := pointLayout{usual: list < 16, listTag: byte(list<<3 | 2), ring: t.has>>pointRing&1 != 0}
	for _, f := range t.fields {
		switch f.slot {
		case pointX, pointY, pointZ:
			l.usual = l.usual && f.Num == protowire.Number(f.slot+1) && f.Kind == protoreflect.FloatKind
		case pointIntensity:
			l.usual = l.usual && f.Num == 4 && f.Kind == protoreflect.Uint32Kind
		case pointTime:
			l.usual = l.usual && f.Num == 5 && (f.Kind == protoreflect.Uint64Kind || f.Kind == protoreflect.Int64Kind)
		case pointRing:
			switch f.Kind {
			case protoreflect.Uint32Kind, protoreflect.Int32Kind, protoreflect.EnumKind, protoreflect.Uint64Kind,
				protoreflect.Int64Kind:
				l.usual = l.usual && f.Num < 16
				l.ringTag = byte(f.Num << 3)
			default:
				l.usual = false
			}
		}
	}
	l.usual = l.usual && t.has&(1<<pointIntensity|1<<pointTime) == 1<<pointIntensity|1<<pointTime
	return l
}

// cloud writes what is after the header of a sensor_msgs/PointCloud2.
func (p *ToROSProgram) cloud(w *ros.Writer, v *values, src []byte) error {
	size, fields := rowSize, rowFields[:5]
	if p.layout.ring {
		size, fields = rowRingSize, rowFields[:]
	}
	if uint64(v.count)*uint64(size) > math.MaxUint32 {
		return malformed(v.first, "a cloud has more points than ROS allows")
	}
	width, height := uint64(uint32(v.num[cloudWidth])), uint64(uint32(v.num[cloudHeight]))
	if width*height != uint64(v.count) || v.count == 0 {
		width, height = uint64(v.count), 1
	}
	w.U32(uint32(height))
	w.U32(uint32(width))
	w.U32(uint32(len(fields)))
	for i := range fields {
		w.String(fields[i].name)
		w.U32(fields[i].offset)
		w.U8(fields[i].datatype)
		w.U32(1)
	}
	w.U8(0) // is_bigendian
	w.U32(uint32(size))
	w.U32(uint32(width) * uint32(size)) // row_step
	w.U32(uint32(v.count * size))
	at := len(w.Buf)
	w.Buf = grow(w.Buf, v.count*size+1)
	rows := w.Buf[at : at+v.count*size]
	dense, err := p.points(rows, size, v, src)
	if err != nil {
		return err
	}
	w.Buf[at+v.count*size] = 0
	if dense {
		w.Buf[at+v.count*size] = 1
	}
	return nil
}

// points fills rows with the points of src, and reports whether all are finite.
func (p *ToROSProgram) points(rows []byte, size int, v *values, src []byte) (dense bool, err error) {
	bad := uint32(0) // has the sign bit when any coordinate has an exponent of ones
	pos, last := v.first, v.last
	for at := 0; at < len(rows); at += size {
		row := rows[at : at+size : at+size]
		if p.layout.usual {
			if next := p.layout.point(row, src[:last], pos, &bad); next > 0 {
				pos = next
				continue
			}
		}
		b, next, ok := nextElement(src, pos, last, p.list)
		if !ok {
			return false, malformed(pos, "a point is missing") // parse counted them
		}
		pos = next
		e := p.blank
		if err := p.element.parse(&e, b, next-len(b)); err != nil {
			return false, err
		}
		v.unknown = v.unknown || e.unknown
		for i := range 3 {
			x := narrow(e.num[pointX+i])
			bad |= x&infinite + minExponent
			binary.LittleEndian.PutUint32(row[4*i:], x)
		}
		binary.LittleEndian.PutUint32(row[12:], narrow(e.num[pointIntensity]))
		binary.LittleEndian.PutUint64(row[16:], math.Float64bits(seconds(e.num[pointTime])))
		if size == rowRingSize {
			binary.LittleEndian.PutUint16(row[24:], uint16(min(e.num[pointRing], math.MaxUint16)))
		}
	}
	return bad>>31 == 0, nil
}

// An exponent of all ones plus one of its lowest bit carries into the sign.
const (
	infinite    = 0x7f800000
	minExponent = 0x00800000
)

// point turns the point at src[pos:] into a row, and returns where the next point
// begins; 0 if the point does not lie in the usual way. It writes into row then, too.
func (l *pointLayout) point(row, src []byte, pos int, bad *uint32) int {
	const shortest = 2 + 15 + 4 // up to here no bounds need to be looked at
	if len(src)-pos < shortest+16 || src[pos] != l.listTag || src[pos+1] >= 0x80 {
		return 0
	}
	end := pos + 2 + int(src[pos+1])
	if end > len(src) || end < pos+2+15+4 {
		return 0
	}
	b := src[pos+2:]
	_ = b[shortest+13]
	if b[0] != 0x0d || b[5] != 0x15 || b[10] != 0x1d || b[15] != 0x20 {
		return 0
	}
	x, y, z := binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint32(b[6:]), binary.LittleEndian.Uint32(b[11:])
	intensity, at := uint32(b[16]), 17
	if intensity >= 0x80 {
		if b[17] >= 0x80 {
			return 0
		}
		intensity, at = intensity&0x7f|uint32(b[17])<<7, 18
	}
	if b[at] != 0x28 {
		return 0
	}
	at++
	ns := binary.LittleEndian.Uint64(b[at:])
	if high := b[at+8]; ns&more == more && high < 0x80 {
		ns = septets(ns) | uint64(high)<<56
		at += 9
	} else {
		var k int
		if ns, k = protowire.ConsumeVarint(b[at:]); k < 0 {
			return 0
		}
		at += k
	}
	binary.LittleEndian.PutUint32(row, x)
	binary.LittleEndian.PutUint32(row[4:], y)
	binary.LittleEndian.PutUint32(row[8:], z)
	binary.LittleEndian.PutUint32(row[12:], math.Float32bits(float32(intensity)))
	binary.LittleEndian.PutUint64(row[16:], math.Float64bits(seconds(ns)))
	if l.ringTag != 0 {
		if len(b) < at+3 || b[at] != l.ringTag {
			return 0
		}
		ring := uint16(b[at+1])
		at += 2
		if ring >= 0x80 {
			if b[at] >= 0x80 {
				return 0
			}
			ring = ring&0x7f | uint16(b[at])<<7
			at++
		}
		binary.LittleEndian.PutUint16(row[24:], ring)
	}
	if pos+2+at != end {
		return 0
	}
	*bad |= (x&infinite + minExponent) | (y&infinite + minExponent) | (z&infinite + minExponent)
	return end
}

// more has the bits that mean that a varint continues.
const more = 0x8080808080808080

// septets joins the 7 low bits of 8 bytes.
func septets(x uint64) uint64 {
	x &^= more
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

// grow returns b with n more bytes, whose values do not matter.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		b = slices.Grow(b, n)
	}
	return b[:len(b)+n]
}
