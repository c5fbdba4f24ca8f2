// Package literal reads the values that stand in the text of definitions: defaults and constants. Functions may be
// called concurrently.
//
//	literal.Parse(schema.Type{Kind: schema.Int8, Array: schema.Unbounded}, "[1, -2]")   // two Values, of the bits 1 and
//
// 2^64-2
package literal

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// A Value is one value that the text of a definition has: a default, or a constant.
type Value struct {
	Bits uint64 // of a number, in the width of its kind: two's complement, or IEEE 754
	Text string // of a string
}

// Parse returns the values of a default of type t: one value, or the values of an array, "[1, 2,
// 3]". The text is as in a .msg file: numbers as Python writes them, words as they are or in
// quotes.
func Parse(t schema.Type, text string) ([]Value, error) {
	text = strings.TrimSpace(text)
	if t.Array == schema.Single {
		l, err := literal(t.Kind, text)
		return []Value{l}, err
	}
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil, fmt.Errorf("%q is not an array", text)
	}
	inner := text[1 : len(text)-1]
	var out []Value
	for _, item := range elements(inner) {
		l, err := literal(t.Kind, item)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	switch {
	case t.Array == schema.Fixed && len(out) != t.Len:
		return nil, fmt.Errorf("%q has %d values, and the array %d", text, len(out), t.Len)
	case t.Array == schema.Bounded && len(out) > t.Len:
		return nil, fmt.Errorf("%q has %d values, and the array at most %d", text, len(out), t.Len)
	}
	return out, nil
}

// elements splits the inner text of an array at commas outside of quotes.
func elements(text string) (out []string) {
	begin, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != 0:
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == ',':
			out = append(out, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	if last := strings.TrimSpace(text[begin:]); last != "" {
		out = append(out, last)
	}
	return out
}

func literal(k schema.Kind, text string) (Value, error) {
	wrong := fmt.Errorf("%q is not a value of %s", text, k)
	size := 8 * k.Size()
	switch k {
	case schema.String, schema.WString:
		return Value{Text: unquoted(text)}, nil
	case schema.Bool:
		switch strings.ToLower(text) {
		case "true", "1":
			return Value{Bits: 1}, nil
		case "false", "0":
			return Value{}, nil
		}
		return Value{}, wrong
	case schema.Float32:
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return Value{}, wrong
		}
		return Value{Bits: uint64(math.Float32bits(float32(v)))}, nil
	case schema.Float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return Value{}, wrong
		}
		return Value{Bits: math.Float64bits(v)}, nil
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
		v, err := strconv.ParseInt(text, 0, size)
		if err != nil {
			return Value{}, wrong
		}
		return Value{Bits: uint64(v)}, nil
	case schema.Uint8, schema.Uint16, schema.Uint32, schema.Uint64, schema.Byte, schema.Char, schema.IDLChar:
		if v, err := strconv.ParseInt(text, 0, size); err == nil { // byte is signed in ROS 1
			if v < 0 && k != schema.Byte {
				return Value{}, wrong
			}
			return Value{Bits: uint64(v)}, nil
		}
		v, err := strconv.ParseUint(text, 0, size)
		if err != nil {
			return Value{}, wrong
		}
		return Value{Bits: v}, nil
	}
	return Value{}, wrong
}

// unquoted returns a string without its quotes and the backslashes before quotes in it.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != text[len(text)-1] || text[0] != '"' && text[0] != '\'' {
		return text
	}
	quote := text[:1]
	return strings.ReplaceAll(text[1:len(text)-1], `\`+quote, quote)
}
