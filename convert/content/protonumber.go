package content

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

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
		return malformed(0, "%d is not a %s", int64(v), s.to)
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
func (r *protoReader) list(f *pb.Field, s *protoStep, v *pb.View) error {
	count := r.x.Count(v, s.field)
	if f.Packs {
		count = 0
		for o := r.x.First(v, s.field); !o.None(); o = r.x.Next(o) {
			p := v.Numbers(f, &o)
			if width := pb.Width(f.Wire); width > 0 && len(p)%width != 0 {
				return malformed(0, "a packed list ends within a number")
			}
			count += pb.Count(f.Wire, p)
		}
	}
	if s.len > 0 && count == 0 {
		return r.unset(f, s)
	}
	if s.len >= 0 && count != s.len {
		return malformed(0, "an array of %d values has %d in the message", s.len, count)
	}
	if s.list {
		r.w.u32(uint32(count))
	}
	for o := r.x.First(v, s.field); !o.None(); o = r.x.Next(o) {
		var err error
		switch {
		case f.Packs && o.Wire != f.Wire && pb.Width(f.Wire) == s.to.Size():
			r.w.numbers(v.Content(f, &o), classOf(s.to))
		case f.Packs:
			err = r.numbers(s, v.Numbers(f, &o))
		case f.Parts:
			err = r.part(s, v.Content(f, &o))
		default:
			err = r.value(s, v.Message[o.Begin:o.End])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unset writes an array that is not set: its values have their default.
func (r *protoReader) unset(f *pb.Field, s *protoStep) (err error) {
	if s.list {
		r.w.u32(uint32(s.len))
	}
	for i := 0; i < s.len && err == nil; i++ {
		switch {
		case r.w.Len() > r.limit:
			err = malformed(0, "an array is not set: the content would be out of proportion")
		case f.Parts:
			err = r.part(s, nil)
		case s.form == protoText:
			r.w.text(nil)
		default:
			err = r.put(s, 0)
		}
	}
	return err
}

// numbers writes the numbers of p.
func (r *protoReader) numbers(s *protoStep, p []byte) error {
	for len(p) > 0 {
		v, n := pb.Number(s.kind, p)
		if n < 0 {
			return malformed(0, "a number is cut or wrong")
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
	const limit = math.MaxInt64/1_000_000_000 - 8
	if sec < -limit || sec > limit {
		return malformed(0, "a time of %d seconds", sec)
	}
	if r.w.within != nil && wide(*r.w.within, sec, nsec, span) {
		return malformed(0, "%d seconds in 32 bits", sec)
	}
	if nsec <= -1e9 || nsec >= 1e9 || nsec < 0 && (!span || sec > 0) || nsec > 0 && sec < 0 && span {
		r.w.Odd++
	}
	r.w.time(sec, nsec, span)
	return nil
}

// clock writes a message that is a time: {int32 sec, uint32 nanosec}.
func (r *protoReader) clock(n *protoNode, s *protoStep, v *pb.View) error {
	var words [2]uint32
	for i, field := range []int{s.field, s.after} {
		begin, end, ok := r.x.Single(v, field)
		if !ok {
			continue
		}
		if n.typ.Fields[field].Wire != protowire.Fixed32Type {
			return malformed(0, "a time without 32-bit words")
		}
		words[i] = binary.LittleEndian.Uint32(v.Message[begin:end])
	}
	if words[1] >= 1e9 {
		r.w.Odd++
	}
	r.w.time(int64(int32(words[0])), int64(words[1]), s.to == schema.Duration)
	return nil
}
