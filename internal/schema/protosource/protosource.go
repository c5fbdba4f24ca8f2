// Package protosource makes descriptors of .proto files: proto2, proto3 and edition 2023.
//
//	proto/arm/joint.proto    import "arm/link.proto";  means proto/arm/link.proto
//	proto/arm/link.proto     package arm; message Link { optional string name = 1; }
//
// Each file is compiled once, after the files that it imports; which file an import means is the
// caller's to say, but for google/protobuf/*.proto, which are part of the compiler. A file with an
// error is left out, with all that import it, and every error has the file and the line.
//
// Refused are files that import themselves, imports more than 100 deep, braces more than 100 deep,
// and what is out of proportion: over 10,000 files, 1 MiB in one, 16 MiB in all, names of over 256
// bytes, full names of over 32 MiB together. Compile may be called concurrently.
package protosource

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The limits of one call.
const (
	maxFiles  = 10_000
	maxFile   = 1 << 20  // bytes
	maxText   = 16 << 20 // bytes
	maxNames  = 32 << 20 // bytes
	maxDepth  = 100      // of imports, and of braces
	maxWord   = 256      // bytes
	wellKnown = "google/protobuf/"
)

// A File is a .proto file.
type File struct {
	Path string // its name in the descriptors and in errors; each file has another
	Text string
}

// IsStandard reports whether a path is the path of a file that the compiler has, below any folder.
func IsStandard(name string) bool {
	return path.Base(path.Dir(name)) == "protobuf" && standard(wellKnown+path.Base(name)) != nil
}

// standard returns a file of the compiler's own; nil for others.
func standard(name string) linker.File {
	if !strings.HasPrefix(name, wellKnown) {
		return nil
	}
	r, err := protocompile.WithStandardImports(none).FindFileByPath(name)
	if err != nil || r.Desc == nil {
		return nil
	}
	f, err := linker.NewFileRecursive(r.Desc)
	if err != nil {
		return nil
	}
	return f
}

var none = protocompile.ResolverFunc(func(string) (protocompile.SearchResult, error) {
	return protocompile.SearchResult{}, errors.New("there is no such file")
})

// Compile compiles files. find returns the file that an import in a file means, or nil; it need not
// be one of files. The result is serialized FileDescriptorSets of all files without an error and of
// the files that they import: one, and one more for each file that defines what another one has
// defined.
func Compile(files []*File, find func(importer *File, name string) *File) (sets [][]byte, problems []error) {
	c := compiler{find: find, done: map[string]*result{}}
	for _, f := range files {
		if r := c.compile(f, 0); r.err != nil {
			problems = append(problems, r.err)
		}
	}
	sets, err := c.sets()
	if err != nil {
		problems = append(problems, err)
	}
	return sets, problems
}

type compiler struct {
	find  func(*File, string) *File
	done  map[string]*result // by path
	order []linker.File      // that were compiled, each after the files that it imports
	text  int                // bytes that were read
	names int                // bytes of full names
}

// result is a file that was compiled, or why it was not. It is the zero value until then.
type result struct {
	file linker.File
	err  error
}

// compile compiles a file and what it imports.
func (c *compiler) compile(f *File, depth int) *result {
	if r := c.done[f.Path]; r != nil {
		return r
	}
	r := &result{}
	c.done[f.Path] = r
	if r.err = c.admit(f, depth); r.err == nil {
		r.file, r.err = c.build(f, depth)
	}
	if r.err == nil {
		c.order = append(c.order, r.file)
	}
	return r
}

// admit counts a file against the limits.
func (c *compiler) admit(f *File, depth int) error {
	c.text += len(f.Text)
	switch {
	case depth > maxDepth:
		return fmt.Errorf("%s: imports are more than %d deep", f.Path, maxDepth)
	case len(c.done) > maxFiles:
		return fmt.Errorf("%s: over %d .proto files", f.Path, maxFiles)
	case len(f.Text) > maxFile || c.text > maxText:
		return fmt.Errorf("%s: over %d MiB, or over %d MiB in all", f.Path, maxFile>>20, maxText>>20)
	}
	if line, what := excess(f.Text); line > 0 {
		return fmt.Errorf("%s:%d: %s", f.Path, line, what)
	}
	return nil
}

// build makes the descriptor of a file. The compiler is not ours: a panic of it is an error.
func (c *compiler) build(f *File, depth int) (file linker.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("%s: the compiler of .proto files failed: %v", f.Path, p)
		}
	}()
	h := reporter.NewHandler(nil)
	tree, err := parser.Parse(f.Path, strings.NewReader(f.Text), h)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ResultFromAST(tree, true, h)
	if err != nil {
		return nil, err
	}
	fd := parsed.FileDescriptorProto()
	if c.names += namesOf(fd); c.names > maxNames {
		return nil, fmt.Errorf("%s: the names of its types and fields are out of proportion", f.Path)
	}
	imports, err := c.imports(f, tree, fd, depth)
	if err != nil {
		return nil, err
	}
	all := protocompile.Compiler{MaxParallelism: 1,
		Resolver: protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
			switch {
			case name == f.Path:
				return protocompile.SearchResult{ParseResult: parsed}, nil
			case imports[name] != nil:
				return protocompile.SearchResult{Desc: imports[name]}, nil
			}
			return none(name)
		})}
	out, err := all.Compile(context.Background(), f.Path)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// imports compiles what a file imports, and puts the paths of these files in the place of the names
// under which it imports them.
func (c *compiler) imports(f *File, tree *ast.FileNode, fd *descriptorpb.FileDescriptorProto,
	depth int) (map[string]linker.File, error) {
	list := map[string]linker.File{}
	for i, name := range fd.Dependency {
		at := fmt.Sprintf("%s:%d: ", f.Path, lineOfImport(tree, name))
		if std := standard(name); std != nil {
			list[name] = std
			continue
		}
		if name == "" || path.Clean("/"+name) != "/"+name || strings.Contains(name, `\`) {
			return nil, fmt.Errorf("%s%q is not the name of a file that can be imported", at, clip(name))
		}
		other := c.find(f, name)
		if other == nil {
			return nil, fmt.Errorf("%simport %q: no place has that file", at, clip(name))
		}
		r := c.compile(other, depth+1)
		switch {
		case r.err != nil:
			return nil, fmt.Errorf("%simport %q: %s has an error", at, clip(name), other.Path)
		case r.file == nil:
			return nil, fmt.Errorf("%simport %q: the files import each other", at, clip(name))
		}
		list[other.Path], fd.Dependency[i] = r.file, other.Path
	}
	return list, nil
}

func lineOfImport(tree *ast.FileNode, name string) int {
	for _, d := range tree.Decls {
		if x, ok := d.(*ast.ImportNode); ok && x.Name.AsString() == name {
			return tree.NodeInfo(x).Start().Line
		}
	}
	return 1
}

// clip keeps error messages short.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
