package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vagueNames are participles and adverbs that were names once, and that a reader had to
// look up: a name is a noun and its role.
var vagueNames = strings.Fields("described given held how late opened over said taken turn twin")

// riddles are phrases of comments that a reader has to read twice. CONTRIBUTING.md has
// better ones.
var riddles = regexp.MustCompile(`tells? whether|\b(held|hold|holds) against\b|has them not|have them not|of which the first`)

// TestWords: no name in the code is vague, and no comment is a riddle.
func TestWords(t *testing.T) {
	for _, path := range goFiles(t) {
		for _, found := range wordsOf(t, path, nil) {
			t.Error(found)
		}
	}
}

// wordsOf lists the vague names and riddles of a file; src nil: it is read.
func wordsOf(t *testing.T, path string, src any) (found []string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	for _, group := range file.Comments {
		if phrase := riddles.FindString(group.Text()); phrase != "" {
			found = append(found, set.Position(group.Pos()).String()+": a comment has "+phrase)
		}
	}
	name := func(names ...*ast.Ident) {
		for _, id := range names {
			if id != nil && slices.Contains(vagueNames, id.Name) {
				found = append(found, set.Position(id.Pos()).String()+": the name "+id.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.TypeSpec:
			name(x.Name)
		case *ast.FuncDecl:
			name(x.Name)
		case *ast.Field:
			name(x.Names...)
		case *ast.ValueSpec:
			name(x.Names...)
		case *ast.AssignStmt:
			for _, left := range x.Lhs {
				if id, ok := left.(*ast.Ident); ok && x.Tok == token.DEFINE {
					name(id)
				}
			}
		}
		return true
	})
	return found
}

// TestWordsOf: each kind of name counts, and comments do.
func TestWordsOf(t *testing.T) {
	src := "package p\n\n// f tells whether.\nfunc twin(over int) { said := over; _ = said }\n\ntype held struct{ taken bool }\n\nvar how int\n\nvar fine, overlay = 1, held{}\n"
	if found := wordsOf(t, "x.go", src); len(found) != 7 {
		t.Errorf("%d found: %q", len(found), found)
	}
}
