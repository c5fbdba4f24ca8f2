package ros2bag

import (
	"bytes"
	"maps"

	"github.com/bagconv/bagconv/storage"
)

// Topics are the topics of a recording in several parts, in the order in which the parts have them,
// with what the parts and metadata.yaml tell about them and about the recording.
type Topics struct {
	List   []storage.TopicInfo
	Custom map[string]string // what the recording has about itself
	Source string            // what the parts are called in warnings, such as "the files"

	// Warn keeps a warning about a file, "" for the folder.
	Warn func(code string, damage bool, path, format string, args ...any) error

	// Explained reports whether damage is known that explains what else is missing: then missing
	// messages are no further damage.
	Explained func() bool

	index map[TopicKey]storage.TopicID
}

// A TopicKey is what makes topics of several parts one topic: their ids differ. Number tells topics
// apart that one part has several times.
type TopicKey struct {
	Name, Type, Encoding string
	Number               int
}

// ID returns the number of a topic. It is false if there is no such topic.
func (t *Topics) ID(k TopicKey) (storage.TopicID, bool) {
	id, ok := t.index[k]
	return id, ok
}

// Add returns the number of a topic, and makes the topic if it is new.
func (t *Topics) Add(k TopicKey) storage.TopicID {
	id, ok := t.index[k]
	if ok {
		return id
	}
	if t.index == nil {
		t.index = map[TopicKey]storage.TopicID{}
	}
	id = storage.TopicID(len(t.List))
	t.index[k] = id
	t.List = append(t.List, storage.TopicInfo{ID: id, Topic: storage.Topic{
		Name: k.Name, Type: k.Type, Encoding: k.Encoding, Metadata: map[string]string{},
	}})
	return id
}

// Define gives a topic the definition that the part at path has. The first one is used.
func (t *Topics) Define(id storage.TopicID, s storage.Schema, path string) error {
	topic := &t.List[id]
	if topic.Schema.Encoding == "" {
		topic.Schema = s
	} else if topic.Schema.Encoding != s.Encoding || !bytes.Equal(topic.Schema.Data, s.Data) {
		return t.Warn("definition", false, path,
			"topic %.200q: its definition differs from the definition in the part before, which is used", topic.Name)
	}
	return nil
}

// NamedSchema returns a definition whose encoding is unknown with the encoding that its text shows:
// Kilted and older write services without dependencies so.
func NamedSchema(s storage.Schema) storage.Schema {
	if s.Encoding != "" && s.Encoding != "unknown" {
		return s
	}
	s.Encoding = "ros2msg"
	if bytes.HasPrefix(bytes.TrimLeft(s.Data, "=\r\n "), []byte("IDL:")) {
		s.Encoding = "ros2idl"
	}
	return s
}

// SetHash gives a topic the hash of its type, unless it has one or hash is empty.
func (t *Topics) SetHash(id storage.TopicID, hash string) {
	if topic := &t.List[id]; hash != "" && topic.Metadata[storage.MetaTypeHash] == "" {
		topic.Metadata[storage.MetaTypeHash] = hash
	}
}

// AddTo adds what metadata.yaml has about the recording itself.
func (m *Metadata) AddTo(custom map[string]string) {
	maps.Copy(custom, m.Custom)
	if m.Distro != "" {
		custom[storage.MetaDistro] = m.Distro
	}
}

// Complete fills in what only metadata.yaml has about topics. The parts win if both have it: they
// have the messages. compare has a warning tell what they contradict each other in.
func (t *Topics) Complete(m *Metadata, compare bool) error {
	byName := map[string]int{}
	for i := range t.List {
		if _, ok := byName[t.List[i].Name]; !ok {
			byName[t.List[i].Name] = i
		}
	}
	for i := range m.Topics {
		have := &m.Topics[i]
		if id, ok := t.index[TopicKey{Name: have.Name, Type: have.Type, Encoding: have.Format}]; ok {
			if topic := &t.List[id]; len(topic.QoS) == 0 {
				topic.QoS = have.QoS
			}
			t.SetHash(id, have.Hash)
		} else if compare {
			k, some := byName[have.Name]
			if err := t.contradict(have, k, some); err != nil {
				return err
			}
		}
	}
	return nil
}

// contradict reports that no part has a topic of metadata.yaml, but perhaps topic k of this name.
func (t *Topics) contradict(m *Topic, k int, some bool) error {
	const code = "metadata-topic"
	if !some {
		return t.Warn(code, m.Messages > 0 && !t.Explained(), "", "%s counts %d messages of topic %.200q, which no part has",
			MetadataName, m.Messages, m.Name)
	}
	if have := &t.List[k]; have.Type != m.Type {
		return t.Warn(code, false, "", "topic %.200q: %s has type %.200q, %s %.200q, which is used", m.Name, MetadataName,
			m.Type, t.Source, have.Type)
	}
	return t.Warn(code, false, "", "topic %.200q: %s has serialization format %.40q, %s %.40q, which is used", m.Name,
		MetadataName, m.Format, t.Source, t.List[k].Encoding)
}
