package facts

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/bagconv/bagconv/schema"
)

// Layout returns a fingerprint of how the bytes of a message are read: kinds, arrays and the
// nesting of structs, but no names, bounds, constants or defaults. Messages of two types with the
// same fingerprint have the same values in the same places, in every serialization of ROS; in CDR
// also if types of IDL have unions and optional members. It is 32 hex digits.
func Layout(m *schema.Message) string {
	sum := layouts{}.of(m)
	return hex.EncodeToString(sum[:16])
}

// layouts remembers what was done: graphs share their parts.
type layouts map[*schema.Message][sha256.Size]byte

func (l layouts) of(m *schema.Message) [sha256.Size]byte {
	if sum, ok := l[m]; ok {
		return sum
	}
	var b []byte
	if m.Union || m.Extensibility == schema.Mutable {
		b = append(b, "union or mutable"...)
	}
	for _, f := range m.Fields {
		t := f.Type
		if f.Member != nil {
			b = fmt.Appendf(b, "member %d %d %v %v %v", f.Member.ID, f.Member.Type.Array, f.Member.Optional, f.Member.Labels,
				f.Member.Default)
		}
		switch t.Kind {
		case schema.Byte, schema.Char, schema.IDLChar:
			t.Kind = schema.Uint8
		}
		if t.Array == schema.Bounded {
			t.Array, t.Len = schema.Unbounded, 0
		}
		if t.Enumerated {
			b = append(b, "enumerated"...)
		}
		b = append(b, byte(t.Kind), byte(t.Array))
		b = binary.LittleEndian.AppendUint64(b, uint64(t.Len))
		if t.Kind == schema.Struct {
			sum := l.of(t.Message)
			b = append(b, sum[:]...)
		}
	}
	sum := sha256.Sum256(b)
	l[m] = sum
	return sum
}
