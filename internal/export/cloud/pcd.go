package cloud

import (
	"encoding/binary"
	"math"
	"strconv"
)

// AppendPCD appends a cloud to dst as a PCD file:
//
//	# .PCD v0.7 - Point Cloud Data file format
//	VERSION 0.7
//	FIELDS x y z ring             names
//	SIZE 4 4 4 2                  bytes of a value
//	TYPE F F F U                  float, signed, unsigned
//	COUNT 1 1 1 1                 values
//	WIDTH 1024
//	HEIGHT 64                     1: not organised in rows
//	VIEWPOINT 0 0 0 1 0 0 0       translation, quaternion w x y z
//	POINTS 65536
//	DATA binary                   packed points, little endian
//
// or, compressed, all values of the first field, then of the second, and so on:
//
//	DATA binary_compressed        u32 compressed bytes, u32 bytes, LZF
//
// On an error dst is returned as it was.
func (e *Encoder) AppendPCD(dst []byte, c *Cloud, o Options) ([]byte, error) {
	l, g, err := e.prepare(c, pcd, o)
	if err != nil {
		return dst, err
	}
	width, height := uint64(c.Width), uint64(c.Height)
	if !c.empty() {
		width, height = uint64(g.width), uint64(g.height)
	}
	size := g.points() * l.size
	if o.Compressed && uint64(size) > math.MaxUint32 {
		return dst, unsupported("%d bytes of points are too many for a compressed PCD file; write it uncompressed", size)
	}
	dst = append(dst, "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n"...)
	dst = append(dst, l.head...)
	dst = strconv.AppendUint(append(dst, "WIDTH "...), width, 10)
	dst = strconv.AppendUint(append(dst, "\nHEIGHT "...), height, 10)
	dst = strconv.AppendUint(append(dst, "\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS "...), width*height, 10)
	if o.Compressed {
		return e.appendCompressed(append(dst, "\nDATA binary_compressed\n"...), l, &g, size), nil
	}
	dst = append(dst, "\nDATA binary\n"...)
	at := len(dst)
	dst = grow(dst, size)
	l.pack(dst[at:], &g, &e.notes)
	return dst, nil
}

// appendCompressed appends what is after the header of a compressed file.
func (e *Encoder) appendCompressed(dst []byte, l *layout, g *grid, size int) []byte {
	e.values = grow(e.values[:0], size)
	l.transpose(e.values, g)
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	if e.table == nil {
		e.table = make([]uint32, tableSize)
	}
	dst = appendLZF(dst, e.values, e.table)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-8))
	return dst
}

// appendFields appends the lines of a header from FIELDS to COUNT.
func (l *layout) appendFields(dst []byte) []byte {
	for _, line := range []struct {
		name  string
		value func(dst []byte, c *column) []byte
	}{
		{"FIELDS", func(dst []byte, c *column) []byte { return append(dst, c.name...) }},
		{"SIZE", func(dst []byte, c *column) []byte { return strconv.AppendInt(dst, int64(c.size), 10) }},
		{"TYPE", func(dst []byte, c *column) []byte { return append(dst, numbers[c.datatype].pcd) }},
		{"COUNT", func(dst []byte, c *column) []byte { return strconv.AppendUint(dst, uint64(c.count), 10) }},
	} {
		dst = append(dst, line.name...)
		for i := range l.columns {
			dst = line.value(append(dst, ' '), &l.columns[i])
		}
		dst = append(dst, '\n')
	}
	return dst
}
