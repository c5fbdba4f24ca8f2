package columns

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/bagconv/bagconv/schema"
)

// steps runs a program, or a part of it, where the cursor stands.
func (b *Batch) steps(list []step) {
	c := b.c
	for i := range list {
		s := &list[i]
		if b.proto {
			c.At(s.f)
		}
		if !c.OK() {
			return
		}
		switch s.op {
		case opRun:
			b.run(s, c.Numbers(s.f, s.n), 1)
		case opStruct:
			b.structure(s)
		case opMaybe:
			b.maybe(s)
		case opSkip:
			c.Skip(s.f)
		case opNumbers, opEnums, opRuns, opList:
			b.list(s)
		default:
			b.value(s)
		}
	}
}

// value appends a single value.
func (b *Batch) value(s *step) {
	c, col := b.c, &b.cols[s.col]
	switch s.op {
	case opBits:
		bits := c.Bits(s.f)
		switch s.f.Size {
		case 8:
			col.Values = binary.LittleEndian.AppendUint64(col.Values, bits)
		case 4:
			col.Values = binary.LittleEndian.AppendUint32(col.Values, uint32(bits))
		default:
			col.Values = append(col.Values, byte(bits))
		}
	case opEnum:
		col.Values = binary.LittleEndian.AppendUint32(col.Values, uint32(b.enumIndex(s.col, int32(c.Bits(s.f)))))
	case opText:
		b.text(col, c.Text(s.f))
		if s.f.Wide && c.Replaced {
			b.doubts.Wide++
		}
	case opBinary:
		b.bytes(col, c.Text(s.f))
	case opBytes:
		b.bytes(col, c.List(s.f))
	case opPlaced:
		p := c.Text
		if s.bytes > 0 {
			p = c.List
		}
		b.place(b.cols[s.col:], p(s.f))
	case opTime:
		sec, nsec := c.Time(s.f)
		b.time(col, sec, nsec, b.proto && s.f.Clock == schema.Duration)
	case opEmpty:
		c.Leave(c.Enter(s.t))
		col.Values = append(col.Values, 1)
	}
}

// run appends the parts of n runs that stand side by side.
func (b *Batch) run(s *step, p []byte, n int) {
	if len(p) < n*s.bytes {
		return // after an error
	}
	for i := range s.parts {
		q := &s.parts[i]
		col := &b.cols[q.col]
		for at, end := q.at, n*s.bytes; at < end; at += s.bytes {
			switch q.as {
			case part8:
				col.Values = binary.LittleEndian.AppendUint64(col.Values, binary.LittleEndian.Uint64(p[at:]))
			case part4:
				col.Values = binary.LittleEndian.AppendUint32(col.Values, binary.LittleEndian.Uint32(p[at:]))
			case partBytes:
				col.Values = append(col.Values, p[at:at+q.n]...)
			case partBools:
				b.bools(col, p[at:at+q.n])
			default:
				b.times(col, q.as, p[at:at+q.n])
			}
		}
	}
}

// bools appends bytes that are 0 for false.
func (b *Batch) bools(col *Column, p []byte) {
	for _, v := range p {
		if v > 1 {
			v = 1
			b.doubts.Bools++
		}
		col.Values = append(col.Values, v)
	}
}

// times appends times of ROS: 8 bytes each.
func (b *Batch) times(col *Column, as partKind, p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		x, y := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
		sec, nsec := int64(int32(x)), int64(y)
		switch {
		case b.cdr:
		case as == partDurations:
			nsec = int64(int32(y))
		default:
			sec = int64(x)
		}
		b.time(col, sec, nsec, false)
	}
}

// time appends a time or duration. signs is whether both parts of a duration have the same sign, as protobuf has them.
func (b *Batch) time(col *Column, sec, nsec int64, signs bool) {
	if uint64(nsec) >= 1e9 && !(signs && sec <= 0 && nsec < 0 && nsec > -1e9) || signs && sec < 0 && nsec > 0 {
		b.doubts.Times++
	}
	ns := sec*1e9 + nsec
	if sec <= -lastSecond || sec >= lastSecond { // only protobuf has such
		ns = b.clamp(sec, nsec)
	}
	col.Values = binary.LittleEndian.AppendUint64(col.Values, uint64(ns))
}

// lastSecond is the last whole second that 64 bits of ns have, and lastNano the last ns in it.
const lastSecond, lastNano = math.MaxInt64 / 1_000_000_000, math.MaxInt64 % 1_000_000_000

// clamp returns a time in ns that may be beyond 64 bits.
func (b *Batch) clamp(sec, nsec int64) int64 {
	const far = 4 * lastSecond // so that a sum fits
	sec = max(-far, min(far, sec)) + nsec/1e9
	if nsec %= 1e9; nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	switch {
	case sec > lastSecond || sec == lastSecond && nsec > lastNano:
		b.doubts.Beyond++
		return math.MaxInt64
	case sec < -lastSecond-1 || sec == -lastSecond-1 && nsec < 1e9-lastNano-1:
		b.doubts.Beyond++
		return math.MinInt64
	}
	return sec*1e9 + nsec
}

// text appends a string; each byte that is not UTF-8 becomes U+FFFD.
func (b *Batch) text(col *Column, p []byte) {
	if utf8.Valid(p) {
		b.bytes(col, p)
		return
	}
	b.doubts.Text++
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		col.Values = utf8.AppendRune(col.Values, r)
		p = p[n:]
	}
	b.offset(col, len(col.Values))
}

func (b *Batch) bytes(col *Column, p []byte) {
	col.Values = append(col.Values, p...)
	b.offset(col, len(col.Values))
}

// leastPlaced is how long a value must be to be worth a place.
const leastPlaced = 4096

// place appends bytes, or where they lie, to the columns of placeFields.
func (b *Batch) place(cols []Column, p []byte) {
	offset, file, size := int64(-1), "", len(p)
	if b.file != "" && size >= b.placed {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(p))) - uintptr(unsafe.Pointer(unsafe.SliceData(b.m)))
		if at < uintptr(len(b.m)) && uintptr(size) <= uintptr(len(b.m))-at { // they were not moved to be read
			offset, file, p = b.at+int64(at), b.file, nil
		}
	}
	b.bytes(&cols[0], p)
	b.bytes(&cols[1], []byte(file))
	cols[2].Values = binary.LittleEndian.AppendUint64(cols[2].Values, uint64(offset))
	cols[3].Values = binary.LittleEndian.AppendUint64(cols[3].Values, uint64(size))
}

// offset ends a value of a column with Offsets.
func (b *Batch) offset(col *Column, end int) {
	if end > b.limit {
		b.full = true
		b.c.Fail("a column would have more than 2^31 values or bytes")
		return
	}
	col.Offsets = append(col.Offsets, int32(end))
}

// structure reads a struct with what stands before and behind it.
func (b *Batch) structure(s *step) {
	if b.proto && !b.spend(s.node.weight) {
		return
	}
	end := b.c.Enter(s.t)
	b.steps(s.body)
	b.c.Leave(end)
}

// spend takes n bytes from what the message may have beyond its own.
func (b *Batch) spend(n int) bool {
	if b.budget -= n; b.budget < 0 {
		b.c.Fail("the columns of the message would be out of proportion")
	}
	return b.c.OK()
}

// maybe reads a value that may be absent.
func (b *Batch) maybe(s *step) {
	var there bool
	if s.f.Lone {
		there = b.c.Count(s.f) > 0
	} else {
		there = b.c.Present(s.f)
	}
	n := s.node
	if !there {
		if b.spend(n.weight) {
			b.blank(n.blanks)
		}
		return
	}
	for _, col := range n.marks {
		b.cols[col].Valid = append(b.cols[col].Valid, 1)
	}
	b.steps(s.body)
}

// blank appends what an absent value is.
func (b *Batch) blank(blanks []blank) {
	for _, x := range blanks {
		col := &b.cols[x.col]
		if x.offset {
			col.Offsets = append(col.Offsets, col.Offsets[len(col.Offsets)-1])
		}
		if x.invalid {
			col.Valid = append(col.Valid, 0)
		}
		for n := x.bytes; n > 0; n -= len(zeros) {
			col.Values = append(col.Values, zeros[:min(n, len(zeros))]...)
		}
	}
}

var zeros [64]byte

// list reads a list.
func (b *Batch) list(s *step) {
	c := b.c
	var n int
	switch s.op {
	case opNumbers:
		p := c.List(s.f)
		n = len(p) / s.f.Size
		if col := &b.cols[s.node.col]; s.node.kind == Bool {
			b.bools(col, p)
		} else {
			col.Values = append(col.Values, p...)
		}
	case opEnums:
		p := c.List(s.f)
		n = len(p) / 4
		col := &b.cols[s.node.col]
		for ; len(p) >= 4; p = p[4:] {
			index := b.enumIndex(s.node.col, int32(binary.LittleEndian.Uint32(p)))
			col.Values = binary.LittleEndian.AppendUint32(col.Values, uint32(index))
		}
	case opRuns:
		n = c.Count(s.f)
		b.run(s, c.Numbers(s.node.f, n*s.n), n)
	default:
		if n = c.Count(s.f); b.proto {
			c.Elements(s.f, n, func(int) { b.element(s) })
		} else {
			for i := 0; i < n && c.OK(); i++ {
				b.steps(s.body)
			}
		}
	}
	if s.node.kind == Map && n > 1 && s.node.elem.col >= 0 && c.OK() {
		from := b.rows
		if s.col >= 0 {
			from = int(b.cols[s.col].Offsets[len(b.cols[s.col].Offsets)-1])
		}
		n = b.unique(&b.cols[s.node.elem.col], from, n)
	}
	switch {
	case s.rows:
		b.bursts = n
	case s.col >= 0:
		col := &b.cols[s.col]
		b.offset(col, int(col.Offsets[len(col.Offsets)-1])+n)
	}
}

// element reads an element of a list of protobuf, at which the cursor is.
func (b *Batch) element(s *step) {
	if one := &s.body[0]; one.op == opStruct {
		b.structure(one)
	} else {
		b.value(one)
	}
}
