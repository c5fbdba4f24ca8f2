package render

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/bagconv/bagconv/schema"
)

// A rosRun is a message of ROS on its way. What an encoding asks for is looked
// up at each value: writing a number as text takes much longer.
type rosRun struct {
	out
	src  []byte // without CDR's encapsulation header
	pos  int
	head int // length of that header
	fuel int // values without bytes that may still come
	wide []byte

	align     int  // the largest alignment: 8, 4, or 1 for none
	big       bool // big endian
	nul       bool // strings end with NUL
	dummy     bool // a struct without fields is one byte
	sizes     bool // XCDR2: a size stands before lists of what is not primitive
	delimited bool // and before each struct
}

// open reads CDR's encapsulation header: 00, id, two bytes of options. XCDR2 has
// two numberings of ids: RTPS's (06 to 09) and that of XTypes 7.4.3.4 (10 to 15).
func (r *rosRun) open(src []byte, cdr bool) error {
	r.src, r.align, r.fuel = src, 1, maxFuel+len(src)
	if !cdr {
		return nil
	}
	if len(src) < 4 {
		return malformed(0, "a CDR message has a header of 4 bytes, this one ends before")
	}
	r.src, r.head, r.align, r.nul, r.dummy = src[4:], 4, 8, true, true
	id := src[1]
	r.big = id&1 == 0
	switch {
	case src[0] != 0:
	case id <= 1:
		return nil
	case id == 6, id == 7, id == 0x10, id == 0x11:
		r.align, r.sizes = 4, true
		return nil
	case id == 8, id == 9, id == 0x14, id == 0x15:
		r.align, r.sizes, r.delimited = 4, true, true
		return nil
	}
	return malformed(0, "CDR representation %02x %02x is not one that is read", src[0], id)
}

// message writes all of a message, or the columns.
func (r *rosRun) message(p *Program, src []byte) error {
	if err := r.open(src, p.cdr); err != nil {
		return err
	}
	var err error
	switch {
	case p.columns != nil:
		err = r.pickAll(p)
	case p.o.Style == CSV:
		first := true
		err = r.cells(p.ros, &first)
	default:
		r.root()
		err = r.structure(p.ros)
	}
	if err == nil && !p.cdr && r.pos != len(r.src) {
		err = r.bad("%d bytes are left over", len(r.src)-r.pos)
	}
	return err
}

func (r *rosRun) bad(format string, a ...any) error { return malformed(r.head+r.pos, format, a...) }

func (r *rosRun) short(want int) error {
	return r.bad("the message ends: %d bytes wanted, %d left", want, len(r.src)-r.pos)
}

func (r *rosRun) step(n int) error {
	if n = min(n, r.align); n > 1 {
		r.pos = (r.pos + n - 1) &^ (n - 1)
	}
	if r.pos > len(r.src) {
		r.pos = len(r.src)
		return r.short(n)
	}
	return nil
}

// take returns the next n bytes.
func (r *rosRun) take(n int) ([]byte, error) {
	if n > len(r.src)-r.pos {
		return nil, r.short(n)
	}
	r.pos += n
	return r.src[r.pos-n : r.pos], nil
}

func (r *rosRun) count() (int, error) {
	if err := r.step(4); err != nil {
		return 0, err
	}
	p, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return int(r.u32(p)), nil
}

func (r *rosRun) u16(p []byte) uint16 {
	if r.big {
		return binary.BigEndian.Uint16(p)
	}
	return binary.LittleEndian.Uint16(p)
}

func (r *rosRun) u32(p []byte) uint32 {
	if r.big {
		return binary.BigEndian.Uint32(p)
	}
	return binary.LittleEndian.Uint32(p)
}

func (r *rosRun) u64(p []byte) uint64 {
	if r.big {
		return binary.BigEndian.Uint64(p)
	}
	return binary.LittleEndian.Uint64(p)
}

// enter steps over what stands before the fields of a struct, and guards against
// structs without bytes and output without end.
func (r *rosRun) enter(n *node) error {
	if len(r.buf) > r.most {
		return r.bad("the text of the message would be out of proportion")
	}
	if n.min == 0 {
		if r.fuel--; r.fuel < 0 {
			return r.bad("too many values that take no bytes")
		}
	}
	if r.delimited {
		if _, err := r.count(); err != nil {
			return err
		}
	}
	if len(n.fields) == 0 && r.dummy {
		_, err := r.take(1)
		return err
	}
	return nil
}

// structure writes a struct.
func (r *rosRun) structure(n *node) error {
	if err := r.enter(n); err != nil {
		return err
	}
	if len(n.fields) == 0 {
		r.flow("{}")
		return nil
	}
	for i := range n.fields {
		f := &n.fields[i]
		r.key(&f.label, f.flow)
		if err := r.value(f, false); err != nil {
			return err
		}
	}
	r.close()
	return nil
}

// value writes what a field holds; whole keeps its list from being a note.
func (r *rosRun) value(f *field, whole bool) error {
	if f.list == schema.Single {
		return r.single(f)
	}
	n, err := r.length(f)
	if err != nil {
		return err
	}
	switch {
	case f.blob:
		p, err := r.take(n)
		if err == nil {
			r.binary(p, whole)
		}
		return err
	case n > LongList && !whole && !r.arrays:
		if f.kind == schema.Struct && r.style == YAML {
			r.flow("")
		}
		r.note(noteLength, n)
		return r.skipElements(f, n)
	case f.kind == schema.Struct:
		r.indent++
		for i := range n {
			r.element(i)
			r.indent++
			if err := r.structure(f.node); err != nil {
				return err
			}
			r.indent--
		}
		r.indent--
		r.endElements(n)
		return nil
	}
	r.buf = append(r.buf, '[')
	if f.size > 0 {
		err = r.numbers(f, n)
	} else {
		for i := 0; i < n && err == nil; i++ {
			if i > 0 {
				r.comma()
			}
			err = r.single(f)
		}
	}
	r.buf = append(r.buf, ']')
	return err
}

// length reads how many elements a list has, and holds it against the bytes
// that are left.
func (r *rosRun) length(f *field) (n int, err error) {
	if r.sizes && f.size == 0 {
		if _, err = r.count(); err != nil {
			return 0, err
		}
	}
	if n = f.len; f.list != schema.Fixed {
		if n, err = r.count(); err != nil {
			return 0, err
		}
	}
	if f.min > 0 && n > (len(r.src)-r.pos)/f.min || f.min == 0 && n > r.fuel {
		return 0, r.bad("a list of %d elements, and %d bytes are left", n, len(r.src)-r.pos)
	}
	return n, nil
}

// single writes one value.
func (r *rosRun) single(f *field) error {
	switch {
	case f.size > 0:
		return r.numbers(f, 1)
	case f.kind == schema.Struct:
		r.indent++
		err := r.structure(f.node)
		r.indent--
		return err
	case f.kind == schema.WString:
		return r.wstring(true)
	}
	p, err := r.string()
	if err == nil {
		r.text(p)
	}
	return err
}

// string reads a text; it points into the message.
func (r *rosRun) string() ([]byte, error) {
	n, err := r.count()
	if err != nil {
		return nil, err
	}
	p, err := r.take(n)
	if err == nil && r.nul && n > 0 && p[n-1] == 0 {
		p = p[:n-1]
	}
	return p, err
}

// span takes n numbers of a field; there is no padding before none.
func (r *rosRun) span(f *field, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if err := r.step(f.size); err != nil {
		return nil, err
	}
	if n > (len(r.src)-r.pos)/f.size {
		return nil, r.short(n * f.size)
	}
	p := r.src[r.pos : r.pos+n*f.size]
	r.pos += n * f.size
	return p, nil
}

// numbers writes n numbers with commas between.
func (r *rosRun) numbers(f *field, n int) error {
	p, err := r.span(f, n)
	if err != nil || n == 0 {
		return err
	}
	dst, style := r.buf, r.style
	for i := 0; ; {
		switch f.kind {
		case schema.Float64:
			dst = appendFloat(dst, math.Float64frombits(r.u64(p)), 64, style)
		case schema.Float32:
			dst = appendFloat(dst, float64(math.Float32frombits(r.u32(p))), 32, style)
		case schema.Uint32:
			dst = strconv.AppendUint(dst, uint64(r.u32(p)), 10)
		case schema.Int32, schema.Enum:
			dst = strconv.AppendInt(dst, int64(int32(r.u32(p))), 10)
		case schema.Int64:
			dst = appendInt64(dst, int64(r.u64(p)), style)
		case schema.Uint64:
			dst = appendUint64(dst, r.u64(p), style)
		case schema.Uint16:
			dst = strconv.AppendUint(dst, uint64(r.u16(p)), 10)
		case schema.Int16:
			dst = strconv.AppendInt(dst, int64(int16(r.u16(p))), 10)
		case schema.Bool:
			dst = strconv.AppendBool(dst, p[0] != 0)
		case schema.Int8:
			dst = strconv.AppendInt(dst, int64(int8(p[0])), 10)
		case schema.Byte: // octet; in ROS 1 another word for int8
			if r.dummy {
				dst = strconv.AppendUint(dst, uint64(p[0]), 10)
			} else {
				dst = strconv.AppendInt(dst, int64(int8(p[0])), 10)
			}
		default:
			dst = strconv.AppendUint(dst, uint64(p[0]), 10)
		}
		if i++; i == n {
			r.buf = dst
			return nil
		}
		if dst = append(dst, ','); style == YAML {
			dst = append(dst, ' ')
		}
		p = p[f.size:]
	}
}
