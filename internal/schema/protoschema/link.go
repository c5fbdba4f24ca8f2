package protoschema

import (
	"errors"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// link builds the files of a set, each after the files that it imports, and returns their registry.
// A file sees the types of its imports and no others, so that the result does not depend on the
// order of the files; types that it does not see are place-holders. An import that closes a circle
// is left out.
func link(fds *descriptorpb.FileDescriptorSet) (*protoregistry.Files, error) {
	l := linker{files: new(protoregistry.Files), byName: map[string]*descriptorpb.FileDescriptorProto{},
		state: map[string]linkState{}}
	for _, f := range fds.File {
		if l.byName[f.GetName()] == nil {
			l.byName[f.GetName()] = f
		}
	}
	for _, f := range fds.File {
		if err := l.add(f, 1); err != nil {
			return nil, err
		}
	}
	return l.files, nil
}

// maxImportDepth bounds how deep files may import each other.
const maxImportDepth = 1000

var errImportDepth = errors.New("its files import each other too deeply")

// linkState is how far a linker is with a file.
type linkState uint8

const (
	notLinked linkState = iota
	linking
	linked
)

type linker struct {
	files  *protoregistry.Files
	byName map[string]*descriptorpb.FileDescriptorProto
	state  map[string]linkState
}

// add builds a file and what it imports.
func (l *linker) add(f *descriptorpb.FileDescriptorProto, depth int) error {
	name := f.GetName()
	if l.state[name] != notLinked {
		return nil
	}
	if depth > maxImportDepth {
		return errImportDepth
	}
	l.state[name] = linking
	dropImports(f)
	for _, dep := range f.Dependency {
		if d := l.byName[dep]; d != nil {
			if err := l.add(d, depth+1); err != nil {
				return err
			}
		}
	}
	d, err := (protodesc.FileOptions{AllowUnresolvable: true}).New(f, l.importsOf(f))
	if err != nil {
		return err
	}
	l.state[name] = linked
	return l.files.RegisterFile(d)
}

// dropImports drops the imports of a file that it has already, or that are the
// file itself.
func dropImports(f *descriptorpb.FileDescriptorProto) {
	seen, public := map[string]bool{f.GetName(): true}, map[int32]bool{}
	for _, i := range f.PublicDependency {
		public[i] = true
	}
	var deps []string
	var publics []int32
	for i, dep := range f.Dependency {
		if seen[dep] {
			continue
		}
		seen[dep] = true
		if public[int32(i)] {
			publics = append(publics, int32(len(deps)))
		}
		deps = append(deps, dep)
	}
	if len(deps) < len(f.Dependency) {
		f.Dependency, f.PublicDependency, f.WeakDependency = deps, publics, nil
	}
}

// imports is what a file sees of the files that are built: the files that it imports, and what
// these import publicly.
type imports struct {
	files   *protoregistry.Files
	visible map[string]bool
}

func (l *linker) importsOf(f *descriptorpb.FileDescriptorProto) imports {
	in := imports{l.files, map[string]bool{}}
	for _, dep := range f.Dependency {
		if d, err := l.files.FindFileByPath(dep); err == nil {
			in.add(d)
		}
	}
	return in
}

func (in imports) add(d protoreflect.FileDescriptor) {
	if in.visible[d.Path()] {
		return
	}
	in.visible[d.Path()] = true
	for i := range d.Imports().Len() {
		if x := d.Imports().Get(i); x.IsPublic {
			in.add(x.FileDescriptor)
		}
	}
}

// FindFileByPath finds a file that is imported. See protodesc.Resolver.
func (in imports) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if !in.visible[path] {
		return nil, protoregistry.NotFound
	}
	return in.files.FindFileByPath(path)
}

// FindDescriptorByName finds a type of a file that is imported. See protodesc.Resolver.
func (in imports) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	d, err := in.files.FindDescriptorByName(name)
	if err == nil && !in.visible[d.ParentFile().Path()] {
		return nil, protoregistry.NotFound
	}
	return d, err
}
