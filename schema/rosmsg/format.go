package rosmsg

import (
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// Format writes the definition of a message with all its dependencies, as
// recordings carry it. Parse gives an equal graph back, with the same md5sum or
// type hash.
func Format(m *schema.Message, d Dialect) []byte {
	b := appendText(nil, m, d)
	for _, dep := range schema.Dependencies(m) {
		b = append(b, '\n')
		b = append(b, separator...)
		b = append(b, "\nMSG: "...)
		b = append(b, shortName(dep.Name)...)
		b = append(b, '\n')
		b = appendText(b, dep, d)
	}
	return b
}

// FormatSingle writes the definition of a message alone.
func FormatSingle(m *schema.Message, d Dialect) []byte { return appendText(nil, m, d) }

var separator = strings.Repeat("=", 80)

// shortName is the name as fields spell it: pkg/Type in both dialects. Names of
// services and actions keep their middle part.
func shortName(name string) string { return strings.Replace(name, "/msg/", "/", 1) }

func appendText(b []byte, m *schema.Message, d Dialect) []byte {
	for _, c := range m.Constants {
		b = append(b, c.Kind.String()...)
		if c.StringBound > 0 {
			b = append(b, "<="+strconv.Itoa(c.StringBound)...)
		}
		b = append(b, ' ')
		b = append(b, c.Name...)
		b = append(b, '=')
		if d == ROS2 && (c.Kind == schema.String || c.Kind == schema.WString) {
			b = append(b, '"')
			b = append(b, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.Text)...)
			b = append(b, '"')
		} else {
			b = append(b, c.Text...)
		}
		b = append(b, '\n')
	}
	for _, f := range m.Fields {
		if f.Type.Kind == schema.Struct {
			b = append(b, shortName(f.Type.Message.Name)...)
		} else {
			b = append(b, f.Type.Kind.String()...)
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
			b = append(b, f.Default...)
		}
		b = append(b, '\n')
	}
	return b
}
