package remote

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
)

// TestName: what a word becomes, what it is shown as, and what is refused.
func TestName(t *testing.T) {
	for _, c := range []struct{ word, clean, shown string }{
		{"in.bag", "in.bag", "in.bag"},
		{"s3://b/a b%20ü/x.bag", "s3:/b/a b%20ü/x.bag", "s3://b/a b%20ü/x.bag"},
		{"s3://b/k?x=1", "s3:/b/k?x=1", "s3://b/k?x=1"},
		{"s3://b", "s3:/b", "s3://b/"},
		{"s3://b/dir/", "s3:/b/dir", "s3://b/dir"},
		{"https://h:8080/a%20b/x.bag", "https:/h:8080/a%20b/x.bag", "https://h:8080/a%20b/x.bag"},
		{"C://x", "C:/x", "C:/x"},
	} {
		name, err := Name(c.word)
		if got := filepath.ToSlash(filepath.Clean(name)); err != nil || got != c.clean {
			t.Errorf("%s: %s, %v", c.word, got, err)
		}
		if got := Show(filepath.Clean(name)); got != c.shown {
			t.Errorf("%s is shown as %s", c.word, got)
		}
	}
	for _, word := range []string{"s3://b/a//b", "s3://b/../x", "s3://b/a/./b", "s3:///x", "https:///x",
		"https://h/a/../b", "s3://KEY:SECRET@b/x", "https://h/%zz?x=SECRET", "https://h//x"} {
		if name, err := Name(word); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %s, %v", word, name, err)
		}
	}
}

// TestSecrets: a query and a password belong to all names in a folder, and are not shown.
func TestSecrets(t *testing.T) {
	const word = "https://me:SECRET@h/d/x.bag?X-Sig=a//b&t=SECRET"
	name, err := Name(word)
	if err != nil || strings.Contains(name, "SECRET") {
		t.Fatal(name, err)
	}
	other, err := Name("https://h/d/x.bag?other")
	if err != nil || filepath.Clean(other) == filepath.Clean(name) {
		t.Errorf("two queries, one name: %s, %v", other, err)
	}
	beside := filepath.Join(filepath.Dir(filepath.Clean(name)), "y.bag")
	if got := Show(beside); got != "https://h/d/y.bag" {
		t.Errorf("a file beside it: %s", got)
	}
	n, err := parse(beside)
	if err != nil || n.path != "d/y.bag" || n.mark == "" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, text := range []string{"see " + name + "; then", "open " + filepath.Clean(name) + ": no"} {
		got := iox.ShowAll(text)
		if strings.Contains(got, "?") || !strings.Contains(got, "https://h/d/x.bag") {
			t.Errorf("%s -> %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"read s3:/b/a b.bag: no":       "read s3://b/a b.bag: no",
		"see https://h/d?a=b, for one": "see https://h/d?a=b, for one", // it is no name
		"at: /x":                       "at: /x",
	} {
		if got := iox.ShowAll(text); got != want {
			t.Errorf("%s -> %s", text, got)
		}
	}
	if got := Show("https://h/%zz?x=SECRET"); strings.Contains(got, "SECRET") {
		t.Error(got)
	}
}

// TestLocalURLs: file: URLs are files of this machine, and the case of a scheme does not matter.
func TestLocalURLs(t *testing.T) {
	for word, want := range map[string]string{
		"file:///x.bag": "/x.bag", "FILE://localhost/a%20b.bag": "/a b.bag", "S3://b/k": "s3://b/k", "file:x": "file:x",
		"X://y": "X://y",
	} {
		if got, err := Name(word); err != nil || filepath.Clean(got) != filepath.Clean(filepath.FromSlash(want)) {
			t.Errorf("%s: %s, %v", word, got, err)
		}
	}
	if got, err := Name("file://other/x.bag"); err == nil {
		t.Errorf("a file of another machine is %s", got)
	}
}

// TestWebIsReadOnly: the error about an output says where it can be, and no name of a staging folder.
func TestWebIsReadOnly(t *testing.T) {
	err := New(t.Context(), &Settings{}).Mkdir("http:/127.0.0.1:1/.two.mcap.466378a9.part", 0o777)
	if err == nil || strings.Contains(err.Error(), ".part") || !strings.Contains(err.Error(), "s3://") {
		t.Error(err)
	}
}
