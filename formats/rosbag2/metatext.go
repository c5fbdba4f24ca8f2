package rosbag2

import (
	"bytes"
	"fmt"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// topicsAtOnce is how many topics are one YAML document: yaml.v3 keeps all of a document
// until its end, some 25 kB a topic.
const topicsAtOnce = 64

// encode gives the YAML text, with or without the outer key. It writes the keys
// that the version demands, and besides those the ones of later versions that
// have a value: decoders ignore what they do not know.
//
// The text is put together of pieces, with the bytes that yaml.v3 gives for the whole:
// what is inside something else is the same there, four columns to the right.
func (m *metadata) encode(outer bool) ([]byte, error) {
	var b yamlText
	if outer {
		b.line(metadataKey + ":")
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
		for i := 0; i < len(m.Topics); i += topicsAtOnce {
			some := sequence()
			for j := range m.Topics[i:min(i+topicsAtOnce, len(m.Topics))] {
				t, err := m.topicNode(&m.Topics[i+j])
				if err != nil {
					return nil, err
				}
				some.Content = append(some.Content, t)
			}
			b.add(some)
		}
		b.indent -= yamlIndent
	}
	b.add(m.rest())
	if b.err != nil {
		return nil, fmt.Errorf("%s: %w", metadataName, b.err)
	}
	return b.Bytes(), nil
}

// rest is what follows the topics.
func (m *metadata) rest() *yaml.Node {
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

func (m *metadata) topicNode(t *metadataTopic) (*yaml.Node, error) {
	n := mapping("name", text(t.Name), "type", text(t.Type), "serialization_format", text(t.Format))
	if m.Version >= 9 {
		q, err := qosNode(t.QoS)
		if err != nil {
			return nil, err
		}
		put(n, "offered_qos_profiles", q)
	} else {
		put(n, "offered_qos_profiles", quoted(qosText(t.QoS, false)))
	}
	if m.Version >= 7 || t.Hash != "" {
		put(n, "type_description_hash", quotedIfEmpty(t.Hash))
	}
	return mapping("topic_metadata", n, "message_count", number(t.Messages)), nil
}

// qosNode is profiles by their names.
func qosNode(list []storage.QoS) (*yaml.Node, error) {
	var q yaml.Node
	if err := yaml.Unmarshal([]byte(qosText(list, true)), &q); err != nil {
		return nil, fmt.Errorf("internal error: QoS text: %w", err)
	}
	return q.Content[0], nil
}

// yamlIndent is by how many columns yaml.v3 indents.
const yamlIndent = 4

// A yamlText is a YAML document that is put together of pieces.
type yamlText struct {
	bytes.Buffer
	indent int // of what is added
	err    error
}

var spaces = []byte("        ")

func (b *yamlText) line(text string) {
	b.Write(spaces[:b.indent])
	b.WriteString(text)
	b.WriteByte('\n')
}

// add writes a node. Empty lines, as text has them, are not indented.
func (b *yamlText) add(n *yaml.Node) {
	text, err := yaml.Marshal(n)
	if err != nil {
		b.err = err
		return
	}
	for line := range bytes.Lines(text) {
		if line[0] != '\n' {
			b.Write(spaces[:b.indent])
		}
		b.Write(line)
	}
}
