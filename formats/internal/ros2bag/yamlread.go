package ros2bag

import (
	"context"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/yaml"
	"github.com/bagconv/bagconv/storage"
)

// parseYAML returns the root of a document, or an empty node if the text has no document. It ends
// at once with ctx. A yamlReader takes the values from its nodes, in time proportional to the text.
func parseYAML(ctx context.Context, text []byte) (*yaml.Node, error) {
	root, err := yaml.Parse(ctx, text)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: %w", err, storage.ErrCorrupt)
	case root == nil:
		return new(yaml.Node), nil
	}
	return root, nil
}

// A yamlReader takes values from the nodes of one document. Its first error stays; what
// it returns after that has no meaning.
type yamlReader struct {
	left int // how many more nodes it looks at
	err  error
}

// newYAMLReader returns a reader for a text of some bytes. Without aliases no node
// is looked at twice, and there are at most two for a byte; a document of aliases to
// aliases is refused.
func newYAMLReader(bytes int) yamlReader { return yamlReader{left: 16*bytes + 1<<16} }

func (r *yamlReader) fail(n *yaml.Node, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("line %d: %s: %w", n.Line, fmt.Sprintf(format, args...), storage.ErrCorrupt)
	}
}

// content returns what a mapping or a sequence has, nothing of null.
func (r *yamlReader) content(n *yaml.Node, kind yaml.Kind, what string) []*yaml.Node {
	n = resolved(n)
	if n.Kind == 0 || isNull(n) {
		return nil
	}
	if n.Kind != kind {
		r.fail(n, "it is not a %s", what)
	}
	if r.left -= len(n.Content); r.left < 0 {
		r.fail(n, "aliases make it too large")
	}
	if r.err != nil {
		return nil
	}
	return n.Content
}

// fields calls f with each key of a mapping, which must not be there twice, and its
// value.
func (r *yamlReader) fields(n *yaml.Node, f func(key string, value *yaml.Node)) {
	list := r.content(n, yaml.MappingNode, "mapping")
	seen := make(map[string]bool, len(list)/2)
	for i := 0; i+1 < len(list) && r.err == nil; i += 2 {
		key := resolved(list[i])
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if name := r.text(key); seen[name] {
			r.fail(list[i], "key %.40q appears twice", name)
		} else {
			seen[name] = true
			f(name, resolved(list[i+1]))
		}
	}
}

// items returns the elements of a sequence.
func (r *yamlReader) items(n *yaml.Node) []*yaml.Node {
	return r.content(n, yaml.SequenceNode, "sequence")
}

// texts returns a sequence of strings.
func (r *yamlReader) texts(n *yaml.Node) (list []string) {
	for _, item := range r.items(n) {
		list = append(list, r.text(item))
	}
	return list
}

// text returns a string; null is the empty string. What was not UTF-8 is written in base64.
func (r *yamlReader) text(n *yaml.Node) (s string) {
	switch n = resolved(n); {
	case n.Kind == 0 || isNull(n):
	case n.Kind != yaml.ScalarNode:
		r.fail(n, "it is not a string")
	case n.ShortTag() == "!!binary":
		if err := n.Decode(&s); err != nil {
			r.fail(n, "%v", err)
		}
	default:
		s = n.Value
	}
	return s
}

// anyText returns a string, or the YAML text of anything else.
func (r *yamlReader) anyText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return r.text(n)
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		r.fail(n, "%v", err)
	}
	return strings.TrimSpace(string(text))
}

// number returns a field of a mapping that has only this one; 0 if it is not there.
func (r *yamlReader) number(n *yaml.Node, field string) (v int64) {
	r.fields(n, func(key string, value *yaml.Node) {
		if key == field {
			v = integer(value)
		}
	})
	return v
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// resolved returns what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
