package gen

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// A numberKind is how code has numbers of a kind.
type numberKind struct {
	bits   int
	signed bool
	float  bool
}

// numberOf returns the numberKind of a kind; false for kinds that are no numbers. ROS 1 has byte as another word for
// int8, ROS 2 for uint8.
func numberOf(k schema.Kind, ros1 bool) (numberKind, bool) {
	switch k {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
		return numberKind{bits: 8 * k.Size(), signed: true}, true
	case schema.Uint8, schema.Uint16, schema.Uint32, schema.Uint64, schema.Char, schema.IDLChar:
		return numberKind{bits: 8 * k.Size()}, true
	case schema.Byte:
		return numberKind{bits: 8, signed: ros1}, true
	case schema.Float32, schema.Float64:
		return numberKind{bits: 8 * k.Size(), float: true}, true
	}
	return numberKind{}, false
}

// isBytes reports whether lists of a kind are bytes, which are base64 in text.
func isBytes(k schema.Kind) bool {
	return k == schema.Uint8 || k == schema.Byte || k == schema.Char || k == schema.IDLChar
}

// A constant is the value of a constant: a bool, int64, uint64, float64 or string.
type constant any

// constantOf returns the value that the text of a constant has; false if it is no value of the constant's kind.
// ROS 1 has decimal numbers, ROS 2 other bases too.
func constantOf(c schema.Constant, ros1 bool) (constant, bool) {
	text := strings.TrimSpace(c.Text)
	switch c.Kind {
	case schema.String, schema.WString:
		return c.Text, true
	case schema.Bool:
		switch strings.ToLower(text) {
		case "true", "1":
			return true, true
		case "false", "0":
			return false, true
		}
		return nil, false
	}
	n, ok := numberOf(c.Kind, ros1)
	switch {
	case !ok:
		return nil, false
	case n.float:
		v, err := strconv.ParseFloat(strings.TrimRight(text, "fF"), n.bits)
		if err != nil {
			v, err = strconv.ParseFloat(text, n.bits) // "inf" ends with f
		}
		return v, err == nil
	}
	v, ok := new(big.Int).SetString(text, 10)
	if !ok {
		v, ok = new(big.Int).SetString(text, 0)
	}
	switch {
	case !ok:
		return nil, false
	case n.signed:
		low := int64(-1) << (n.bits - 1)
		return v.Int64(), v.IsInt64() && v.Int64() >= low && v.Int64() <= -(low+1)
	}
	return v.Uint64(), v.IsUint64() && (n.bits == 64 || v.Uint64() < 1<<n.bits)
}
