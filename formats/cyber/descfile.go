package cyber

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// A descFile is a FileDescriptorProto, parsed as far as trees and sets need it.
type descFile struct {
	name, pkg string
	imports   []string
	messages  [][]byte // DescriptorProtos at the top
	raw       []byte   // all of it

	state treeState
	deps  []*descFile // imports that are in the set, once measured
	size  int         // bytes of its ProtoDesc, once measured
	depth int         // files below each other in it, itself included
	tree  []byte      // its ProtoDesc, once asked for
}

// treeState is how far a walk over imports is with a file.
type treeState uint8

const (
	notMeasured treeState = iota
	measuring
	measured
)

// Fields of google.protobuf.FileDescriptorProto and DescriptorProto.
const (
	fileName       = 1
	filePackage    = 2
	fileDependency = 3
	fileMessage    = 4
	messageName    = 1
	messageNested  = 3
)

var errDescriptor = fmt.Errorf("descriptors that cannot be read: %w", storage.ErrCorrupt)

// parseFile reads a FileDescriptorProto. The result refers to raw.
func parseFile(raw []byte) (*descFile, error) {
	f := &descFile{raw: raw}
	return f, eachBytes(raw, func(num protowire.Number, b []byte) {
		switch num {
		case fileName:
			f.name = string(b)
		case filePackage:
			f.pkg = string(b)
		case fileDependency:
			f.imports = append(f.imports, string(b))
		case fileMessage:
			f.messages = append(f.messages, b)
		}
	})
}

// parseSet reads a FileDescriptorSet. The result refers to set.
func parseSet(set []byte) (*descSet, error) {
	s := &descSet{byName: map[string]*descFile{}}
	var failed error
	err := eachBytes(set, func(num protowire.Number, b []byte) {
		if num != 1 {
			return
		}
		f, err := parseFile(b)
		if err != nil {
			failed = err
			return
		}
		if s.byName[f.name] == nil {
			s.byName[f.name] = f
			s.files = append(s.files, f)
		}
	})
	if err == nil {
		err = failed
	}
	return s, err
}

// defines reports whether a message of that name, "Outer.Inner", is among the
// DescriptorProtos, which stand in field nested of each other.
func defines(messages [][]byte, name string) bool {
	for name != "" {
		first, rest, _ := strings.Cut(name, ".")
		var found bool
		for _, m := range messages {
			var inner [][]byte
			var own string
			if eachBytes(m, func(num protowire.Number, b []byte) {
				switch num {
				case messageName:
					own = string(b)
				case messageNested:
					inner = append(inner, b)
				}
			}) == nil && own == first {
				messages, found = inner, true
				break
			}
		}
		if !found {
			return false
		}
		name = rest
	}
	return true
}

// eachBytes calls f for each length-delimited field of b.
func eachBytes(b []byte, f func(protowire.Number, []byte)) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errDescriptor
		}
		b = b[n:]
		if typ == protowire.BytesType {
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return errDescriptor
			}
			f(num, v)
			b = b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return errDescriptor
		}
		b = b[n:]
	}
	return nil
}
