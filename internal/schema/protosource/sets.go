package protosource

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// maxSets bounds all sets, in bytes.
const maxSets = 64 << 20

// sets puts the files that were compiled into sets in which each name is defined once.
func (c *compiler) sets() (list [][]byte, err error) {
	main, total := new(protoregistry.Files), 0
	closures := []*closure{{}}
	for _, f := range c.order {
		if closures[0].hasImportsOf(f) && main.RegisterFile(f) == nil {
			closures[0].add(f)
			continue
		}
		own := &closure{}
		own.add(f)
		closures = append(closures, own)
	}
	for _, set := range closures {
		n := len(set.files.File)
		if n == 0 {
			continue
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(&set.files)
		if total += len(data); err == nil && total > maxSets {
			err = fmt.Errorf("%s: the files that define the same names are out of proportion", set.files.File[n-1].GetName())
		}
		if err != nil {
			return list, err
		}
		list = append(list, data)
	}
	return list, nil
}

// A closure is files with all that they import.
type closure struct {
	files descriptorpb.FileDescriptorSet
	has   map[string]bool
}

// hasImportsOf reports whether a file would come alone, but for files of the compiler's own.
func (c *closure) hasImportsOf(f protoreflect.FileDescriptor) bool {
	for i := range f.Imports().Len() {
		if name := f.Imports().Get(i).Path(); !c.has[name] && standard(name) == nil {
			return false
		}
	}
	return true
}

// add adds a file, after the files that it imports.
func (c *closure) add(f protoreflect.FileDescriptor) {
	if c.has[f.Path()] {
		return
	}
	if c.has == nil {
		c.has = map[string]bool{}
	}
	c.has[f.Path()] = true
	for i := range f.Imports().Len() {
		c.add(f.Imports().Get(i).FileDescriptor)
	}
	c.files.File = append(c.files.File, protodesc.ToFileDescriptorProto(f))
}
