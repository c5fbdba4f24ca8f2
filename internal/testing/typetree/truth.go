package typetree

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// AppendTruth appends a message as JSON that a reader in any language can
// compare with what it decodes:
//
//	bool                     true, false
//	integers                 "i" and the digits
//	floats                   "f" and the 16 hex digits of the float64; "fnan" for every NaN
//	strings                  "s" and the text
//	times and durations      "t" and the nanoseconds, with a sign
//	arrays                   an array
//	messages                 an object, in the order of the fields; Header has its seq
func AppendTruth(dst []byte, m *Message, v []Value) []byte {
	dst = append(dst, '{')
	for i := range m.Fields {
		f := &m.Fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendQuote(dst, f.Name)
		dst = append(dst, ':')
		if f.Array == One {
			dst = appendLeaf(dst, f, v[i])
			continue
		}
		dst = append(dst, '[')
		for k, x := range v[i].([]Value) {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendLeaf(dst, f, x)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func appendLeaf(dst []byte, f *Field, v Value) []byte {
	switch x := v.(type) {
	case []Value:
		return AppendTruth(dst, f.Message, x)
	case bool:
		return strconv.AppendBool(dst, x)
	case time.Duration:
		return fmt.Appendf(dst, `"t%d"`, int64(x))
	case float64:
		if math.IsNaN(x) {
			return append(dst, `"fnan"`...)
		}
		return fmt.Appendf(dst, `"f%016x"`, math.Float64bits(x))
	case string:
		text, _ := json.Marshal("s" + x) // a string cannot fail
		return append(dst, text...)
	}
	return fmt.Appendf(dst, `"i%d"`, v)
}
