// Package protoschema brings protobuf descriptors and the type graph of package
// schema together: which ROS type a protobuf message becomes, which descriptor a
// ROS type becomes, and which field of one is which field of the other.
//
//	set, err := protoschema.Parse(fileDescriptorSet)
//	md := set.Message("apollo.canbus.Chassis")
//	msg, err := namer.ROS(md)            // apollo_canbus/Chassis
//	pair, err := protoschema.Bind(md, msg)
//
// The rules are in names.go, derive.go (protobuf to ROS) and descriptor.go (ROS
// to protobuf); docs/mapping.md shows them to the user.
//
// Descriptors are not trusted: size, number of types, depth and the bytes that
// an empty message would become are limited. Each Set has a registry of its own,
// so two versions of one type name never meet.
//
// A Set, a Struct and all graphs are immutable once made. A Namer is used by one
// goroutine.
package protoschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The limits of a set of descriptors.
const (
	maxSetSize  = 64 << 20 // bytes
	maxSetFiles = 10_000
)

// A Set holds the types of one FileDescriptorSet.
type Set struct{ files *protoregistry.Files }

// Parse reads a serialized FileDescriptorSet. Imports that it lacks, and imports that close a
// circle, are tolerated: fields of their types are carried as bytes. Of two files that define the
// same names the first counts, and imports of the other mean it too.
func Parse(data []byte) (*Set, error) {
	if len(data) > maxSetSize {
		return nil, fmt.Errorf("its descriptors have %d bytes, more than %d are not read", len(data), maxSetSize)
	}
	fds := &descriptorpb.FileDescriptorSet{}
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(data, fds); err != nil {
		text := strings.ReplaceAll(err.Error(), "\u00a0", " ") // the library has one or the other, by the build
		return nil, fmt.Errorf("its descriptors cannot be read: %s", text)
	}
	if len(fds.File) > maxSetFiles {
		return nil, fmt.Errorf("it has %d descriptor files, more than %d are not read", len(fds.File), maxSetFiles)
	}
	joinTwins(fds)
	files, err := link(fds)
	if err != nil {
		return nil, fmt.Errorf("its descriptors do not fit together: %w", err)
	}
	return &Set{files}, nil
}

// joinTwins drops files that define what another file of the set has defined
// already, as happens when a program is linked with the old and the new layout
// of Apollo's messages, and turns imports of them to that other file.
func joinTwins(fds *descriptorpb.FileDescriptorSet) {
	owner, names, sameAs := map[string]string{}, map[string]bool{}, map[string]string{}
	kept := fds.File[:0]
	for _, f := range fds.File {
		if names[f.GetName()] {
			continue
		}
		prefix := f.GetPackage() + "."
		var symbols []string
		for _, m := range f.MessageType {
			symbols = append(symbols, prefix+m.GetName())
		}
		for _, e := range f.EnumType {
			symbols = append(symbols, prefix+e.GetName())
		}
		first := ""
		for _, s := range symbols {
			if owner[s] != "" {
				first = owner[s]
			}
		}
		if first != "" {
			sameAs[f.GetName()] = first
			continue
		}
		for _, s := range symbols {
			owner[s] = f.GetName()
		}
		names[f.GetName()] = true
		kept = append(kept, f)
	}
	fds.File = kept
	if len(sameAs) == 0 {
		return
	}
	for _, f := range fds.File {
		seen := map[string]bool{f.GetName(): true}
		deps := f.Dependency[:0]
		for _, d := range f.Dependency {
			if t := sameAs[d]; t != "" {
				d = t
			}
			if !seen[d] {
				seen[d] = true
				deps = append(deps, d)
			}
		}
		f.Dependency, f.PublicDependency, f.WeakDependency = deps, nil, nil
	}
}

// ErrNoType is the error of Message for a name that the set does not define.
var ErrNoType = errors.New("its descriptors do not define the type")

// Message returns the descriptor of a message by its full name.
func (s *Set) Message(name string) (protoreflect.MessageDescriptor, error) {
	d, err := s.files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, fmt.Errorf("%w %s", ErrNoType, name)
	}
	m, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a message in its descriptors", name)
	}
	return m, nil
}

// Messages lists the messages that the files have outside of others, by name.
func (s *Set) Messages() (list []protoreflect.MessageDescriptor) {
	s.files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Messages().Len() {
			list = append(list, f.Messages().Get(i))
		}
		return true
	})
	slices.SortFunc(list, func(a, b protoreflect.MessageDescriptor) int {
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return list
}

// FileSet returns the serialized FileDescriptorSet of md: its file and all that
// it imports, dependencies first, with the names that rename has for them; nil
// keeps the names.
func FileSet(md protoreflect.MessageDescriptor, rename func(string) string) ([]byte, error) {
	fds := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] || f.IsPlaceholder() {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		p := protodesc.ToFileDescriptorProto(f)
		if rename != nil {
			*p.Name = rename(*p.Name)
			for i, d := range p.Dependency {
				p.Dependency[i] = rename(d)
			}
		}
		if p.Options != nil { // what is for our own code only
			p.Options.GoPackage = nil
			if proto.Size(p.Options) == 0 {
				p.Options = nil
			}
		}
		fds.File = append(fds.File, p)
	}
	add(md.ParentFile())
	return proto.MarshalOptions{Deterministic: true}.Marshal(fds)
}

// Shape returns the same for serialized FileDescriptorSets that describe the same fields by
// the same names and numbers, whatever options and origins their messages have. Of
// what is no such set it is the bytes themselves.
func Shape(data []byte) string {
	if b, err := bare(data); err == nil {
		data = b
	}
	return string(data)
}

// bare drops the options of messages.
func bare(data []byte) ([]byte, error) {
	fds := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(data, fds); err != nil {
		return nil, err
	}
	for _, f := range fds.File {
		for _, m := range f.MessageType {
			if !m.GetOptions().GetMapEntry() {
				m.Options = nil
			}
		}
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(fds)
}
