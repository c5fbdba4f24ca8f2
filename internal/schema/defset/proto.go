package defset

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
)

// maxDescriptors bounds a file with descriptors, in bytes.
const maxDescriptors = 16 << 20

// descriptors are a serialized FileDescriptorSet, as protoc --descriptor_set_out writes it.
type descriptors struct {
	data  []byte
	path  string // "" of descriptors that are made of .proto files
	place string // "" if it is the place of the Set
}

// pathOf returns the path of the file that defines one of the messages.
func (d *descriptors) pathOf(md protoreflect.MessageDescriptor) string {
	path := d.path
	if path == "" {
		path = md.ParentFile().Path()
	}
	if d.place != "" {
		return d.place + ": " + path
	}
	return path
}

// name returns the name of a file in a pack: the same for the same descriptors at the same place in
// the order, which decides what counts.
func (d *descriptors) name(i int) string {
	sum := sha256.Sum256(d.data)
	return fmt.Sprintf("descriptors/%05d-%x%s", i+1, sum[:8], descriptorsExt)
}

// A protoType is a message of some descriptors.
type protoType struct {
	md   protoreflect.MessageDescriptor
	from *descriptors
}

// AddDescriptors adds the messages of a serialized FileDescriptorSet. Of two descriptors for one
// name the first counts, and Problems names the other if it differs.
func (s *Set) AddDescriptors(data []byte, path string) error {
	return s.addDescriptors(&descriptors{data: data, path: path})
}

func (s *Set) addDescriptors(from *descriptors) error {
	for _, d := range s.descriptors {
		if bytes.Equal(d.data, from.data) {
			return nil
		}
	}
	set, err := protoschema.Parse(from.data)
	if err != nil {
		return err
	}
	used := false
	for _, md := range set.Messages() {
		name := string(md.FullName())
		old, known := s.protos[name]
		switch {
		case !known:
			s.protos[name], used = protoType{md, from}, true
		case !proto.Equal(protodesc.ToDescriptorProto(old.md), protodesc.ToDescriptorProto(md)):
			line := fmt.Sprintf("%s: %s is defined by %s already, and otherwise; that one is used", from.pathOf(md), name,
				old.from.pathOf(old.md))
			if !s.told[line] { // by another set with the same file
				s.told[line] = true
				s.Problems = append(s.Problems, line)
			}
		}
	}
	if used {
		s.descriptors = append(s.descriptors, from)
	}
	return nil
}

// Descriptor returns the descriptor of a protobuf message by its full name; nil if the Set does not
// have it.
func (s *Set) Descriptor(name string) protoreflect.MessageDescriptor { return s.protos[name].md }

// protoEntries describes the protobuf messages, by name.
func (s *Set) protoEntries(file func(*descriptors, protoreflect.MessageDescriptor) string) (list []Entry) {
	for _, name := range slices.Sorted(maps.Keys(s.protos)) {
		list = append(list, Entry{Type: name, Kind: "desc", File: file(s.protos[name].from, s.protos[name].md)})
	}
	return list
}

// mergeProtos adds the descriptors of another Set. They were read once, so they can be again.
func (s *Set) mergeProtos(other *Set, placed bool) {
	for _, d := range other.descriptors {
		c := &descriptors{data: d.data, path: d.path}
		if placed {
			c.place = other.Place
		}
		if err := s.addDescriptors(c); err != nil {
			s.Problems = append(s.Problems, fmt.Sprintf("%s: %v", d.path, err))
		}
	}
}
