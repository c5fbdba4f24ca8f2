package cli

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
	"github.com/bagconv/bagconv/storage"
)

// protoDefinition returns the definition of a topic with protobuf messages: its
// descriptors as .proto text.
func protoDefinition(t *storage.Topic, m *mapping.Mapper) *definitionJSON {
	d := &definitionJSON{Topics: []string{t.Name}, Type: t.Type, Encoding: "protobuf", Origin: "file"}
	md, err := protoMessage(t)
	if len(t.Schema.Data) == 0 {
		def, wrong := m.Define(t)
		if wrong != nil {
			d.Encoding, d.Origin = "", "none"
			return d
		}
		md, d.Origin = def.Proto, def.Origin
	}
	if err != nil && md == nil {
		d.Text = fmt.Sprintf("// the descriptors in the file cannot be read: %v\n", err)
		return d
	}
	d.Text, d.proto = protoschema.ProtoText(md), md
	return d
}

func protoMessage(t *storage.Topic) (protoreflect.MessageDescriptor, error) {
	set, err := protoschema.Parse(t.Schema.Data)
	if err != nil {
		return nil, err
	}
	return set.Message(t.Type)
}

// protoTree expands a protobuf message. A type within itself is not expanded again.
func protoTree(md protoreflect.MessageDescriptor) (*treeNode, error) {
	budget := maxTree
	name := string(md.FullName())
	root := &treeNode{Type: name, Base: name, Array: arrayNames[schema.Single]}
	root.expandProto(md, map[protoreflect.FullName]bool{}, &budget)
	if budget < 0 {
		return nil, fmt.Errorf("definition of %s: it expands to more than %s fields", name, grouped(maxTree))
	}
	return root, nil
}

func (n *treeNode) expandProto(md protoreflect.MessageDescriptor, on map[protoreflect.FullName]bool, budget *int) {
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
		child := &treeNode{Name: string(f.Name()), Type: base, Base: base, Array: arrayNames[schema.Single]}
		if f.IsList() {
			child.Type, child.Array = base+"[]", arrayNames[schema.Unbounded]
		}
		n.Fields = append(n.Fields, child)
		if f.Message() != nil && !f.IsMap() {
			child.expandProto(f.Message(), on, budget)
		}
	}
}
