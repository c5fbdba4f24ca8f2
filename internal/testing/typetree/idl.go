package typetree

import (
	"fmt"
	"slices"
	"strings"
)

// Plain returns a type without constants and defaults, also in all types below it: IDL text spells
// them otherwise than other languages.
func Plain(m *Message) *Message { return plain(m, map[*Message]*Message{}) }

func plain(m *Message, made map[*Message]*Message) *Message {
	if p := made[m]; p != nil {
		return p
	}
	p := &Message{Package: m.Package, Name: m.Name, Fields: slices.Clone(m.Fields), leaves: m.leaves, depth: m.depth}
	made[m] = p
	for i := range p.Fields {
		p.Fields[i].Default = ""
		if p.Fields[i].Kind == Nested {
			p.Fields[i].Message = plain(p.Fields[i].Message, made)
		}
	}
	return p
}

// AppendIDL appends the definition of a Plain type with all its dependencies as rosidl writes it
// in IDL, each in a block of its own as recordings have it.
func AppendIDL(dst []byte, m *Message) []byte {
	deps := m.dependencies()
	slices.Reverse(deps) // they come in any order
	for _, x := range append([]*Message{m}, deps...) {
		if x.Package != "builtin_interfaces" {
			dst = fmt.Appendf(dst, "%s\nIDL: %s\n", strings.Repeat("=", 80), x.TypeName(ROS2))
			dst = appendStruct(dst, x)
		}
	}
	return dst
}

func appendStruct(dst []byte, m *Message) []byte {
	var typedefs, fields []byte
	for _, i := range m.in(ROS2) {
		f := &m.Fields[i]
		word := idlWord(f)
		switch f.Array {
		case Fixed:
			name := fmt.Sprintf("%s__%d", strings.NewReplacer("::", "__", "<", "_", ">", "").Replace(word), f.Len)
			typedefs = fmt.Appendf(typedefs, "  typedef %s %s[%d];\n", word, name, f.Len)
			word = name
		case Bounded:
			word = fmt.Sprintf("sequence<%s, %d>", word, f.Len)
		case List:
			word = "sequence<" + word + ">"
		}
		fields = fmt.Appendf(fields, "    @unit (value=\"none; or }\")\n    %s %s;\n", word, f.Name)
	}
	if fields == nil {
		fields = []byte("    uint8 structure_needs_at_least_one_member;\n")
	}
	return fmt.Appendf(dst, "#include \"any/msg/File.idl\"\nmodule %s { module msg {\n%s  @verbatim "+
		"(language=\"comment\", text=\"of \" \"two parts\")\n  struct %s {\n%s  };\n}; };\n",
		m.Package, typedefs, m.Name, fields)
}

func idlWord(f *Field) string {
	words := map[Kind]string{Bool: "boolean", "byte": "octet", "char": "uint8", "float32": "float", "float64": "double",
		Time: "builtin_interfaces::msg::Time", Duration: "builtin_interfaces::msg::Duration"}
	switch {
	case f.Kind == Nested:
		return f.Message.Package + "::msg::" + f.Message.Name
	case f.Bound > 0:
		return fmt.Sprintf("%s<%d>", f.Kind, f.Bound)
	case words[f.Kind] != "":
		return words[f.Kind]
	}
	return string(f.Kind)
}
