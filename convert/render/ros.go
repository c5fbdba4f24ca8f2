package render

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A rosRun is a message of ROS on its way. An error of the reader ends it: what is
// written from there on does not count.
type rosRun struct {
	out
	ros.Reader
	fuel    int // values without bytes that may still come
	units   []uint16
	wide    []byte
	swapped []byte
	plain   []byte // the message, see Program.special
}

// message writes all of a message, or the columns.
func (r *rosRun) message(p *Program, src []byte) error {
	r.fuel = maxFuel + len(src)
	if p.special.Needed(src) {
		var err error
		if src, _, _, err = p.special.Plain(r.plain[:0], src); err != nil {
			return err
		}
		r.plain = src
	}
	if err := r.Open(src, p.cdr); err != nil {
		return err
	}
	switch {
	case p.columns != nil:
		r.pickAll(p)
	case p.o.Style == CSV:
		first := true
		r.cells(p.ros, &first)
	default:
		r.root()
		r.structure(p.ros)
	}
	if !p.cdr && r.Len() != 0 {
		r.Fail("%d bytes are left over", r.Len())
	}
	return r.Err()
}

// enter reads what stands before the fields of a struct, and returns its end. It
// guards against structs without bytes and output without end.
func (r *rosRun) enter(n *node) (end int) {
	if len(r.buf) > r.limit {
		r.Fail("the text of the message would be out of proportion")
	}
	if n.min == 0 {
		if r.fuel--; r.fuel < 0 {
			r.Fail("too many values that take no bytes")
		}
	}
	end = r.Struct()
	if len(n.fields) == 0 && r.Filler {
		r.U8()
	}
	return end
}

// structure writes a struct.
func (r *rosRun) structure(n *node) {
	end := r.enter(n)
	if len(n.fields) == 0 {
		r.flow("{}")
		r.End(end)
		return
	}
	for i := range n.fields {
		f := &n.fields[i]
		r.key(&f.label, f.flow)
		r.value(f, false)
		if !r.OK() {
			return
		}
	}
	r.close()
	r.End(end)
}

// value writes what a field holds; whole keeps its list from being a note.
func (r *rosRun) value(f *field, whole bool) {
	if f.list == schema.Single {
		r.single(f)
		return
	}
	n := r.length(f)
	switch {
	case f.lone && n == 0:
		r.null(f.flow)
	case f.lone:
		r.single(f)
	case f.blob:
		r.binary(r.Take(n), whole)
	case n > LongList && !whole && !r.arrays:
		if f.kind == schema.Struct && r.style == YAML {
			r.flow("")
		}
		r.note(noteLength, n)
		r.skipElements(f, n)
	case f.kind == schema.Struct:
		r.indent++
		for i := range n {
			r.element(i)
			r.indent++
			r.structure(f.node)
			r.indent--
			if !r.OK() {
				return
			}
		}
		r.indent--
		r.endElements(n)
	default:
		r.buf = append(r.buf, '[')
		r.elements(f, n)
		r.buf = append(r.buf, ']')
	}
}

// elements writes n values that are not structs.
func (r *rosRun) elements(f *field, n int) {
	if f.size > 0 {
		r.numbers(f, n)
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		if i > 0 {
			r.comma()
		}
		r.single(f)
	}
}

// length reads how many elements a list has, and compares it with the bytes that
// are left.
func (r *rosRun) length(f *field) int {
	if f.size == 0 {
		r.Size()
	}
	n := f.len
	if f.list != schema.Fixed {
		n = r.Count(f.min)
	}
	if f.min > 0 && n > r.Len()/f.min || f.min == 0 && n > r.fuel {
		r.Fail("a list of %d elements, but only %d bytes are left", n, r.Len())
	}
	if !r.OK() {
		return 0
	}
	return n
}

// single writes one value.
func (r *rosRun) single(f *field) {
	switch {
	case f.size > 0:
		r.numbers(f, 1)
	case f.kind == schema.Struct:
		r.indent++
		r.structure(f.node)
		r.indent--
	case f.kind == schema.WString:
		r.wstring()
	default:
		r.text(r.String())
	}
}

// wstring writes a wide string; a surrogate that stands alone becomes U+FFFD.
func (r *rosRun) wstring() {
	r.units, _ = r.Wide(r.units[:0])
	r.wide, _ = ros.AppendUTF8(r.wide[:0], r.units, false)
	r.text(r.wide)
}

// littleEndian returns numbers of that size with their bytes in this order, until the
// next call.
func (r *rosRun) littleEndian(p []byte, size int) []byte {
	if !r.BigEndian || size == 1 {
		return p
	}
	r.swapped = append(r.swapped[:0], p...)
	for i := range p {
		r.swapped[i-i%size+size-1-i%size] = p[i]
	}
	return r.swapped
}

// numbers writes n numbers with commas between.
func (r *rosRun) numbers(f *field, n int) {
	p := r.littleEndian(r.Numbers(n, f.size), f.size)
	if len(p) == 0 {
		return
	}
	dst, style := r.buf, r.style
	for i := 0; ; {
		switch f.kind {
		case schema.Float64:
			dst = appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(p)), 64, style)
		case schema.Float32:
			dst = appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(p))), 32, style)
		case schema.Uint32:
			dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint32(p)), 10)
		case schema.Int32, schema.Enum:
			dst = strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(p))), 10)
		case schema.Int64:
			dst = appendInt64(dst, int64(binary.LittleEndian.Uint64(p)), style)
		case schema.Uint64:
			dst = appendUint64(dst, binary.LittleEndian.Uint64(p), style)
		case schema.Uint16:
			dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint16(p)), 10)
		case schema.Int16:
			dst = strconv.AppendInt(dst, int64(int16(binary.LittleEndian.Uint16(p))), 10)
		case schema.Bool:
			dst = strconv.AppendBool(dst, p[0] != 0)
		case schema.Int8:
			dst = strconv.AppendInt(dst, int64(int8(p[0])), 10)
		case schema.Byte: // octet; in ROS 1 another word for int8
			if r.NUL {
				dst = strconv.AppendUint(dst, uint64(p[0]), 10)
			} else {
				dst = strconv.AppendInt(dst, int64(int8(p[0])), 10)
			}
		default:
			dst = strconv.AppendUint(dst, uint64(p[0]), 10)
		}
		if i++; i == n {
			r.buf = dst
			return
		}
		if dst = append(dst, ','); style == YAML {
			dst = append(dst, ' ')
		}
		p = p[f.size:]
	}
}
