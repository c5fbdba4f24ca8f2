package protosource

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
)

// excess returns the first line where braces and brackets are nested out of proportion or a name is
// too long, and which of both; 0 without such a line. What is in comments and strings does not
// count.
func excess(text string) (line int, what string) {
	line, depth, word := 1, 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if word++; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			word = 0
		}
		switch {
		case word > maxWord:
			return line, fmt.Sprintf("a name of more than %d bytes", maxWord)
		case c == '\n':
			line++
		case strings.HasPrefix(text[i:], "//"):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return 0, ""
			}
			i += n - 1
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return 0, "" // an error, which the compiler reports
			}
			line += strings.Count(text[i:i+2+n], "\n")
			i += n + 3
		case c == '"' || c == '\'':
			for i++; i < len(text) && text[i] != c && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i < len(text) && text[i] == '\n' {
				line++ // a string without an end
			}
		case c == '{' || c == '[' || c == '<' || c == '(':
			if depth++; depth > maxDepth {
				return line, fmt.Sprintf("braces are more than %d deep", maxDepth)
			}
		case c == '}' || c == ']' || c == '>' || c == ')':
			depth = max(depth-1, 0)
		}
	}
	return 0, ""
}

// namesOf returns the bytes of the full names of all that a file defines: each name repeats the
// names of what it is in.
func namesOf(f *descriptorpb.FileDescriptorProto) int {
	all, pkg := 0, len(f.GetPackage())
	for _, m := range f.MessageType {
		all += namesIn(m, pkg)
	}
	for _, e := range f.EnumType {
		all += (1 + len(e.Value)) * (pkg + 1)
	}
	return all + (len(f.Extension)+len(f.Service))*(pkg+1)
}

func namesIn(m *descriptorpb.DescriptorProto, outer int) int {
	outer += 1 + len(m.GetName())
	all := outer * (1 + len(m.Field) + len(m.Extension) + len(m.OneofDecl))
	for _, e := range m.EnumType {
		all += (1 + len(e.Value)) * outer
	}
	for _, n := range m.NestedType {
		all += namesIn(n, outer)
	}
	return all
}
