package ros2bag

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// encodeWhole is encode as one document of yaml.v3.
func (m *Metadata) encodeWhole(t testing.TB, outer bool) string {
	root := mapping("version", number(int64(m.Version)), "storage_identifier", text(m.StorageID),
		"duration", mapping("nanoseconds", number(m.Duration)),
		"starting_time", mapping("nanoseconds_since_epoch", number(m.Start)),
		"message_count", number(m.Messages))
	topics := sequence()
	for i := range m.Topics {
		n, err := topicNode(m.Version, &m.Topics[i])
		check(t, err)
		topics.Content = append(topics.Content, n)
	}
	put(root, "topics_with_message_count", topics)
	root.Content = append(root.Content, m.rest().Content...)
	if outer {
		root = mapping(metadataKey, root)
	}
	out, err := yaml.Marshal(root)
	check(t, err)
	return string(out)
}

// oddTexts are what YAML writes in all its styles.
var oddTexts = []string{"", "/a", "~", "1", "1e3", "true", "- x", "a: b", " lead", "trail ", "a\nb", "\n\na\n\n b\n",
	"a\rb", "a\u2028b", "a\u0085\u0085b", "'", "\"", "# no", "\t",
	"\x00", "\xff\xfe", strings.Repeat("\xff", 300), strings.Repeat("word ", 60), strings.Repeat("y", 300),
	strings.Repeat("y", 128) + "_", "&a", "*a", "!!x", "é\u00a0", "%", "|", "> x\n", "\ufeff", "? x"}

// TestMetadataPieces: the text in pieces is that of one document, byte for byte, in all
// profiles.
func TestMetadataPieces(t *testing.T) {
	qos := []storage.QoS{{History: storage.HistoryKeepLast, Depth: 10, Deadline: storage.QoSInfinite}, {}}
	for version := 1; version <= newestMetadata; version++ {
		for _, n := range []int{0, 1, 50, 200} {
			m := &Metadata{Version: version, StorageID: "sqlite3", Duration: 1, Start: -2, Messages: 3,
				Paths: []string{"a_0.db3"}}
			for i := range n {
				odd := func(k int) string { return oddTexts[(i*7+k)%len(oddTexts)] }
				m.Topics = append(m.Topics, Topic{Name: odd(0), Type: odd(1), Format: odd(2), Hash: odd(3), Messages: int64(i),
					QoS: qos[:i%3]})
				if last := &m.Topics[i]; i%2 == 0 {
					last.Name, last.Type, last.Format, last.Hash = "/a/b_1"+odd(0), "p/msg/T", cdr, []string{"", "RIHS01_0f"}[i/2%2]
				}
				if i < 40 {
					m.Paths = append(m.Paths, odd(4))
					m.Files = append(m.Files, File{Path: odd(5), Start: int64(i)})
				}
				if n > 100 {
					m.Custom = map[string]string{odd(6): odd(7), "b" + odd(8): odd(9)}
				}
				m.Distro = odd(10)
			}
			for _, outer := range []bool{true, false} {
				got, err := m.Encode(outer)
				check(t, err)
				if want := m.encodeWhole(t, outer); got != want {
					t.Fatalf("version %d, %d topics, outer %v: %s", version, n, outer, firstDifference(got, want))
				}
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %q, want %q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// TestWithoutTopics: all but the topics is read as before.
func TestWithoutTopics(t *testing.T) {
	for version := 1; version <= newestMetadata; version++ {
		for _, n := range []int{0, 1, 20} {
			m := &Metadata{Version: version, StorageID: "sqlite3", Paths: []string{"a"}, Custom: map[string]string{"k": "v\nw"},
				Distro: "foxy"}
			for i := range n {
				m.Topics = append(m.Topics, Topic{Name: oddTexts[i], Type: "p/msg/T", QoS: make([]storage.QoS, i%2)})
			}
			whole, err := m.Encode(false)
			check(t, err)
			text := WithoutTopics(whole)
			if n > 0 && strings.Contains(text, "topic_metadata") {
				t.Errorf("version %d, %d topics:\n%s", version, n, text)
			}
			got, _, err := ParseMetadata(t.Context(), []byte(text), QoSCache{})
			check(t, err)
			want, _, err := ParseMetadata(t.Context(), []byte(whole), QoSCache{})
			check(t, err)
			want.Topics = nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("version %d, %d topics: %+v, want %+v", version, n, got, want)
			}
		}
	}
	for _, text := range []string{"", "a: b\ntopics_with_message_count: [x]\n", "topics_with_message_count:\n"} {
		if got := WithoutTopics(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzMetadataPieces: the same for any text.
func FuzzMetadataPieces(f *testing.F) {
	for i, s := range oddTexts {
		f.Add(s, oddTexts[(i+1)%len(oddTexts)], i%10)
	}
	f.Fuzz(func(t *testing.T, a, b string, version int) {
		m := &Metadata{Version: version, StorageID: b, Topics: []Topic{{Name: a, Type: b, Format: b, Hash: a},
			{Name: b, Type: a}, {Name: "/" + a, Type: "p/msg/T", Format: cdr, Hash: a, QoS: make([]storage.QoS, len(b)%3)},
			{Name: a + "/", Type: b + "/", Format: cdr, Hash: "RIHS01_" + b}}, Paths: []string{a, b},
			Custom: map[string]string{a: b, b: a}}
		for _, outer := range []bool{true, false} {
			got, err := m.Encode(outer)
			check(t, err)
			if want := m.encodeWhole(t, outer); got != want {
				t.Fatal(firstDifference(got, want))
			}
		}
	})
}

// The nodes of metadata.yaml, of which yaml.v3 makes the reference.

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

// text is a string, in quotes where it needs them; bytes that are not UTF-8
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

// rest is what follows the topics.
func (m *Metadata) rest() *yaml.Node {
	root := mapping("compression_format", quoted(m.Compression), "compression_mode", quoted(m.Mode))
	paths := sequence()
	for _, p := range m.Paths {
		paths.Content = append(paths.Content, text(p))
	}
	put(root, "relative_file_paths", paths)
	if m.Version >= 5 {
		files := sequence()
		for _, f := range m.Files {
			files.Content = append(files.Content, mapping(
				"path", text(f.Path),
				"starting_time", mapping("nanoseconds_since_epoch", number(f.Start)),
				"duration", mapping("nanoseconds", number(f.Duration)),
				"message_count", number(f.Messages)))
		}
		put(root, "files", files)
	}
	if m.Version >= 5 || len(m.Custom) > 0 {
		put(root, "custom_data", stringMap(m.Custom))
	}
	if m.Version >= 5 || m.Distro != "" {
		put(root, "ros_distro", quotedIfEmpty(m.Distro))
	}
	return root
}

// topicNode is a topic as a node. Its profiles are a string with numbers, from version
// 9 on a list with names.
func topicNode(version int, t *Topic) (*yaml.Node, error) {
	qos, err := qosNode(version, t.QoS)
	n := mapping("name", text(t.Name), "type", text(t.Type), "serialization_format", text(t.Format), qosKey, qos)
	if version >= 7 || t.Hash != "" {
		put(n, "type_description_hash", quotedIfEmpty(t.Hash))
	}
	return mapping("topic_metadata", n, "message_count", number(t.Messages)), err
}

func qosNode(version int, list []storage.QoS) (*yaml.Node, error) {
	if version < 9 {
		return quoted(QoSText(list, false)), nil
	}
	var q yaml.Node
	if err := yaml.Unmarshal([]byte(QoSText(list, true)), &q); err != nil {
		return nil, fmt.Errorf("internal error: QoS text: %w", err)
	}
	return q.Content[0], nil
}
