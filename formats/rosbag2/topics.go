package rosbag2

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// topicKey is what makes rows of topics one topic: ids differ from part to part.
type topicKey struct{ name, typ, format string }

// joinTopics numbers the topics of all parts, in the order in which they come,
// and fills in what the tables, metadata.yaml and custom_data have about them.
func (r *reader) joinTopics() error {
	r.index = map[topicKey]storage.TopicID{}
	cache := ros2bag.QoSCache{}
	for _, p := range r.parts {
		ids := map[int64]storage.TopicID{}
		here := map[storage.TopicID][]storage.QoS{}
		for i := range p.topics {
			row := &p.topics[i]
			key := topicKey{row.name, row.typ, row.format}
			id, ok := r.index[key]
			if !ok {
				id = storage.TopicID(len(r.topics))
				r.index[key] = id
				r.topics = append(r.topics, storage.TopicInfo{ID: id, Topic: storage.Topic{
					Name: row.name, Type: row.typ, Encoding: row.format, Metadata: map[string]string{},
				}})
			}
			ids[row.id] = id
			if err := r.describe(&r.topics[id].Topic, p, row); err != nil {
				return err
			}
			list, err := cache.Parse(row.qos)
			if err != nil {
				if err := r.warn("qos", !r.explained(), p.path, "topic %.200q: %v", row.name, err); err != nil {
					return err
				}
			}
			here[id] = append(here[id], list...)
		}
		for id, list := range here {
			if len(list) > 0 { // the last part knows most publishers
				r.topics[id].QoS = list
			}
		}
		p.ids = newTopicIDs(ids)
	}
	if err := r.useMetadata(); err != nil {
		return err
	}
	return r.useCustom()
}

// describe fills in the schema and the type hash.
func (r *reader) describe(t *storage.Topic, p *part, row *topicRow) error {
	def, ok := p.defs[row.typ]
	if !ok {
		def = p.defs[definitionType(row.typ)]
	}
	if row.hash != "" && t.Metadata[storage.MetaTypeHash] == "" {
		t.Metadata[storage.MetaTypeHash] = row.hash
	}
	s := storage.Schema{Encoding: def.encoding, Data: def.text}
	if len(s.Data) == 0 && s.Encoding != "ros2msg" && s.Encoding != "ros2idl" {
		return nil // not known, while that of a type without fields is known and empty
	}
	if s.Encoding == "" || s.Encoding == "unknown" {
		// Kilted and older write so for services without dependencies.
		s.Encoding = "ros2msg"
		if bytes.HasPrefix(bytes.TrimLeft(def.text, "=\r\n "), []byte("IDL:")) {
			s.Encoding = "ros2idl"
		}
	}
	if t.Schema.Encoding == "" {
		t.Schema = s
	} else if t.Schema.Encoding != s.Encoding || !bytes.Equal(t.Schema.Data, def.text) {
		return r.warn("definition", false, p.path, "topic %.200q: its definition differs from that of the part before, which is used", t.Name)
	}
	return nil
}

// definitionType is the topic_type in message_definitions for a topic's type:
// events of services and actions are under the service's or action's own name.
// Source: ros2/rosbag2 rosbag2_cpp/src/rosbag2_cpp/{service,action}_utils.cpp.
func definitionType(typ string) string {
	if strings.Contains(typ, "/srv/") {
		return strings.TrimSuffix(typ, "_Event")
	}
	if strings.Contains(typ, "/action/") {
		for _, suffix := range []string{"_SendGoal_Event", "_GetResult_Event", "_FeedbackMessage"} {
			if s, ok := strings.CutSuffix(typ, suffix); ok {
				return s
			}
		}
	}
	return typ
}

// useCustom returns to topics what KeepTopic kept of them.
func (r *reader) useCustom() error {
	value, ok := r.custom[ros2bag.CustomKey]
	if !ok {
		return nil
	}
	list, err := ros2bag.DecodeCustom(value)
	if err != nil {
		return r.warn("custom-data", false, "", "custom_data: %s cannot be read (%v)", ros2bag.CustomKey, err)
	}
	delete(r.custom, ros2bag.CustomKey)
	for i := range list {
		c := &list[i]
		if id, ok := r.index[topicKey{c.Name, c.Type, c.Encoding}]; ok {
			c.Restore(&r.topics[id].Topic)
		}
	}
	return nil
}

// useMetadata adds what only metadata.yaml knows. The tables win if both
// speak: they lie with the messages.
func (r *reader) useMetadata() error {
	custom := map[string]string{}
	for _, p := range r.parts {
		if p.distro != "" {
			custom[storage.MetaDistro] = p.distro
		}
	}
	for _, p := range r.parts {
		if p.last == "" {
			continue
		}
		text := p.last
		if r.layout.Meta != nil {
			text = ros2bag.WithoutTopics(text) // metadata.yaml has them all
		}
		m, _, err := ros2bag.ParseMetadata(r.ctx, []byte(text), ros2bag.QoSCache{})
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			if err := r.warn("metadata", false, p.path, "the row of the metadata table cannot be read (%v)", err); err != nil {
				return err
			}
			continue
		}
		r.addCustom(custom, m)
		if len(r.parts) == 1 {
			r.row = m
		}
	}
	r.custom = custom
	m := r.layout.Meta
	if m != nil {
		r.addCustom(custom, m)
	} else if m = r.row; m == nil {
		return nil
	}
	known := r.layout.Meta != nil // else m is written with the tables, and not compared
	byName := map[string]int{}
	for i := range r.topics {
		byName[r.topics[i].Name] = i
	}
	for i := range m.Topics {
		t := &m.Topics[i]
		id, ok := r.index[topicKey{t.Name, t.Type, t.Format}]
		if ok {
			topic := &r.topics[id]
			if len(topic.QoS) == 0 {
				topic.QoS = t.QoS
			}
			if t.Hash != "" && topic.Metadata[storage.MetaTypeHash] == "" {
				topic.Metadata[storage.MetaTypeHash] = t.Hash
			}
			continue
		}
		if !known {
			continue
		}
		var err error
		if k, ok := byName[t.Name]; !ok {
			err = r.warn("metadata-topic", t.Messages > 0 && !r.explained(), "", "%s counts %d messages of topic %.200q, which no part has", ros2bag.MetadataName, t.Messages, t.Name)
		} else if have := &r.topics[k]; have.Type != t.Type {
			err = r.warn("metadata-topic", false, "", "topic %.200q: %s has type %.200q, the database %.200q, which is used", t.Name, ros2bag.MetadataName, t.Type, have.Type)
		} else {
			err = r.warn("metadata-topic", false, "", "topic %.200q: %s has serialization format %.40q, the database %.40q, which is used", t.Name, ros2bag.MetadataName, t.Format, have.Encoding)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) addCustom(to map[string]string, m *ros2bag.Metadata) {
	maps.Copy(to, m.Custom)
	if m.Distro != "" {
		to[storage.MetaDistro] = m.Distro
	}
}

// nameUnknown makes a topic of each id of a part that no row of topics has, so that
// its messages are not lost.
func (r *reader) nameUnknown(p *part, unknown map[int64]int64) error {
	if len(unknown) == 0 {
		return nil
	}
	ids := maps.Clone(p.ids.all)
	about := ""
	if r.estimated {
		about = "about "
	}
	for _, id := range slices.Sorted(maps.Keys(unknown)) {
		t := storage.Topic{Name: fmt.Sprintf("/topic_%d", id), Type: "unknown/msg/Unknown", Encoding: encoding, Metadata: map[string]string{}}
		if id < 0 {
			t.Name = fmt.Sprintf("/topic_minus_%d", uint64(-id))
		}
		key := topicKey{t.Name, t.Type, t.Encoding}
		topic, ok := r.index[key]
		if !ok {
			topic = storage.TopicID(len(r.topics))
			r.index[key] = topic
			r.topics = append(r.topics, storage.TopicInfo{ID: topic, Topic: t})
		}
		ids[id] = topic
		r.topics[topic].Messages += unknown[id]
		if err := r.warn("unknown-topic", !r.explained(), p.path, "no topic has id %d; its %s%d messages get the topic %q, and their type is unknown", id, about, unknown[id], t.Name); err != nil {
			return err
		}
	}
	p.ids = newTopicIDs(ids)
	return nil
}

// plainIDs reports whether the ids of the topics are 1 to n, as rosbag2 makes them.
// If they are not, one may be damaged.
func (p *part) plainIDs() bool {
	for i, t := range p.topics {
		if t.id != int64(i)+1 {
			return false
		}
	}
	return true
}

// sortTopics puts the rows of topics in the order of their ids, each id once.
func sortTopics(list []topicRow) []topicRow {
	slices.SortStableFunc(list, func(a, b topicRow) int { return cmp.Compare(a.id, b.id) })
	return slices.CompactFunc(list, func(a, b topicRow) bool { return a.id == b.id })
}
