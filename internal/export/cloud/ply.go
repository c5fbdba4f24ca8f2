package cloud

import "strconv"

// AppendPLY appends a cloud to dst as a PLY file:
//
//	ply
//	format binary_little_endian 1.0
//	comment organised: 64 rows of 1024 points     only if it has several rows
//	element vertex 65536
//	property float x
//	property uint16 ring
//	property float normal_0                       a field with several values: one a value
//	property float normal_1
//	end_header
//	packed points, row after row
//
// PLY has no integers of 64 bits: they become doubles, and [Notes] counts the ones that a double
// does not hold. On an error dst is returned as it was.
func (e *Encoder) AppendPLY(dst []byte, c *Cloud, o Options) ([]byte, error) {
	l, g, err := e.prepare(c, ply, o)
	if err != nil {
		return dst, err
	}
	dst = append(dst, "ply\nformat binary_little_endian 1.0\n"...)
	if g.height > 1 {
		dst = strconv.AppendInt(append(dst, "comment organised: "...), int64(g.height), 10)
		dst = strconv.AppendInt(append(dst, " rows of "...), int64(g.width), 10)
		dst = append(dst, " points\n"...)
	}
	dst = strconv.AppendInt(append(dst, "element vertex "...), int64(g.points()), 10)
	dst = append(dst, '\n')
	dst = append(dst, l.head...)
	dst = append(dst, "end_header\n"...)
	at := len(dst)
	dst = grow(dst, g.points()*l.size)
	l.pack(dst[at:], &g, &e.notes)
	return dst, nil
}

// appendProperties appends the line of each value of a point.
func (l *layout) appendProperties(dst []byte) []byte {
	for i := range l.columns {
		c := &l.columns[i]
		for v := range c.names(ply) {
			dst = append(append(dst, "property "...), numbers[c.datatype].ply...)
			dst = append(append(append(dst, ' '), c.valueName(v, ply)...), '\n')
		}
	}
	return dst
}
