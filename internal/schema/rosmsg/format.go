package rosmsg

import (
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/schema"
)

// Format writes the definition of a message with all its dependencies, as
// recordings carry it: constants first, then fields, no comments. Parse returns an
// equal graph back, with the same md5sum and type hash.
//
// What a dialect cannot express: in ROS 1, a string constant with blanks at its ends
// (they go, as in the md5sum); in both, one with line breaks (blanks stand for
// them), the char and enum of IDL (written as char and int32, the same bytes), and
// its wchar and long double (Parse refuses them).
func Format(m *schema.Message, d Dialect) []byte {
	short := namesFor(m)
	b := appendText(nil, m, d, short)
	for _, dep := range schema.Dependencies(m) {
		b = append(b, '\n')
		b = append(b, separator...)
		b = append(b, "\nMSG: "...)
		b = append(b, short(dep.Name)...)
		b = append(b, '\n')
		b = appendText(b, dep, d, short)
	}
	return b
}

// FormatSingle writes the definition of a message alone.
func FormatSingle(m *schema.Message, d Dialect) []byte {
	return appendText(nil, m, d, facts.ShortName)
}

var separator = strings.Repeat("=", 80)

// namesFor returns the function that spells names in the definition of m: readers of ROS 2 know
// only names of two parts, so the names of the service or action that m is derived from have two.
// Parse knows what they stand for.
func namesFor(m *schema.Message) func(string) string {
	base, part := serviceOf(m.Name)
	if part == "" {
		return facts.ShortName
	}
	return func(name string) string {
		if rest, ok := strings.CutPrefix(name, base+"_"); ok {
			return partsOf(base) + rest
		}
		return facts.ShortName(name)
	}
}

func appendText(b []byte, m *schema.Message, d Dialect, short func(string) string) []byte {
	for _, c := range m.Constants {
		b = append(b, word(c.Kind)...)
		if c.StringBound > 0 {
			b = append(b, "<="+strconv.Itoa(c.StringBound)...)
		}
		b = append(b, ' ')
		b = append(b, c.Name...)
		b = append(b, '=')
		text := oneLine.Replace(c.Text)
		if d == ROS2 && (c.Kind == schema.String || c.Kind == schema.WString) {
			text = quote(text)
		}
		b = append(b, text...)
		b = append(b, '\n')
	}
	for _, f := range m.Fields {
		if f.Type.Kind == schema.Struct {
			b = append(b, short(f.Type.Message.Name)...)
		} else {
			b = append(b, word(f.Type.Kind)...)
		}
		if f.Type.StringBound > 0 {
			b = append(b, "<="+strconv.Itoa(f.Type.StringBound)...)
		}
		switch f.Type.Array {
		case schema.Fixed:
			b = append(b, "["+strconv.Itoa(f.Type.Len)+"]"...)
		case schema.Bounded:
			b = append(b, "[<="+strconv.Itoa(f.Type.Len)+"]"...)
		case schema.Unbounded:
			b = append(b, "[]"...)
		}
		b = append(b, ' ')
		b = append(b, f.Name...)
		if f.Default != "" && d == ROS2 {
			b = append(b, ' ')
			b = append(b, oneLine.Replace(f.Default)...)
		}
		b = append(b, '\n')
	}
	return b
}

// word returns a kind as .msg text spells it, or the nearest that it has.
func word(k schema.Kind) string {
	switch k {
	case schema.IDLChar:
		k = schema.Char
	case schema.Enum:
		k = schema.Int32
	}
	return k.String()
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// quote puts a ROS 2 string value in the quotes that it does not have itself;
// the other way of unquote.
func quote(s string) string {
	q := `"`
	if strings.Contains(s, `"`) && !strings.Contains(s, "'") {
		q = "'"
	}
	return q + strings.ReplaceAll(s, q, `\`+q) + q
}
