package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// naive writes a tree of values as text, plainly: the reference for JSON.
func naive(v any, o Options) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case *object:
		var parts []string
		for i, name := range v.names {
			parts = append(parts, naive(name, o)+":"+naive(v.vals[i], o))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		if len(v) > LongList && !o.Arrays {
			return fmt.Sprintf(`{"$length":%d}`, len(v))
		}
		var parts []string
		for _, x := range v {
			parts = append(parts, naive(x, o))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case blob:
		if !o.Bytes {
			return fmt.Sprintf(`{"$bytes":%d}`, len(v))
		}
		return `"` + base64.StdEncoding.EncodeToString(v) + `"`
	case string:
		if s, ok := strings.CutSuffix(v, `"i`); ok && v[0] == '"' {
			return s + `"` // a 64-bit integer
		}
		b, _ := json.Marshal(v)
		s := strings.NewReplacer("\\u003c", "<", "\\u003e", ">", "\\u0026", "&", "\\b", "\\u0008", "\\f", "\\u000c", "\x7f",
			"\\u007f").Replace(string(b))
		return s
	case float32:
		return naiveFloat(float64(v), 32)
	case float64:
		return naiveFloat(v, 64)
	}
	return fmt.Sprint(v)
}

func naiveFloat(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return `"NaN"`
	case math.IsInf(v, 0):
		return strconv.Quote(strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "+Inf", "Infinity", 1)[:1] +
			strings.Replace(strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "+Inf", "Infinity", 1), "-Inf", "-Infinity",
				1)[1:])
	}
	abs := math.Abs(v)
	s := strconv.FormatFloat(v, 'e', -1, bits)
	if abs == 0 || abs >= 1e-4 && abs < 1e15 {
		s = strconv.FormatFloat(v, 'f', -1, bits)
	}
	if strings.Contains(s, ".") {
		return s
	}
	if i := strings.IndexByte(s, 'e'); i >= 0 {
		return s[:i] + ".0" + s[i:]
	}
	return s + ".0"
}

// naiveCells writes the cells of CSV of a tree, unquoted.
func naiveCells(v any, o Options) []string {
	var out []string
	for _, x := range v.(*object).vals {
		if s, ok := x.(*object); ok {
			out = append(out, naiveCells(s, o)...)
		} else {
			out = append(out, naiveCell(x, o))
		}
	}
	return out
}

func naiveCell(v any, o Options) string {
	text := naive(v, o)
	switch s := v.(type) {
	case string:
		if strings.HasSuffix(s, `"i`) && s[0] == '"' {
			return strings.Trim(text, `"`)
		}
		return s
	case blob, float32, float64:
		return strings.Trim(text, `"`)
	}
	return text
}
