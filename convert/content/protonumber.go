package content

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// number reads a number, and returns how many bytes it took.
func (r *protoReader) number(s *protoStep, p []byte) (uint64, int, error) {
	v, n := pb.Number(s.kind, p)
	if n < 0 {
		return 0, 0, malformed(0, "a number is cut or wrong")
	}
	return v, n, nil
}

// put writes a number, which its canonical kind must be able to hold.
func (r *protoReader) put(s *protoStep, v uint64) error {
	ok := true
	switch i := int64(v); s.to {
	case schema.Uint8:
		ok = v <= math.MaxUint8
	case schema.Uint16:
		ok = v <= math.MaxUint16
	case schema.Int8:
		ok = i >= math.MinInt8 && i <= math.MaxInt8
	case schema.Int16:
		ok = i >= math.MinInt16 && i <= math.MaxInt16
	case schema.Int32:
		ok = i >= math.MinInt32 && i <= math.MaxInt32
	case schema.Uint32:
		ok = v <= math.MaxUint32
	}
	if !ok {
		return malformed(0, "%d is no %s", int64(v), s.to)
	}
	if s.form == protoCounter {
		r.w.counter(uint32(v))
		return nil
	}
	if s.table != nil && s.to.Size() == 1 {
		v = uint64(s.table[byte(v)])
	}
	r.w.room(8)
	at := len(r.w.buf)
	r.w.buf = appendNumber(r.w.buf, s.to, v)
	switch s.to {
	case schema.Float32:
		float32s(r.w.buf[at:])
	case schema.Float64:
		float64s(r.w.buf[at:])
	}
	return nil
}

// list writes a list or an array.
func (r *protoReader) list(f *protoField, s *protoStep, at slotRange) error {
	count := int(at.n)
	if f.number {
		count = 0
		for i, left := at.first, at.n; left > 0; i, left = r.found[i].next, left-1 {
			n, err := r.packed(f, s, &r.found[i])
			if err != nil {
				return err
			}
			count += n
		}
	}
	if s.len >= 0 && count != s.len { // what is made from an array is never left out
		return malformed(0, "an array of %d values has %d", s.len, count)
	}
	if s.list {
		r.w.u32(uint32(count))
	}
	for i, left := at.first, at.n; left > 0; left-- {
		o := r.found[i] // the list of found grows below
		i = o.next
		var err error
		switch {
		case f.number:
			err = r.numbers(f, s, &o)
		case f.parts:
			err = r.part(s, inner(f, o.p))
		default:
			err = r.value(s, o.p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// packed counts the numbers of an occurrence.
func (r *protoReader) packed(f *protoField, s *protoStep, o *occurrence) (int, error) {
	if o.wire != protowire.BytesType {
		return 1, nil
	}
	p := pb.Content(f.num, o.wire, o.p)
	if width := pb.Width(f.wire); width > 0 && len(p)%width != 0 {
		return 0, malformed(0, "a packed list ends within a number")
	}
	return pb.Count(f.wire, p), nil
}

// numbers writes the numbers of an occurrence.
func (r *protoReader) numbers(f *protoField, s *protoStep, o *occurrence) error {
	p := o.p
	if o.wire == protowire.BytesType {
		p = pb.Content(f.num, o.wire, p)
		if width := pb.Width(f.wire); width > 0 && width == s.to.Size() {
			r.w.numbers(p, classOf(s.to))
			return nil
		}
	}
	for len(p) > 0 {
		v, n, err := r.number(s, p)
		if err != nil {
			return err
		}
		if err := r.put(s, v); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// time writes a google.protobuf.Timestamp or Duration: {1 int64 seconds, 2 int32
// nanos}.
func (r *protoReader) time(p []byte, span bool) error {
	var v [3]uint64
	fields := pb.Scan(p)
	for fields.Next() {
		if fields.Num <= 2 && fields.Wire == protowire.VarintType {
			v[fields.Num], _ = pb.Number(protoreflect.Uint64Kind, fields.Value())
		} else {
			r.w.Rest = true
		}
	}
	if at, what := fields.Wrong(); what != "" {
		return malformed(at, "%s", what)
	}
	sec, nsec := int64(v[1]), int64(int32(v[2]))
	const most = math.MaxInt64/1_000_000_000 - 8
	if sec < -most || sec > most {
		return malformed(0, "a time of %d seconds", sec)
	}
	if r.w.within != nil && wide(*r.w.within, sec, nsec, span) {
		return malformed(0, "%d seconds in 32 bits", sec)
	}
	r.w.time(sec, nsec, span)
	return nil
}

// clock writes a message that is a time: {int32 sec, uint32 nanosec}.
func (r *protoReader) clock(n *protoNode, s *protoStep, base int) error {
	var v [2]uint64
	for i, field := range []int{s.field, s.after} {
		at := r.slots[base+field]
		if at.n == 0 {
			continue
		}
		p := r.found[at.first].p
		if n.fields[field].wire != protowire.Fixed32Type || len(p) < 4 {
			return malformed(0, "a time without 32-bit words")
		}
		v[i] = uint64(binary.LittleEndian.Uint32(p))
	}
	r.w.time(int64(int32(v[0])), int64(v[1]), s.to == schema.Duration)
	return nil
}
