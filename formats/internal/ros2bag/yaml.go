package ros2bag

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/yaml"
)

// A yamlText is a YAML document in the making, with the bytes that yaml.v3 writes for it.
// Usual values are written without yaml.v3, which takes 130 kB of memory for each that it
// writes: topics may be many.
type yamlText struct {
	strings.Builder
	step   int  // columns of a level
	indent int  // of the next line
	dash   bool // it is the first line of an element of a list
	err    error
}

const spaces = "                        "

func (b *yamlText) line(texts ...string) {
	if b.dash {
		b.WriteString(spaces[:b.indent-2])
		b.WriteString("- ")
		b.dash = false
	} else {
		b.WriteString(spaces[:b.indent])
	}
	for _, s := range texts {
		b.WriteString(s)
	}
	b.WriteByte('\n')
}

// nested writes a key with a mapping.
func (b *yamlText) nested(key string, fields func()) {
	b.line(key, ":")
	was := b.indent
	b.indent += b.step - b.indent%b.step
	fields()
	b.indent = was
}

// list writes a key with a list of n elements.
func (b *yamlText) list(key string, n int, element func(i int)) {
	if n == 0 {
		b.line(key, ": []")
		return
	}
	b.line(key, ":")
	b.indent += b.step
	b.elements(n, element)
	b.indent -= b.step
}

func (b *yamlText) elements(n int, element func(i int)) {
	b.indent += 2
	for i := range n {
		b.dash = true
		element(i)
	}
	b.indent -= 2
}

func (b *yamlText) number(key string, v int64) { b.line(key, ": ", strconv.FormatInt(v, 10)) }

// text writes a key with a string, in quotes if it needs them.
func (b *yamlText) text(key, value string) {
	if plain(value) {
		b.line(key, ": ", value)
		return
	}
	b.node(pair(key, textNode(value)))
}

// longestKey is the most bytes of a key that stands before its value on one line, as libyaml writes
// it; longer keys begin with "? ".
const longestKey = 128

// quoted writes a key with a string that is always in quotes.
func (b *yamlText) quoted(key, value string) {
	if plain(key) && len(key) <= longestKey && printable(value) {
		b.line(key, ": ", strconv.Quote(value))
		return
	}
	n := textNode(value)
	n.Style = yaml.DoubleQuotedStyle
	b.node(pair(key, n))
}

// element writes an element of a list that is a string.
func (b *yamlText) element(value string) {
	if plain(value) {
		b.line(value)
		return
	}
	b.node(textNode(value))
}

// node has yaml.v3 write a node: an element of a list, the first field of an element, or fields.
func (b *yamlText) node(n *yaml.Node) {
	indent := b.indent
	if b.dash {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
		indent, b.dash = indent-2, false
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		b.err = err
		return
	}
	for line := range bytes.Lines(text) {
		if line[0] != '\n' { // empty lines, as texts have them, are not indented
			b.WriteString(spaces[:indent])
		}
		b.Write(line)
	}
}

func pair(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode(key), value}}
}

// textNode returns a string, in quotes if it needs them; bytes that are not UTF-8
// become !!binary.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if n.Tag == "!!str" && strings.ContainsAny(s, "\n\r\u0085\u2028\u2029") { // line breaks of YAML
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// plain reports whether a string is surely written as it is: a path, key or type of common
// letters, or a type hash.
func plain(s string) bool {
	if !strings.ContainsAny(s, "/_.") && s != "cdr" {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '/':
		case i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// printable reports whether a string has only bytes that YAML and Go quote alike.
func printable(s string) bool {
	for i := range len(s) {
		if (s[i] < ' ' || s[i] > '~') && s[i] != '\n' {
			return false
		}
	}
	return true
}
