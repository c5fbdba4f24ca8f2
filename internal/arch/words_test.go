package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vagueNames are participles and adverbs that were names once, and that a reader had to
// look up: a name is a noun and its role.
var vagueNames = strings.Fields("described given held how late mostly opened over said taken turn turned twin")

// vagueMembers are words that are clear as a variable of a few lines, but not as the name of
// a type, a function or a field.
var vagueMembers = strings.Fields("alone asked begun beyond elsewhere found gathered gone looked most nothing said " +
	"shown soon stored thinned twice wanted")

// unnamed are the packages that still have some of these.
var unnamed = map[string]string{
	"formats/cyber":          "found twice wanted",
	"formats/mcap":           "begun stored wanted",
	"formats/rosbag1":        "stored",
	"formats/rosbag2":        "asked most soon wanted",
	"internal/schema/defset": "wanted",
}

// A riddle is a phrase, as a regular expression, and what to write instead.
type riddle struct {
	phrase  *regexp.Regexp
	instead string
}

// riddles are phrases of comments and documents that a reader has to read twice, and what to
// write instead. CONTRIBUTING.md lists them, too.
var riddles = []riddle{
	{regexp.MustCompile(`tells? whether`), "reports whether"},
	{regexp.MustCompile(`\b(held|hold|holds) against\b`), "compare"},
	{regexp.MustCompile(`\b(has|have) them not\b`), "if not implemented: nil"},
	{regexp.MustCompile(`of which the first`), "the first of them"},
	{regexp.MustCompile(`\b(it|that|this|what \w+) is said\b`), "is reported"},
	{regexp.MustCompile(`\bwhere there (is|are) none\b`), "if there is none"},
	{regexp.MustCompile(`\bare said to\b`), "the file has them as"},
	{regexp.MustCompile(`\bpass(ed|es) over\b`), "skip"},
	{regexp.MustCompile(`\b(hold|holds|held)\b[^.]{0,60}\bagainst\b`), "compare"},
}

// pronouns are phrases of comments and messages in which a pronoun stands for a noun that the reader has to look for.
var pronouns = []riddle{
	{regexp.MustCompile(`\b(that|those)\s+of\b`), "the noun again: the definition of the row"},
	{regexp.MustCompile(`\b(are|was|were)\s+none\b`), "the noun: not a record, no chunk"},
	{regexp.MustCompile(`(^|[^e])\s+is\s+none\b`), "the noun: not a record, no chunk"}, // "nil if there is none" may stay
	{regexp.MustCompile(`\bis\s+had\b`), "exists, is read, is known"},
}

// firstRiddle returns the first riddle in a text, with the better phrase, or "".
func firstRiddle(text string, lists ...[]riddle) string {
	for _, r := range slices.Concat(append(lists, riddles)...) {
		if found := r.phrase.FindString(text); found != "" {
			return found + ": write " + r.instead
		}
	}
	return ""
}

// TestWordsOfDocuments: no document has a riddle, but for the list of them.
func TestWordsOfDocuments(t *testing.T) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if found := firstRiddle(line); found != "" && !strings.HasPrefix(line, "|") {
					t.Errorf("%s:%d: %s", path, i+1, found)
				}
			}
		}
	}
}

// TestWords: no name in the code is vague, and no comment is a riddle.
func TestWords(t *testing.T) {
	for _, path := range goFiles(t, false) {
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
		if phrase := firstRiddle(group.Text(), pronouns); phrase != "" {
			found = append(found, set.Position(group.Pos()).String()+": a comment has "+phrase)
		}
	}
	pending := strings.Fields(unnamed[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")])
	member := func(names ...*ast.Ident) {
		for _, id := range names {
			if slices.Contains(vagueMembers, id.Name) && !slices.Contains(pending, id.Name) {
				found = append(found, set.Position(id.Pos()).String()+": the name "+id.Name)
			}
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
		case *ast.BasicLit:
			if phrase := firstRiddle(x.Value, pronouns); x.Kind == token.STRING && phrase != "" {
				found = append(found, set.Position(x.Pos()).String()+": a text has "+phrase)
			}
		case *ast.TypeSpec:
			name(x.Name)
			member(x.Name)
		case *ast.StructType:
			for _, f := range x.Fields.List {
				member(f.Names...)
			}
		case *ast.FuncDecl:
			name(x.Name)
			member(x.Name)
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
	src := "package p\n\n// f tells whether.\nfunc twin(over int) { said := over; _ = said }\n\ntype held struct{ " +
		"taken, stored bool }\n\nfunc nothing(found bool) {}\n\nvar how int\n\nvar fine, overlay = 1, held{}\n"
	if found := wordsOf(t, "x.go", src); len(found) != 9 {
		t.Errorf("%d found: %q", len(found), found)
	}
}
