package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Literal is one value that the text of a definition has: a default, or a constant.
type Literal struct {
	Bits uint64 // of a number, in the width of its kind: two's complement, or IEEE 754
	Text string // of a string
}

// Literals returns the values of a default of type t: one, or those of an array, "[1, 2, 3]". The
// text is that of a .msg file: numbers as Python writes them, words as they are or in quotes.
func Literals(t Type, text string) ([]Literal, error) {
	text = strings.TrimSpace(text)
	if t.Array == Single {
		l, err := literal(t.Kind, text)
		return []Literal{l}, err
	}
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil, fmt.Errorf("%q is not an array", text)
	}
	inner := text[1 : len(text)-1]
	var out []Literal
	for _, item := range elements(inner) {
		l, err := literal(t.Kind, item)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	switch {
	case t.Array == Fixed && len(out) != t.Len:
		return nil, fmt.Errorf("%q has %d values, and the array %d", text, len(out), t.Len)
	case t.Array == Bounded && len(out) > t.Len:
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

func literal(k Kind, text string) (Literal, error) {
	wrong := fmt.Errorf("%q is not a value of %s", text, k)
	size := 8 * k.Size()
	switch k {
	case String, WString:
		return Literal{Text: unquoted(text)}, nil
	case Bool:
		switch strings.ToLower(text) {
		case "true", "1":
			return Literal{Bits: 1}, nil
		case "false", "0":
			return Literal{}, nil
		}
		return Literal{}, wrong
	case Float32:
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return Literal{}, wrong
		}
		return Literal{Bits: uint64(math.Float32bits(float32(v)))}, nil
	case Float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return Literal{}, wrong
		}
		return Literal{Bits: math.Float64bits(v)}, nil
	case Int8, Int16, Int32, Int64, Enum:
		v, err := strconv.ParseInt(text, 0, size)
		if err != nil {
			return Literal{}, wrong
		}
		return Literal{Bits: uint64(v)}, nil
	case Uint8, Uint16, Uint32, Uint64, Byte, Char, IDLChar:
		if v, err := strconv.ParseInt(text, 0, size); err == nil { // byte is signed in ROS 1
			if v < 0 && k != Byte {
				return Literal{}, wrong
			}
			return Literal{Bits: uint64(v)}, nil
		}
		v, err := strconv.ParseUint(text, 0, size)
		if err != nil {
			return Literal{}, wrong
		}
		return Literal{Bits: v}, nil
	}
	return Literal{}, wrong
}

// unquoted returns a string without its quotes and the backslashes before quotes in it.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != text[len(text)-1] || text[0] != '"' && text[0] != '\'' {
		return text
	}
	quote := text[:1]
	return strings.ReplaceAll(text[1:len(text)-1], `\`+quote, quote)
}
