package migrate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/yaml"
)

// MaxSize is how many bytes a file of rules has at most.
const MaxSize = 4 << 20

// ErrRules is wrapped by errors about rules: they cannot be read, or do not fit the definitions.
var ErrRules = errors.New("the rules cannot be used")

// Rules are the rules of one file.
type Rules struct {
	path string
	list []*rule
}

// A rule is about one version of a type, or about all versions that no other rule is about.
type rule struct {
	line       int
	from, to   string // common names
	md5, hash  string
	definition string // text of the version between; "": to is the last one
	fields     map[string]fieldRule
	drop       []string
	lossy      []string
}

type fieldRule struct {
	line int
	transcode.From
}

// Parse reads the text of a file. path is only for errors.
func Parse(path string, text []byte) (*Rules, error) {
	r := &Rules{path: path}
	root, err := yaml.ParseOne(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", path, ErrRules, err)
	case root == nil:
		return nil, fmt.Errorf("%s: %w: it is empty", path, ErrRules)
	}
	p := &parser{path: path}
	p.mapping(root, map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) {
			if n.Value != "1" {
				p.fail(n.Line, "version %q is not supported; this program reads version 1", n.Value)
			}
		},
		"types": func(n *yaml.Node) {
			for _, item := range p.items(n) {
				r.list = append(r.list, p.rule(item))
			}
		},
	})
	if p.err == nil {
		p.distinct(r.list)
	}
	if p.err != nil {
		return nil, p.err
	}
	return r, nil
}

// A parser keeps the first error.
type parser struct {
	path string
	err  error
}

func (p *parser) fail(line int, format string, a ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s, line %d: %w: %s", p.path, line, ErrRules, fmt.Sprintf(format, a...))
	}
}

// each calls a function with each key and its value.
func (p *parser) each(n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "there must be keys with values here")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			p.fail(key.Line, "%q is here twice", key.Value)
		}
		seen[key.Value] = true
		f(key, n.Content[i+1])
	}
}

// mapping calls the function of each key.
func (p *parser) mapping(n *yaml.Node, keys map[string]func(*yaml.Node)) {
	p.each(n, func(key, value *yaml.Node) {
		if f := keys[key.Value]; f != nil {
			f(value)
			return
		}
		p.fail(key.Line, "unknown key %q; there are %s", key.Value, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	})
}

func (p *parser) items(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "there must be a list here")
		return nil
	}
	return n.Content
}

func (p *parser) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		p.fail(n.Line, "there must be a single value here")
	}
	return n.Value
}

func (p *parser) texts(n *yaml.Node) (out []string) {
	for _, item := range p.items(n) {
		out = append(out, p.text(item))
	}
	return out
}

func (p *parser) number(n *yaml.Node) float64 {
	v, err := strconv.ParseFloat(p.text(n), 64)
	if err != nil || v != v || v-v != 0 {
		p.fail(n.Line, "%q is not a number", n.Value)
	}
	return v
}

func (p *parser) rule(n *yaml.Node) *rule {
	r := &rule{line: n.Line, fields: map[string]fieldRule{}}
	text := func(to *string) func(*yaml.Node) { return func(n *yaml.Node) { *to = p.text(n) } }
	p.mapping(n, map[string]func(*yaml.Node){
		"from": text(&r.from), "to": text(&r.to), "md5": text(&r.md5), "hash": text(&r.hash), "definition": text(
			&r.definition),
		"drop":  func(n *yaml.Node) { r.drop = p.texts(n) },
		"lossy": func(n *yaml.Node) { r.lossy = p.texts(n) },
		"open": func(n *yaml.Node) {
			if open := p.texts(n); len(open) > 0 {
				p.fail(n.Line, "decide what becomes of %s, and remove it from open", transcode.List(open))
			}
		},
		"fields": func(n *yaml.Node) {
			p.each(n, func(key, value *yaml.Node) { r.fields[key.Value] = p.field(key, value) })
		},
	})
	r.from, r.to = defset.CommonName(r.from), defset.CommonName(r.to)
	switch {
	case r.from == "":
		p.fail(n.Line, "from is missing: the name of a type")
	case r.to == "" && hasKey(n, "to"):
		p.fail(n.Line, "to is empty: write the name that %s has now", r.from)
	case r.to == "":
		r.to = r.from
	}
	return r
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

func (p *parser) field(key, n *yaml.Node) fieldRule {
	f := fieldRule{line: key.Line}
	p.mapping(n, map[string]func(*yaml.Node){
		"from":    func(n *yaml.Node) { f.Path = p.text(n) },
		"default": func(n *yaml.Node) { f.Default = p.text(n) },
		"scale":   func(n *yaml.Node) { f.Scale = p.number(n) },
		"offset":  func(n *yaml.Node) { f.Offset = p.number(n) },
		"values": func(n *yaml.Node) {
			f.Values = map[int64]int64{}
			p.each(n, func(key, value *yaml.Node) { f.Values[p.integer(key)] = p.integer(value) })
		},
	})
	switch {
	case f.Default != "" && (f.Path != "" || f.Scale != 0 || f.Values != nil):
		p.fail(n.Line, "a field has a default, or comes from another; not both")
	case f.Offset != 0 && f.Scale == 0:
		f.Scale = 1
	}
	if f.Default == "" && f.Path == "" {
		f.Path = key.Value
	}
	return f
}

func (p *parser) integer(n *yaml.Node) int64 {
	v, err := strconv.ParseInt(p.text(n), 0, 64)
	if err != nil {
		p.fail(n.Line, "%q is not an integer", n.Value)
	}
	return v
}

// distinct refuses two rules for one version of a type.
func (p *parser) distinct(list []*rule) {
	type version struct{ from, to, md5, hash string }
	seen := map[version]int{}
	for _, r := range list {
		v := version{r.from, "", r.md5, r.hash}
		if line, ok := seen[v]; ok {
			p.fail(r.line, "line %d has a rule for the same messages of %s; add md5 or hash to one of them", line, r.from)
		}
		seen[v] = r.line
	}
}
