// Typecheck checks the types of packages and of their tests for another system. go vet would
// compile all that they import first, and the standard library with it, for minutes; this reads it.
//
//	go run ./scripts/typecheck windows/amd64 ./...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A listed package is what go list has of it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
	Module          *struct{ GoVersion string }
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "type: typecheck OS/ARCHITECTURE PACKAGE...")
		os.Exit(2)
	}
	n, err := check(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s: the types of %d packages are right\n", os.Args[1], n)
}

// check returns how many packages were checked whole. Packages that are only imported do not count.
func check(system string, patterns []string) (n int, err error) {
	goos, goarch, _ := strings.Cut(system, "/")
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return 0, fmt.Errorf("there is no architecture %q in %q", goarch, system)
	}
	list := exec.Command("go",
		append([]string{"list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Module"}, patterns...)...)
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err == nil {
		err = list.Start()
	}
	if err != nil {
		return 0, err
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	files := token.NewFileSet()
	var problems []error
	for d := json.NewDecoder(out); ; { // what is imported comes first
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return n, errors.Join(err, list.Wait())
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // a main function that go test makes
			continue
		}
		pkg, wrong := p.types(files, sizes, done)
		done[p.ImportPath] = pkg
		if p.whole() {
			n++
		}
		problems = append(problems, wrong...)
	}
	if err := list.Wait(); err != nil {
		problems = append(problems, fmt.Errorf("go list: %w", err))
	}
	return n, errors.Join(problems...)
}

// whole reports whether a package was asked for, or is one with its tests.
func (p *listed) whole() bool { return !p.DepOnly || strings.HasSuffix(p.ImportPath, "]") }

// types checks the types of a package: without the bodies of its functions if it is only imported.
func (p *listed) types(files *token.FileSet, sizes types.Sizes, done map[string]*types.Package) (pkg *types.Package,
	problems []error) {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		parsed = append(parsed, file)
	}
	config := types.Config{
		Importer: imports{p, done}, Sizes: sizes, IgnoreFuncBodies: !p.whole(), FakeImportC: true,
		Error: func(err error) { problems = append(problems, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, _ = config.Check(path, files, parsed, nil) // its error is the first of problems
	return pkg, problems
}

// imports are what a package imports, which was checked before.
type imports struct {
	*listed
	done map[string]*types.Package
}

// Import returns a package by the name that the source has for it.
func (i imports) Import(name string) (*types.Package, error) {
	if mapped, ok := i.ImportMap[name]; ok {
		name = mapped
	}
	if pkg := i.done[name]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("%s imports %s, which go list does not have before it", i.ImportPath, name)
}
