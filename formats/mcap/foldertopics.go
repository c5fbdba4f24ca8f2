package mcap

import (
	"maps"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// joinTopics numbers the topics of all parts, and fills in what metadata.yaml has about them.
func (r *folderReader) joinTopics() error {
	for _, p := range r.parts {
		count := map[ros2bag.TopicKey]int{}
		for _, t := range p.defs.list {
			key := ros2bag.TopicKey{Name: t.Name, Type: t.Type, Encoding: t.Encoding}
			n := count[key]
			count[key]++
			key.Number = n
			id := r.Topics.Add(key)
			p.topics = append(p.topics, id)
			r.Topics.List[id].Messages += t.messages
			if err := r.describe(id, p, &t.Topic); err != nil {
				return err
			}
		}
		maps.Copy(r.Topics.Custom, p.own.values)
	}
	m := r.Layout.Meta
	if m == nil {
		return nil
	}
	m.AddTo(r.Topics.Custom)
	return r.Topics.Complete(m, true)
}

// describe adds what a part has about a topic. The last part knows most publishers.
func (r *folderReader) describe(id storage.TopicID, p *inPart, have *storage.Topic) error {
	t := &r.Topics.List[id].Topic
	for k, v := range have.Metadata {
		if _, ok := t.Metadata[k]; !ok && k != metaQoS {
			t.Metadata[k] = v
		}
	}
	if text, ok := have.Metadata[metaQoS]; ok {
		if _, err := ros2bag.ParseQoS(text); err != nil {
			if err := r.Warn("qos", true, p.src.Path, "topic %.200q: %v", t.Name, err); err != nil {
				return err
			}
		}
	}
	if len(have.QoS) > 0 {
		t.QoS = have.QoS
	}
	s := have.Schema
	if len(s.Data) == 0 && (s.Encoding == "" || s.Encoding == "unknown") {
		return nil
	}
	if t.Encoding == native {
		s = ros2bag.NamedSchema(s)
	}
	return r.Topics.Define(id, s, p.src.Path)
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
