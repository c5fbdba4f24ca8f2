// Package tree has the fields of a type as a tree: their names and types, with the structs in them, and where they
// stand in a serialized message, as far as that is the same in all messages.
//
//	root, err := tree.Of(message, "cdr")   // root.Fields[1].Offset: byte in the message
//
// A type that expands to more than 100,000 fields is refused. A tree is the caller's.
package tree

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/schema"
)

// maxTree bounds an expanded tree: a definition of a few lines can expand to any number
// of fields.
const maxTree = 100_000

// A Node is a message or a field with what is in it.
type Node struct {
	Name   string  `json:"name,omitempty"`   // "" for the message itself
	Type   string  `json:"type"`             // as in .msg text: "float64[9]", "string<=10", "pkg/msg/Point[<=4]"
	Base   string  `json:"base"`             // the same without bounds: "float64"
	Array  string  `json:"array"`            // "single", "fixed", "bounded" or "unbounded"
	Length int     `json:"length"`           // of fixed and bounded arrays
	Size   *int    `json:"size,omitempty"`   // bytes in a message, if they are the same in all; of a field
	Offset *int    `json:"offset,omitempty"` // byte in the message, if it is the same in all
	Fields []*Node `json:"fields,omitempty"`
}

// Of expands a message of an encoding: "ros1" or "cdr"; in all others fields have no place of their own. The error is
// that the type is too large.
func Of(m *schema.Message, encoding string) (*Node, error) {
	budget := maxTree
	root := &Node{Type: m.Name, Base: m.Name, Array: arrayNames[schema.Single]}
	root.expand(m, &budget)
	if budget < 0 {
		return nil, tooLarge(m.Name)
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

func (n *Node) expand(m *schema.Message, budget *int) {
	for _, f := range m.Fields {
		if *budget--; *budget < 0 {
			return
		}
		child := &Node{Name: f.Name, Type: typeText(f.Type), Base: baseText(f.Type), Array: arrayNames[f.Type.Array],
			Length: f.Type.Len}
		n.Fields = append(n.Fields, child)
		if f.Type.Kind == schema.Struct {
			child.expand(f.Type.Message, budget)
		}
	}
}

func tooLarge(name string) error {
	return fmt.Errorf("definition of %s: it expands to more than 100,000 fields", name)
}

var arrayNames = [...]string{schema.Single: "single", schema.Fixed: "fixed", schema.Bounded: "bounded",
	schema.Unbounded: "unbounded"}

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

// OfProto expands a protobuf message. A type within itself is not expanded again.
func OfProto(md protoreflect.MessageDescriptor) (*Node, error) {
	budget := maxTree
	name := string(md.FullName())
	root := &Node{Type: name, Base: name, Array: arrayNames[schema.Single]}
	root.expandProto(md, map[protoreflect.FullName]bool{}, &budget)
	if budget < 0 {
		return nil, tooLarge(name)
	}
	return root, nil
}

func (n *Node) expandProto(md protoreflect.MessageDescriptor, on map[protoreflect.FullName]bool, budget *int) {
	if on[md.FullName()] {
		return
	}
	on[md.FullName()] = true
	defer delete(on, md.FullName())
	for i := range md.Fields().Len() {
		if *budget--; *budget < 0 {
			return
		}
		f := md.Fields().Get(i)
		base := protoschema.TypeName(f)
		child := &Node{Name: string(f.Name()), Type: base, Base: base, Array: arrayNames[schema.Single]}
		if f.IsList() {
			child.Type, child.Array = base+"[]", arrayNames[schema.Unbounded]
		}
		n.Fields = append(n.Fields, child)
		if f.Message() != nil && !f.IsMap() {
			child.expandProto(f.Message(), on, budget)
		}
	}
}
