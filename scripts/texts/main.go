// Command texts prints all text that users read, so that it can be read in one go: the manual
// page, README.md and docs/, and every message in the code with its place.
//
//	go run ./scripts/texts > texts.txt
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "texts:", err)
		os.Exit(1)
	}
}

// run prints all text of the module in root.
func run(w io.Writer, root string) error {
	man := exec.Command("go", "run", "./cmd/bagconv", "man")
	man.Dir, man.Stdout, man.Stderr = root, w, os.Stderr
	if err := man.Run(); err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "scripts" || d.Name() == "storagetest" ||
			len(d.Name()) > 1 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			return printFile(w, path)
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".pb.go"):
			return printMessages(w, path)
		}
		return nil
	})
}

func printFile(w io.Writer, path string) error {
	b, err := os.ReadFile(path)
	fmt.Fprintf(w, "\n==== %s\n%s", path, b)
	return err
}

// printMessages prints the texts of a Go file: strings of at least three words.
func printMessages(w io.Writer, path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	title := "\n==== " + path + "\n"
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err == nil && len(strings.Fields(text)) >= 3 {
			fmt.Fprintf(w, "%s%d: %s\n", title, set.Position(lit.Pos()).Line, text)
			title = ""
		}
		return true
	})
	return nil
}
