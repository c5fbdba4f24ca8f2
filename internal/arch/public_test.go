package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that other modules may import; formats/all opens any recording, and each format's folder has
// its Format for a program that wants no others.
var public = []string{
	"convert", "convert/check", "convert/values", "convert/verify", "export", "formats/all", "formats/cyber",
	"formats/mcap",
	"formats/rosbag1", "formats/rosbag2", "formats/ulog", "gen", "live", "live/foxglove", "live/ros1", "schema",
	"schema/builtin", "schema/rosidl",
	"schema/rosmsg", "storage", "storage/files", "storage/storagetest", "urls",
}

// maxExported is how many identifiers they may export together: what is exported is promised.
const maxExported = 600

// TestPublic: other modules can import the public packages, and no others; a format exports its Format and nothing
// else.
func TestPublic(t *testing.T) {
	out, err := exec.Command("go", "list", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, path := range strings.Fields(string(out)) {
		pkg := strings.TrimPrefix(path, module+"/")
		hidden := slices.Contains(strings.Split(pkg, "/"), "internal")
		if !hidden && !match("cmd/...", pkg) && !match("scripts/...", pkg) && !match("proto/...", pkg) &&
			pkg != "deploy/testdata" {
			list = append(list, pkg)
		}
	}
	if !slices.Equal(list, public) {
		t.Errorf("packages that other modules can import:\n%s\nand those that are meant to:\n%s", strings.Join(list, " "),
			strings.Join(public, " "))
	}
	total := 0
	for _, pkg := range public {
		names := exported(t, filepath.Join("..", "..", pkg))
		total += len(names)
		if match("formats/...", pkg) && pkg != "formats/all" && slices.ContainsFunc(names,
			func(s string) bool { return s != "Format" && s != "Folder" }) {
			t.Errorf("%s exports %s: a format exports its Format", pkg, strings.Join(names, " "))
		}
		t.Logf("%4d %s", len(names), pkg)
	}
	t.Logf("%4d in all", total)
	if total > maxExported {
		t.Errorf("the public packages export %d identifiers, over %d: what is added must go elsewhere, or something else "+
			"must go", total, maxExported)
	}
}

// forModule are types of what public packages export for other packages of this module alone, with who needs it.
var forModule = map[string]string{
	"convert/recording.Trace":  "convert.Tap, by which live/virtual follows a run",
	"convert/recording.Source": "the same",
	"convert/recording.Window": "convert.Maker, by which live/virtual makes a part of an output again",
	"convert/recording.Sink":   "the same",

	"convert/recording.Visitor": "check.Options.Also, by which report looks at the messages that check reads",
}

// TestPublicSignatures: what public packages export names no type of a package below internal/ but by an alias of a
// public package, so that other modules can name it.
func TestPublicSignatures(t *testing.T) {
	aliased := map[string]bool{} // package.Type
	for _, pkg := range public {
		for _, f := range files(t, filepath.Join("..", "..", pkg)) {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok && s.Assign.IsValid() && s.Name.IsExported() {
					if name := internalType(f, s.Type); name != "" {
						aliased[name] = true
					}
				}
				return true
			})
		}
	}
	if len(aliased) < 10 {
		t.Errorf("only %d aliases were found", len(aliased))
	}
	for _, pkg := range public {
		for _, f := range files(t, filepath.Join("..", "..", pkg)) {
			for _, n := range declared(f) {
				ast.Inspect(n, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.BlockStmt, *ast.BasicLit:
						return false
					case *ast.SelectorExpr:
						if name := internalType(f, n); name != "" && !aliased[name] && forModule[name] == "" {
							t.Errorf("%s has %s, which other modules cannot name", pkg, name)
						}
					}
					return true
				})
			}
		}
	}
}

// declared returns the exported declarations of a file: signatures, and the types of exported types without fields that
// are not exported. Aliases are left out.
func declared(f *ast.File) (list []ast.Node) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(d); d.Name.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
				list = append(list, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok || !s.Name.IsExported() || s.Assign.IsValid() {
					continue
				}
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, field := range st.Fields.List {
						if len(field.Names) == 0 || slices.ContainsFunc(field.Names,
							func(id *ast.Ident) bool { return id.IsExported() }) {
							list = append(list, field.Type)
						}
					}
				} else {
					list = append(list, s.Type)
				}
			}
		}
	}
	return list
}

// internalType returns the package and the name of a type of a package below internal/, or "".
func internalType(f *ast.File, x ast.Expr) string {
	s, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, imp := range f.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		if rest, ours := strings.CutPrefix(path, module+"/internal/"); ours &&
			id.Name == rest[strings.LastIndexByte(rest, '/')+1:] {
			return rest + "." + s.Sel.Name
		}
	}
	return ""
}

// files parses the files of a package, without those of tests.
func files(t *testing.T, dir string) (list []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal(dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// exported lists the identifiers that a package exports: types, functions, methods of exported types and of interfaces,
// constants and variables. Those of files for other systems count, too.
func exported(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, f := range files(t, dir) {
		names = append(names, exportedOf(f)...)
	}
	return names
}

func exportedOf(f *ast.File) (names []string) {
	add := func(prefix string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, prefix+id.Name)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(d); receiver == "" {
				add("", d.Name)
			} else if ast.IsExported(receiver) {
				add(receiver+".", d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					add("", s.Names...)
				case *ast.TypeSpec:
					add("", s.Name)
					if x, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
						for _, m := range x.Methods.List {
							add(s.Name.Name+".", m.Names...)
						}
					}
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of the type of a method, "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	x := d.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		default:
			return "?"
		}
	}
}

// TestExportedOf: what counts as exported.
func TestExportedOf(t *testing.T) {
	const src = `package x
const A, b = 1, 2
var C int
type D struct{ E int }
type f struct{}
type G interface { H(); i() }
func (d *D) J() {}
func (f) K() {}
func (d D) l() {}
func M[T any](T) {}
type N[T any] struct{}
func (n *N[T]) O() {}
`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(exportedOf(f), " "); got != "A C D G G.H D.J M N N.O" {
		t.Error(got)
	}
}
