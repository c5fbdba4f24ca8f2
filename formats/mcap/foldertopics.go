package mcap

import (
	"bytes"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// A topicKey is what makes channels of several parts one topic: their ids differ. Several
// of one name, type and encoding in a part are distinguished by their number.
type topicKey struct {
	name, typ, encoding string
	number              int
}

// joinTopics numbers the topics of all parts, in the order in which they come, and fills
// in what metadata.yaml has about them.
func (r *folderReader) joinTopics() error {
	index := map[topicKey]storage.TopicID{}
	for _, p := range r.parts {
		count := map[topicKey]int{}
		for _, t := range p.defs.list {
			key := topicKey{t.Name, t.Type, t.Encoding, 0}
			key.number, count[key] = count[key], count[key]+1
			id, ok := index[key]
			if !ok {
				id = storage.TopicID(len(r.topics))
				index[key] = id
				r.topics = append(r.topics, storage.TopicInfo{ID: id, Topic: storage.Topic{
					Name: t.Name, Type: t.Type, Encoding: t.Encoding, Metadata: map[string]string{},
				}})
			}
			p.topics = append(p.topics, id)
			r.topics[id].Messages += t.messages
			if err := r.describe(&r.topics[id].Topic, p, &t.Topic); err != nil {
				return err
			}
		}
		maps.Copy(r.custom, p.own.values)
	}
	m := r.layout.Meta
	if m == nil {
		return nil
	}
	addCustom(r.custom, m)
	for i := range m.Topics {
		if err := r.useMetadata(&m.Topics[i], index); err != nil {
			return err
		}
	}
	return nil
}

// describe adds what a part has about a topic. The last part knows most publishers.
func (r *folderReader) describe(t *storage.Topic, p *inPart, have *storage.Topic) error {
	for k, v := range have.Metadata {
		if _, ok := t.Metadata[k]; !ok && k != metaQoS {
			t.Metadata[k] = v
		}
	}
	if text, ok := have.Metadata[metaQoS]; ok {
		if _, err := ros2bag.ParseQoS(text); err != nil {
			if err := r.warnLost(storage.Lost{}, "qos", -1, true, p.src.Path, "topic %.200q: %v", t.Name, err); err != nil {
				return err
			}
		}
	}
	if len(have.QoS) > 0 {
		t.QoS = have.QoS
	}
	s := have.Schema
	unnamed := s.Encoding == "" || s.Encoding == "unknown"
	if unnamed && len(s.Data) == 0 {
		return nil
	}
	if unnamed && t.Encoding == native { // rosbag2 writes so for services without dependencies
		s.Encoding = "ros2msg"
		if bytes.HasPrefix(bytes.TrimLeft(s.Data, "=\r\n "), []byte("IDL:")) {
			s.Encoding = "ros2idl"
		}
	}
	if t.Schema.Encoding == "" {
		t.Schema = s
	} else if t.Schema.Encoding != s.Encoding || !bytes.Equal(t.Schema.Data, s.Data) {
		return r.warnLost(storage.Lost{}, "definition", -1, false, p.src.Path, "topic %.200q: its definition differs from that of the part before, which is used", t.Name)
	}
	return nil
}

// useMetadata adds what metadata.yaml has about a topic. The files win if both have it:
// they have the messages.
func (r *folderReader) useMetadata(m *ros2bag.Topic, index map[topicKey]storage.TopicID) error {
	if id, ok := index[topicKey{m.Name, m.Type, m.Format, 0}]; ok {
		t := &r.topics[id]
		if len(t.QoS) == 0 {
			t.QoS = m.QoS
		}
		if m.Hash != "" && t.Metadata[storage.MetaTypeHash] == "" {
			t.Metadata[storage.MetaTypeHash] = m.Hash
		}
		return nil
	}
	const code = "metadata-topic"
	i := slices.IndexFunc(r.topics, func(t storage.TopicInfo) bool { return t.Name == m.Name })
	switch {
	case i < 0:
		return r.warnLost(storage.Lost{}, code, -1, m.Messages > 0 && !r.damaged(), "", "%s counts %d messages of topic %.200q, which no part has", ros2bag.MetadataName, m.Messages, m.Name)
	case r.topics[i].Type != m.Type:
		return r.warnLost(storage.Lost{}, code, -1, false, "", "topic %.200q: %s has type %.200q, the files %.200q, which is used", m.Name, ros2bag.MetadataName, m.Type, r.topics[i].Type)
	}
	return r.warnLost(storage.Lost{}, code, -1, false, "", "topic %.200q: %s has serialization format %.40q, the files %.40q, which is used", m.Name, ros2bag.MetadataName, m.Format, r.topics[i].Encoding)
}

// Extras lists the attachments and metadata records of all parts. See
// storage.ExtraReader.
func (r *folderReader) Extras() (all storage.Extras, err error) {
	for _, p := range r.parts {
		x, err := p.reader.Extras()
		if err != nil {
			return all, err
		}
		all.Attachments = append(all.Attachments, x.Attachments...)
		all.Metadata = append(all.Metadata, x.Metadata...)
	}
	return all, nil
}
