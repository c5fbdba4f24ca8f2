package cli

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// maxTree bounds an expanded tree: a definition of a few lines can expand to any number
// of fields.
const maxTree = 100_000

// A treeNode is a message or a field with what is in it.
type treeNode struct {
	Name   string      `json:"name,omitempty"`   // "" for the message itself
	Type   string      `json:"type"`             // as in .msg text: "float64[9]", "string<=10", "pkg/msg/Point[<=4]"
	Base   string      `json:"base"`             // the same without bounds: "float64"
	Array  string      `json:"array"`            // "single", "fixed", "bounded" or "unbounded"
	Length int         `json:"length"`           // of fixed and bounded arrays
	Size   *int        `json:"size,omitempty"`   // bytes in a message, if they are the same in all; of a field
	Offset *int        `json:"offset,omitempty"` // byte in the message, if it is the same in all
	Fields []*treeNode `json:"fields,omitempty"`
}

// treeOf expands a message whose topic has an encoding. The error is that it is too large
// for that.
func treeOf(m *schema.Message, encoding string) (*treeNode, error) {
	budget := maxTree
	root := &treeNode{Type: m.Name, Base: m.Name, Array: arrayNames[schema.Single]}
	root.expand(m, &budget)
	if budget < 0 {
		return nil, fmt.Errorf("definition of %s: it expands to more than %s fields", m.Name, grouped(maxTree))
	}
	if p := placerOf(encoding); p != nil {
		p.fields(root, m)
		if end, fixed := p.end(schema.Type{Kind: schema.Struct, Message: m}, 0); fixed {
			size := p.head + end
			root.Size = &size
		}
	}
	return root, nil
}

func (n *treeNode) expand(m *schema.Message, budget *int) {
	for _, f := range m.Fields {
		if *budget--; *budget < 0 {
			return
		}
		child := &treeNode{Name: f.Name, Type: typeText(f.Type), Base: baseText(f.Type), Array: arrayNames[f.Type.Array], Length: f.Type.Len}
		n.Fields = append(n.Fields, child)
		if f.Type.Kind == schema.Struct {
			child.expand(f.Type.Message, budget)
		}
	}
}

func sizeInBytes(n int) string { return count(int64(n), "byte") }

var arrayNames = [...]string{schema.Single: "single", schema.Fixed: "fixed", schema.Bounded: "bounded", schema.Unbounded: "unbounded"}

func baseText(t schema.Type) string {
	if t.Kind == schema.Struct {
		return t.Message.Name
	}
	return t.Kind.String()
}

// typeText writes a type with its bounds as .msg text does.
func typeText(t schema.Type) string {
	s := baseText(t)
	if t.StringBound > 0 {
		s += fmt.Sprintf("<=%d", t.StringBound)
	}
	switch t.Array {
	case schema.Fixed:
		s += fmt.Sprintf("[%d]", t.Len)
	case schema.Bounded:
		s += fmt.Sprintf("[<=%d]", t.Len)
	case schema.Unbounded:
		s += "[]"
	}
	return s
}

// write writes one line per field, indented by its depth: "type name", and after it the
// place and size in messages, as far as they are the same in all.
func (n *treeNode) write(b *strings.Builder, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(clean(n.Type))
	if n.Name != "" {
		b.WriteString(" " + clean(n.Name))
	}
	switch {
	case n.Offset != nil && n.Size != nil:
		fmt.Fprintf(b, "  # at %d, %s", *n.Offset, sizeInBytes(*n.Size))
	case n.Offset != nil:
		fmt.Fprintf(b, "  # at %d", *n.Offset)
	case n.Size != nil:
		fmt.Fprintf(b, "  # %s", sizeInBytes(*n.Size))
	}
	b.WriteByte('\n')
	for _, f := range n.Fields {
		f.write(b, depth+1)
	}
}
