package arch

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// formatWords are names, endings and files of formats, as strings and comments have
// them.
var formatWords = regexp.MustCompile(`mcap|\.(db3|record|bag)\b|metadata\.yaml`)

// formatProse is how texts for people name formats: what they are called is asked of
// storage.Format.Help. Comments may, and so may names of what ROS itself calls a bag.
var formatProse = regexp.MustCompile(
	`ROS 1 bags?\b|Cyber records?\b|rosbag2 (folder|file)s?\b|\b(in|of|from|to) a (bag|record)\b|\b[aA] (bag|record) (does|cannot|can|has)\b`)

// knowFormats are the rooms that may have them: the formats, and packages for formats
// alone.
var knowFormats = []string{"formats", "internal/sqlite", "internal/sqlitefile", "scripts"}

// TestFormatNames: no format is known by name outside its room. What others need of it
// is asked of storage.Format.
func TestFormatNames(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (slices.Contains(knowFormats, rel) || rel != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line, word := range wordsIn(text) {
			t.Errorf("%s:%d has %q: only a format may know that", rel, line, word)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were looked at, %v", files, err)
	}
}

// wordsIn returns the words of formats in the strings and comments of a Go file, by line.
func wordsIn(text []byte) map[int]string {
	found := map[int]string{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return found
		case token.STRING, token.COMMENT:
			all := formatWords.FindAllStringIndex(lit, -1)
			if tok == token.STRING {
				all = append(all, formatProse.FindAllStringIndex(lit, -1)...)
			}
			for _, at := range all {
				found[file.Line(pos)+strings.Count(lit[:at[0]], "\n")] = lit[at[0]:at[1]]
			}
		}
	}
}

// TestFormatWords: strings and comments count, names in code do not.
func TestFormatWords(t *testing.T) {
	got := wordsIn([]byte("package p\n\n// a.bag, a ROS 1 bag\nvar x = y.record + \".db3\" + `\n\n metadata.yaml`\nvar " +
		"bag, mcap int\nvar z = \"ROS 1 bags\"\n"))
	if len(got) != 4 || got[8] != "ROS 1 bags" || got[3] != ".bag" || got[4] != ".db3" || got[6] != "metadata.yaml" {
		t.Errorf("%v", got)
	}
}
