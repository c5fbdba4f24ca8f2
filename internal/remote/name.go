package remote

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A name is the name of an object, taken apart.
type name struct {
	scheme string
	host   string // the bucket of an object store
	path   string // without a slash in front; of http as it is written in a URL
	mark   string // stands for the secret part of a URL, with a separator; see Name
}

// errName is the error of a name that has no place in a path.
var errName = fmt.Errorf("not a name of an object: %w", storage.ErrUnsupported)

// parse takes a name apart, with one slash after the scheme or two.
func parse(s string) (n name, err error) {
	if s, err = Name(s); err != nil {
		return n, err
	}
	text := filepath.ToSlash(s)
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !iox.IsURL(s) {
		return n, errName
	}
	n.scheme = scheme
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "/"), "/")
	n.host, n.path, _ = strings.Cut(rest, "/")
	if n.host == "" {
		return n, fmt.Errorf("%s: it names no host or bucket: %w", s, errName)
	}
	if marked.MatchString(n.path) {
		n.mark, n.path, _ = strings.Cut(n.path, "/")
		n.mark += "/"
	}
	n.path = strings.TrimSuffix(n.path, "/")
	return n, nil
}

// String returns the name as people write it.
func (n *name) String() string { return n.scheme + "://" + n.host + "/" + n.path }

// file returns the name that the file system has for another path in the same place.
func (n *name) file(path string) string {
	return filepath.Clean(n.scheme + ":/" + n.host + "/" + n.mark + path)
}

// marked is a path with a mark in front.
var marked = regexp.MustCompile(`^\?[0-9a-f]{16}(/|$)`)

// secrets are the queries and the user information of URLs, by mark.
var secrets sync.Map

// A secret is what a URL has that must not be shown.
type secret struct {
	user  *url.Userinfo
	query string
}

// localName returns the path of a file: URL, without its scheme.
func localName(rest string) (string, error) {
	host, path, _ := strings.Cut(rest, "/")
	path, err := url.PathUnescape("/" + path)
	if err != nil || host != "" && host != "localhost" {
		return "", fmt.Errorf("file://%s: it is not a file of this machine, file:///path/to/file: %w", rest, errName)
	}
	return filepath.FromSlash(path), nil
}

// Name returns the name by which the file system knows a word of a command line: the word
// itself, unless it is a URL with a query or a password. These go into a table, and a mark
// stands for them in front of the path, so that names in the same folder have them too. It
// refuses what filepath.Clean would change.
func Name(word string) (string, error) {
	scheme, rest, ok := strings.Cut(word, "://")
	if ok && strings.EqualFold(scheme, "file") {
		return localName(rest)
	}
	if small := strings.ToLower(scheme); ok && small != scheme && iox.IsURL(small+"://"+rest) {
		scheme, word = small, small+"://"+rest
	}
	if !ok || !iox.IsURL(word) {
		return word, nil
	}
	web := scheme == "http" || scheme == "https"
	host, path, _ := strings.Cut(rest, "/")
	if !web && strings.Contains(host, "@") {
		return "", fmt.Errorf("a %s URL has no place for a password: use the variables of the environment, or a profile: %w",
			scheme, errName)
	}
	mark := ""
	if web && marked.MatchString(path) {
		return word, nil
	}
	if web && strings.ContainsAny(rest, "?@#") {
		u, err := url.Parse(word)
		if err != nil {
			return "", fmt.Errorf("%s://...: not a URL: %w", scheme, errName)
		}
		host, path = u.Host, strings.TrimPrefix(u.EscapedPath(), "/")
		if u.RawQuery != "" || u.User != nil {
			s := secret{u.User, u.RawQuery}
			mark = fmt.Sprintf("?%x/", sha256.Sum256([]byte(s.query+"\x00"+s.user.String())))[:17] + "/"
			secrets.Store(strings.TrimSuffix(mark, "/"), s)
		}
	}
	switch {
	case host == "":
		return "", fmt.Errorf("%s: it names no host or bucket: %w", word, errName)
	case web && strings.ContainsAny(host, `\ `):
		return "", fmt.Errorf("%s://...: not a URL: %w", scheme, errName)
	}
	for _, part := range strings.Split(strings.TrimSuffix(path, "/"), "/") {
		if part == "." || part == ".." || part == "" && path != "" && path != "/" {
			return "", fmt.Errorf("%s://%s/%s: a part of it is empty or consists of dots, which no path can have: %w", scheme,
				host, path, errName)
		}
	}
	return scheme + "://" + host + "/" + mark + path, nil
}

// Show returns a name as people write it, without what is secret.
func Show(s string) string {
	if !iox.IsURL(s) {
		return s
	}
	n, err := parse(s)
	if err != nil {
		scheme, _, _ := strings.Cut(s, ":")
		return scheme + "://..."
	}
	shown := n.String()
	if n.path != "" && strings.HasSuffix(filepath.ToSlash(s), "/") {
		shown += "/"
	}
	return shown
}
