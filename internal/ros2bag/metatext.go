package ros2bag

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// Encode gives the YAML text, with or without the outer key. It writes the keys
// that the version demands, and besides those the ones of later versions that
// have a value: decoders ignore what they do not know.
//
// The text is put together of pieces, with the bytes that yaml.v3 gives for the whole:
// what is inside something else is the same there, four columns to the right.
func (m *Metadata) Encode(outer bool) (string, error) {
	b := yamlText{qos: map[string][]byte{}}
	b.Grow(m.size())
	if outer {
		b.line(metadataKey, ":")
		b.indent += yamlIndent
	}
	b.add(mapping(
		"version", number(int64(m.Version)),
		"storage_identifier", text(m.StorageID),
		"duration", mapping("nanoseconds", number(m.Duration)),
		"starting_time", mapping("nanoseconds_since_epoch", number(m.Start)),
		"message_count", number(m.Messages)))
	if len(m.Topics) == 0 {
		b.add(mapping("topics_with_message_count", sequence()))
	} else {
		b.line("topics_with_message_count:")
		b.indent += yamlIndent
		for i := range m.Topics {
			b.topic(m.Version, &m.Topics[i])
		}
		b.indent -= yamlIndent
	}
	b.add(m.rest())
	if b.err != nil {
		return "", fmt.Errorf("%s: %w", MetadataName, b.err)
	}
	return b.String(), nil
}

// size is about how many bytes the text has.
func (m *Metadata) size() int {
	n := 1000 + 350*len(m.Topics)
	for i := range m.Topics {
		n += len(m.Topics[i].Name) + len(m.Topics[i].Type)
	}
	for k, v := range m.Custom {
		n += len(k) + len(v) + len(v)/4 // quotes are escaped
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

const qosKey = "offered_qos_profiles"

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

// yamlIndent is by how many columns yaml.v3 indents.
const yamlIndent = 4

// A yamlText is a YAML document that is put together of pieces.
type yamlText struct {
	strings.Builder
	indent int // of what is added
	qos    map[string][]byte
	err    error
}

// topic adds a topic to a sequence. Topics may be many: those with usual names are
// written without yaml.v3, which takes 130 kB of memory for each piece.
func (b *yamlText) topic(version int, t *Topic) {
	if !plain(t.Name) || !plain(t.Type) || t.Format != cdr || t.Hash != "" && !plain(t.Hash) {
		n, err := topicNode(version, t)
		if err != nil {
			b.err = err
			return
		}
		one := sequence()
		one.Content = append(one.Content, n)
		b.add(one)
		return
	}
	b.line("- topic_metadata:")
	b.indent += yamlIndent
	b.line("name: ", t.Name)
	b.line("type: ", t.Type)
	b.line("serialization_format: ", t.Format)
	b.profiles(version, t.QoS)
	switch {
	case t.Hash != "":
		b.line("type_description_hash: ", t.Hash)
	case version >= 7:
		b.line(`type_description_hash: ""`)
	}
	b.indent -= yamlIndent
	b.line("  message_count: ", strconv.FormatInt(t.Messages, 10))
}

// profiles adds profiles of quality of service, of which a recording has few.
func (b *yamlText) profiles(version int, list []storage.QoS) {
	key := QoSText(list, version >= 9)
	text, ok := b.qos[key]
	if !ok {
		n, err := qosNode(version, list)
		if err == nil {
			text, err = yaml.Marshal(mapping(qosKey, n))
		}
		if err != nil {
			b.err = err
			return
		}
		b.qos[key] = text
	}
	b.lines(text)
}

// plain tells whether a string is surely written as it is: a name with a slash, or a
// type hash, of common letters.
func plain(s string) bool {
	if !strings.Contains(s, "/") && !strings.HasPrefix(s, "RIHS01_") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '/':
		case i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return true
}

const spaces = "                "

func (b *yamlText) line(texts ...string) {
	b.WriteString(spaces[:b.indent])
	for _, s := range texts {
		b.WriteString(s)
	}
	b.WriteByte('\n')
}

// add adds a node.
func (b *yamlText) add(n *yaml.Node) {
	text, err := yaml.Marshal(n)
	if err != nil {
		b.err = err
		return
	}
	b.lines(text)
}

// lines adds lines. Empty ones, as texts have them, are not indented.
func (b *yamlText) lines(text []byte) {
	for line := range bytes.Lines(text) {
		if line[0] != '\n' {
			b.WriteString(spaces[:b.indent])
		}
		b.Write(line)
	}
}
