package cyber

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// A channel describes its type by a tree: the file that defines the type, and below each file its
// imports, in their order, every time anew (cyber/message/protobuf_factory.cc). Apollo's loader
// walks tree and imports side by side, so nothing may be shared or left out, and a file that many
// import stands in the tree many times:
//
//	ProtoDesc { 1: FileDescriptorProto, 2: ProtoDesc, 2: ProtoDesc, ... }
//
// Two limits keep that in hand.
const (
	maxTree  = 64 << 20 // bytes of one ProtoDesc: what an old protobuf reads of one message
	maxDepth = 100      // messages inside each other that protobuf reads
)

// descTrees makes ProtoDesc trees. A set that was seen before is not parsed
// again, and types of one file share one tree. The zero value is ready.
type descTrees struct {
	sets map[[sha256.Size]byte]*descSet
}

// A descSet is a FileDescriptorSet, parsed as far as a tree needs it.
type descSet struct {
	files  []*descFile
	byName map[string]*descFile
}

// tree returns the serialized ProtoDesc for type typ of a serialized FileDescriptorSet: of the file
// that defines typ or, if no file does, of the last file. The order of the files does not matter
// otherwise. Imports that are not in the set, or that close a circle, are left out. The tree of an
// empty set is empty. The result is shared and must not be changed. Errors wrap storage.ErrCorrupt
// or storage.ErrUnsupported.
func (d *descTrees) tree(set []byte, typ string) ([]byte, error) {
	if len(set) == 0 {
		return nil, nil
	}
	key := sha256.Sum256(set)
	s := d.sets[key]
	if s == nil {
		var err error
		if s, err = parseSet(bytes.Clone(set)); err != nil {
			return nil, err
		}
		if d.sets == nil {
			d.sets = map[[sha256.Size]byte]*descSet{}
		}
		d.sets[key] = s
	}
	root := s.defining(typ)
	if root == nil {
		return nil, nil
	}
	if root.tree == nil {
		if err := s.measure(root, 1); err != nil {
			for _, f := range s.files { // what it did not come to
				if f.state == measuring {
					f.state, f.deps = notMeasured, nil
				}
			}
			return nil, err
		}
		root.tree = root.appendTree(make([]byte, 0, root.size))
	}
	return root.tree, nil
}

// measure finds the imports of f, and the size and depth of its tree, without
// making it. level is how deep f stands.
func (s *descSet) measure(f *descFile, level int) error {
	switch {
	case f.state == measured:
		return nil
	case level > maxDepth:
		return fmt.Errorf("files import each other %d deep: %w", level, storage.ErrUnsupported)
	}
	f.state = measuring
	f.size = protowire.SizeTag(1) + protowire.SizeBytes(len(f.raw))
	f.depth = 1
	for _, name := range f.imports {
		dep := s.byName[name]
		if dep == nil || dep.state == measuring { // a circle cannot be written as a tree
			continue
		}
		if err := s.measure(dep, level+1); err != nil {
			return err
		}
		f.deps = append(f.deps, dep)
		f.size += protowire.SizeTag(2) + protowire.SizeBytes(dep.size)
		f.depth = max(f.depth, 1+dep.depth)
		if f.size > maxTree {
			return fmt.Errorf("the imports of %.200q are over %d MB when each is written out: %w", f.name, maxTree>>20,
				storage.ErrUnsupported)
		}
		if f.depth > maxDepth {
			return fmt.Errorf("files import each other %d deep: %w", f.depth, storage.ErrUnsupported)
		}
	}
	f.state = measured
	return nil
}

// appendTree appends the ProtoDesc of f, which is measured.
func (f *descFile) appendTree(b []byte) []byte {
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, f.raw)
	for _, dep := range f.deps {
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(dep.size))
		b = dep.appendTree(b)
	}
	return b
}

// defining returns the file that defines a message type, or the last one. It is
// nil when there are no files.
func (s *descSet) defining(typ string) *descFile {
	for _, f := range s.files {
		rest := typ
		if f.pkg != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(typ, f.pkg+"."); !ok {
				continue
			}
		}
		if defines(f.messages, rest) {
			return f
		}
	}
	if len(s.files) == 0 {
		return nil
	}
	return s.files[len(s.files)-1]
}
