package transcode

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/pb"
)

// value writes a whole value.
func (r *fromRun) value(s *slotProgram, p []byte, at int) error {
	if s.form == protoschema.Number {
		_, err := r.number(s, p, at)
		return err
	}
	v := pb.Content(s.Num, s.Wire, p)
	return r.content(s, v, at+len(p)-len(v)) // after a group is the tag of its end, so this is only about
}

// content writes the bytes of a string, of bytes or of a message.
func (r *fromRun) content(s *slotProgram, v []byte, at int) error {
	switch s.form {
	case protoschema.Text:
		r.w.String(v)
	case protoschema.Nested:
		return r.message(s.node, v, at)
	case protoschema.Stamp:
		return r.stamp(s.span, v, at)
	default: // Bytes, Raw
		if s.exact {
			if len(v) != s.len && len(v) != 0 {
				return r.bad(at, fmt.Sprintf("an array of %d bytes has %d in the message", s.len, len(v)))
			}
			r.w.Buf = append(r.w.Buf, v...)
			r.w.Zero(s.len - len(v)) // empty, as if it were not set
			return nil
		}
		r.w.Bytes(v)
	}
	return nil
}

// number writes the number at the start of p, and returns its length.
func (r *fromRun) number(s *slotProgram, p []byte, at int) (int, error) {
	v, n := pb.Number(s.Kind, p)
	if n < 0 {
		return 0, r.bad(at, "a number is cut or wrong")
	}
	r.put(s, v)
	return n, nil
}

// put writes a number in the width of the ROS field.
func (r *fromRun) put(s *slotProgram, v uint64) {
	switch s.size {
	case 1:
		r.w.U8(uint8(v))
	case 2:
		r.w.U16(uint16(v))
	case 4:
		r.w.U32(uint32(v))
	case 8:
		r.w.U64(v)
	}
}

// stamp writes a google.protobuf.Timestamp or Duration as two 32-bit words.
func (r *fromRun) stamp(span bool, p []byte, at int) error {
	var sec, nsec int64
	fields := pb.Scan(p)
	for fields.Next() {
		v, _ := pb.Number(protoreflect.Uint64Kind, fields.Value())
		switch {
		case fields.Wire != protowire.VarintType || fields.Num > 2:
			r.unknown = true
		case fields.Num == 1:
			sec = int64(v)
		default:
			nsec = int64(int32(v))
		}
	}
	if wrong, what := fields.Wrong(); what != "" {
		return r.bad(at+wrong, what)
	}
	t, ok := fromProtoTime(sec, nsec, span, r.w.CDR())
	if !ok {
		return r.bad(at, fmt.Sprintf("%d seconds do not fit into 32 bits", sec))
	}
	r.wrapped = r.wrapped || t.wrapped
	r.normalized = r.normalized || t.normalized
	r.w.U32(t.sec)
	r.w.U32(t.nsec)
	return nil
}
