package verify

import (
	"encoding/binary"
	"math"

	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema"
)

// A normalizer goes over the serialized messages of one canonical type and makes
// equal values equal bytes: NaN get the canonical bits, bools 0 or 1. It is a tree
// of nodes, one for each struct, and shared where structs are.
type normalizer struct {
	steps []step
	size  int  // bytes, when it is the same for all messages; -1 else
	dirty bool // there are floats or bools in it
}

// A step is a run of bytes, a value, or a list or array of values.
type step struct {
	code stepCode
	n    int         // bytes of stepBytes; bytes of one value of a list that is skipped
	len  int         // values of an array
	list bool        // a u32 count stands before the values
	node *normalizer // of stepStruct
}

type stepCode uint8

const (
	stepBytes stepCode = iota
	stepText
	stepBool
	stepFloat32
	stepFloat64
	stepStruct
)

// newNormalizer makes the normalizer of a canonical type.
func newNormalizer(m *schema.Message) *normalizer {
	return normalizers{}.of(m)
}

type normalizers map[*schema.Message]*normalizer

func (made normalizers) of(m *schema.Message) *normalizer {
	if n := made[m]; n != nil {
		return n
	}
	n := &normalizer{}
	made[m] = n
	for _, f := range m.Fields {
		s := made.step(f.Type)
		size := s.fixed()
		switch {
		case size < 0 || n.size < 0 || size > math.MaxInt32-n.size:
			n.size = -1
		default:
			n.size += size
		}
		n.dirty = n.dirty || s.dirty()
		if last := len(n.steps) - 1; s.code == stepBytes && !s.list && last >= 0 && n.steps[last].code == stepBytes && !n.steps[last].list && size >= 0 && n.steps[last].fixed() >= 0 {
			n.steps[last] = step{code: stepBytes, n: n.steps[last].fixed() + size, len: 1}
			continue
		}
		n.steps = append(n.steps, s)
	}
	return n
}

func (made normalizers) step(t schema.Type) step {
	s := step{len: 1, list: t.Array == schema.Unbounded, n: t.Kind.Size()}
	if t.Array == schema.Fixed {
		s.len = t.Len
	}
	switch t.Kind {
	case schema.Bool:
		s.code = stepBool
	case schema.Float32:
		s.code = stepFloat32
	case schema.Float64:
		s.code = stepFloat64
	case schema.String:
		s.code = stepText
	case schema.Struct:
		s.code, s.node = stepStruct, made.of(t.Message)
		if !s.node.dirty && s.node.size >= 0 {
			s.code, s.n = stepBytes, s.node.size
		}
	}
	return s
}

// fixed is the bytes that a step takes in all messages, -1 when that differs.
func (s *step) fixed() int {
	one := s.n
	if s.code == stepStruct {
		one = s.node.size
	}
	switch {
	case s.list || s.code == stepText && s.len > 0 || one < 0 || one > 0 && s.len > math.MaxInt32/one:
		return -1
	case s.code == stepText:
		return 0
	}
	return one * s.len
}

func (s *step) dirty() bool {
	return s.code == stepBool || s.code == stepFloat32 || s.code == stepFloat64 || s.code == stepStruct && s.node.dirty
}

// run normalizes the message b in place.
func (n *normalizer) run(b []byte) error {
	if !n.dirty {
		return nil
	}
	_, err := n.at(b, 0)
	return err
}

func short(at int) error { return &transcode.Error{Offset: at, What: "the message ends"} }

func (n *normalizer) at(b []byte, pos int) (int, error) {
	for i := range n.steps {
		s := &n.steps[i]
		count := s.len
		if s.list {
			if len(b)-pos < 4 {
				return pos, short(pos)
			}
			count = int(binary.LittleEndian.Uint32(b[pos:]))
			pos += 4
		}
		switch s.code {
		case stepText:
			for range count {
				if len(b)-pos < 4 {
					return pos, short(pos)
				}
				size := int(binary.LittleEndian.Uint32(b[pos:]))
				if pos += 4; size > len(b)-pos {
					return pos, short(pos)
				}
				pos += size
			}
			continue
		case stepStruct:
			if s.node.size == 0 {
				continue
			}
			var err error
			for range count {
				if pos, err = s.node.at(b, pos); err != nil {
					return pos, err
				}
			}
			continue
		}
		if s.n > 0 && count > (len(b)-pos)/s.n {
			return pos, short(pos)
		}
		v := b[pos : pos+count*s.n]
		pos += len(v)
		switch s.code {
		case stepBool:
			bools(v)
		case stepFloat32:
			float32s(v)
		case stepFloat64:
			float64s(v)
		}
	}
	return pos, nil
}

func bools(b []byte) {
	for i, v := range b {
		if v > 1 {
			b[i] = 1
		}
	}
}

const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

func float32s(b []byte) {
	for ; len(b) >= 4; b = b[4:] {
		if binary.LittleEndian.Uint32(b)&0x7fffffff > 0x7f800000 {
			binary.LittleEndian.PutUint32(b, nan32)
		}
	}
}

func float64s(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x7fffffffffffffff > 0x7ff0000000000000 {
			binary.LittleEndian.PutUint64(b, nan64)
		}
	}
}
