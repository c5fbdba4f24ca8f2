package transcode

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema/protoschema"
)

// value writes the value that stands at pos, and returns the position behind.
func (r *fromRun) value(s *slotProgram, p []byte, pos, at int) (int, error) {
	if s.form == protoschema.Number {
		return r.number(s, p, pos, at)
	}
	var v []byte
	var k int
	if s.group {
		v, k = protowire.ConsumeGroup(protowire.Number(s.num), p[pos:])
	} else {
		v, k = protowire.ConsumeBytes(p[pos:])
	}
	if k < 0 {
		return pos, r.bad(at+pos, fmt.Sprintf("field %d is cut: %d bytes are left", s.num, len(p)-pos))
	}
	begin := pos + k - len(v) // of v; within a group the end tag stands behind it, so this is only about
	return pos + k, r.content(s, v, at+begin)
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
			if len(v) != s.len {
				return r.bad(at, fmt.Sprintf("an array of %d bytes has %d", s.len, len(v)))
			}
			r.w.Buf = append(r.w.Buf, v...)
			return nil
		}
		r.w.Bytes(v)
	}
	return nil
}

// number writes one number.
func (r *fromRun) number(s *slotProgram, p []byte, pos, at int) (int, error) {
	var v uint64
	switch s.code {
	case codeFixed32:
		if len(p)-pos < 4 {
			return pos, r.bad(at+pos, "a number is cut")
		}
		r.put(s, uint64(binary.LittleEndian.Uint32(p[pos:])))
		return pos + 4, nil
	case codeFixed64:
		if len(p)-pos < 8 {
			return pos, r.bad(at+pos, "a number is cut")
		}
		r.put(s, binary.LittleEndian.Uint64(p[pos:]))
		return pos + 8, nil
	}
	if pos < len(p) && p[pos] < 0x80 {
		v = uint64(p[pos])
		pos++
	} else {
		var k int
		if v, k = protowire.ConsumeVarint(p[pos:]); k < 0 {
			return pos, r.bad(at+pos, "a number is cut or wrong")
		}
		pos += k
	}
	switch s.code {
	case codeZigzag:
		if s.size < 8 {
			v &= 0xffffffff
		}
		v = uint64(protowire.DecodeZigZag(v))
	case codeBool:
		if v != 0 {
			v = 1
		}
	}
	r.put(s, v)
	return pos, nil
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
	word, nanos, wrapped, ok := fromProtoTime(sec, nsec, span, r.w.CDR())
	if !ok {
		return r.bad(at, fmt.Sprintf("%d seconds do not fit into 32 bits", sec))
	}
	r.wrapped = r.wrapped || wrapped
	r.w.U32(word)
	r.w.U32(nanos)
	return nil
}
