package ros2bag

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// The nodes of which metadata.yaml is built: yaml.v3 then keeps the order of
// keys and the quotes that rosbag2's own files have.

func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(pairs); i += 2 {
		put(n, pairs[i].(string), pairs[i+1].(*yaml.Node))
	}
	return n
}

func put(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, text(key), value)
}

// sequence is written as [] while it is empty.
func sequence() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"} }

func number(v int64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
}

// text is a string, in quotes where it needs them; bytes that are no UTF-8
// become !!binary.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if strings.ContainsAny(s, "\n\r\u0085\u2028\u2029") && n.Tag == "!!str" { // line breaks of YAML
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func quoted(s string) *yaml.Node {
	n := text(s)
	n.Style = yaml.DoubleQuotedStyle
	return n
}

func quotedIfEmpty(s string) *yaml.Node {
	if s == "" {
		return quoted(s)
	}
	return text(s)
}

// stringMap is ~ while it is empty, as rosbag2 writes it.
func stringMap(m map[string]string) *yaml.Node {
	if len(m) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "~"}
	}
	n := mapping()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		put(n, k, quoted(m[k]))
	}
	return n
}

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
func upper(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }
