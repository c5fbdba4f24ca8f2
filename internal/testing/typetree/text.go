package typetree

import (
	"fmt"
	"strings"
)

// AppendText appends the definition of m with all its dependencies, as
// recordings of the dialect carry it.
func AppendText(dst []byte, m *Message, d Dialect) []byte {
	return appendBelow(appendOne(dst, m, d), m, d)
}

// appendBelow appends the definitions of the types below m.
func appendBelow(dst []byte, m *Message, d Dialect) []byte {
	for _, dep := range m.dependencies() {
		if d == ROS2 && (dep.Package == "builtin_interfaces") {
			continue
		}
		dst = fmt.Appendf(dst, "\n%s\nMSG: %s\n", strings.Repeat("=", 80), dep.TypeName(ROS1))
		dst = appendOne(dst, dep, d)
	}
	if d == ROS2 {
		dst = appendTimes(dst, m)
	}
	return dst
}

// appendTimes appends the types that the primitives of ROS 1 are in ROS 2.
func appendTimes(dst []byte, m *Message) []byte {
	for _, t := range []struct {
		kind Kind
		name string
	}{{Time, "Time"}, {Duration, "Duration"}} {
		if m.Has(t.kind) {
			dst = fmt.Appendf(dst, "\n%s\nMSG: builtin_interfaces/%s\nint32 sec\nuint32 nanosec\n", strings.Repeat("=", 80),
				t.name)
		}
	}
	return dst
}

func appendOne(dst []byte, m *Message, d Dialect) []byte {
	constants := func() {
		for _, c := range m.Constants {
			value := c.ROS1
			if d == ROS2 {
				value = c.ROS2
			}
			dst = fmt.Appendf(dst, "%s %s=%s\n", c.Kind, c.Name, value)
		}
	}
	behind := len(m.Constants)%2 == 1 // the language lets them stand anywhere
	if !behind {
		constants()
	}
	for _, i := range m.in(d) {
		f := &m.Fields[i]
		dst = fmt.Appendf(dst, "%s %s", f.word(d), f.Name)
		if f.Default != "" && d == ROS2 {
			dst = fmt.Appendf(dst, " %s", f.Default)
		}
		dst = append(dst, '\n')
	}
	if behind {
		constants()
	}
	return dst
}

// word returns the type of a field as text spells it.
func (f *Field) word(d Dialect) string {
	s := string(f.Kind)
	switch {
	case f.Kind == Nested && f.Bare:
		s = f.Message.Name
	case f.Kind == Nested:
		s = f.Message.TypeName(ROS1)
	case d == ROS2 && f.Kind == Time:
		s = "builtin_interfaces/Time"
	case d == ROS2 && f.Kind == Duration:
		s = "builtin_interfaces/Duration"
	case d == ROS2 && f.Bound > 0:
		s = fmt.Sprintf("%s<=%d", s, f.Bound)
	}
	if d == ROS1 && f.Kind == Wide {
		s = string(String)
	}
	return s + f.brackets(d)
}

func (f *Field) brackets(d Dialect) string {
	switch {
	case f.Array == Fixed:
		return fmt.Sprintf("[%d]", f.Len)
	case f.Array == Bounded && d == ROS2:
		return fmt.Sprintf("[<=%d]", f.Len)
	case f.Array != One:
		return "[]"
	}
	return ""
}
