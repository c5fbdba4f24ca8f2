package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// fileSystems are the packages that make file systems: iox for the product, the others for tests.
var fileSystems = []string{"internal/iox/", "internal/testing/", "storage/storagetest/"}

// TestFileSystems: a file system on another one embeds an iox.Wrapped, because one that embeds a storage.FS
// loses what the other one can do beyond it; files are synced by iox.Sync, because not every file system can; and
// iox.OS is named only where the file system of a run is made, because it has no URLs: all else asks the one that
// it is given.
func TestFileSystems(t *testing.T) {
	for _, path := range goFiles(t, false) {
		rel, err := filepath.Rel(filepath.Join("..", ".."), path)
		if err != nil {
			t.Fatal(err)
		}
		if rel = filepath.ToSlash(rel); strings.HasSuffix(rel, "_test.go") || isAny(rel, fileSystems) {
			continue
		}
		if rel == "cmd/bagconv/cli/cli.go" {
			continue // it makes the file system of a run
		}
		for _, what := range misuses(t, path, nil) {
			t.Errorf("%s: %s", rel, what)
		}
	}
}

func isAny(path string, folders []string) bool {
	for _, f := range folders {
		if strings.HasPrefix(path, f) {
			return true
		}
	}
	return false
}

// misuses finds what TestFileSystems forbids in a file.
func misuses(t *testing.T, path string, src any) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if isName(n.X, "iox") && n.Sel.Name == "OS" {
				found = append(found, "iox.OS is named; ask the file system of the run")
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				if s, ok := f.Type.(*ast.SelectorExpr); ok && len(f.Names) == 0 && isName(s.X, "storage") && s.Sel.Name == "FS" {
					found = append(found, "a struct embeds storage.FS; embed iox.Wrapped")
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Sync" && len(n.Args) == 0 {
				found = append(found, "a file is synced by its own Sync; use iox.Sync")
			}
		}
		return true
	})
	return found
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// TestMisuses: what is forbidden is found.
func TestMisuses(t *testing.T) {
	got := misuses(t, "x.go", "package x\ntype a struct{ storage.FS; fs storage.FS }\nfunc f() { g.Sync(); iox.Sync(g); "+
		"iox.OS.Stat(g) }\n")
	if len(got) != 3 {
		t.Errorf("%q", got)
	}
}
