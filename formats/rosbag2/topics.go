package rosbag2

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// joinTopics numbers the topics of all parts, and fills in what the tables, metadata.yaml and
// custom_data have about them.
func (r *reader) joinTopics() error {
	cache := ros2bag.QoSCache{}
	for _, p := range r.parts {
		ids := map[int64]storage.TopicID{}
		here := map[storage.TopicID][]storage.QoS{}
		for i := range p.topics {
			row := &p.topics[i]
			id := r.Topics.Add(ros2bag.TopicKey{Name: row.name, Type: row.typ, Encoding: row.format})
			ids[row.id] = id
			if err := r.describe(id, p, row); err != nil {
				return err
			}
			list, err := cache.Parse(row.qos)
			if err != nil {
				if err := r.Warn("qos", !r.explained(), p.path, "topic %.200q: %v", row.name, err); err != nil {
					return err
				}
			}
			here[id] = append(here[id], list...)
		}
		for id, list := range here {
			if len(list) > 0 { // the last part knows most publishers
				r.Topics.List[id].QoS = list
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
func (r *reader) describe(id storage.TopicID, p *part, row *topicRow) error {
	def, ok := p.defs[row.typ]
	if !ok {
		def = p.defs[definitionType(row.typ)]
	}
	r.Topics.SetHash(id, row.hash)
	if len(def.text) == 0 && def.encoding != "ros2msg" && def.encoding != "ros2idl" {
		return nil // not known; the definition of a type without fields is known and empty
	}
	return r.Topics.Define(id, ros2bag.NamedSchema(storage.Schema{Encoding: def.encoding, Data: def.text}), p.path)
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
	value, ok := r.Topics.Custom[ros2bag.CustomKey]
	if !ok {
		return nil
	}
	list, err := ros2bag.DecodeCustom(value)
	if err != nil {
		return r.Warn("custom-data", false, "", "custom_data: %s cannot be read (%v)", ros2bag.CustomKey, err)
	}
	delete(r.Topics.Custom, ros2bag.CustomKey)
	for i := range list {
		c := &list[i]
		if id, ok := r.Topics.ID(ros2bag.TopicKey{Name: c.Name, Type: c.Type, Encoding: c.Encoding}); ok {
			c.Restore(&r.Topics.List[id].Topic)
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
		if r.Layout.Meta != nil {
			text = ros2bag.WithoutTopics(text) // metadata.yaml has them all
		}
		m, _, err := ros2bag.ParseMetadata(r.Ctx, []byte(text), ros2bag.QoSCache{})
		if r.Ctx.Err() != nil {
			return r.Ctx.Err()
		}
		if err != nil {
			if err := r.Warn("metadata", false, p.path, "the row of the metadata table cannot be read (%v)", err); err != nil {
				return err
			}
			continue
		}
		m.AddTo(custom)
		if len(r.parts) == 1 {
			r.row = m
		}
	}
	r.Topics.Custom = custom
	m := r.Layout.Meta
	if m != nil {
		m.AddTo(custom)
	} else if m = r.row; m == nil {
		return nil
	}
	return r.Topics.Complete(m, r.Layout.Meta != nil) // else m is written with the tables, and not compared
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
		name := fmt.Sprintf("/topic_%d", id)
		if id < 0 {
			name = fmt.Sprintf("/topic_minus_%d", uint64(-id))
		}
		topic := r.Topics.Add(ros2bag.TopicKey{Name: name, Type: "unknown/msg/Unknown", Encoding: encoding})
		ids[id] = topic
		r.Topics.List[topic].Messages += unknown[id]
		if err := r.Warn("unknown-topic", !r.explained(), p.path,
			"no topic has id %d; its %s%d messages get the topic %q, and their type is unknown", id, about, unknown[id],
			name); err != nil {
			return err
		}
	}
	p.ids = newTopicIDs(ids)
	return nil
}

// plainIDs reports whether the ids of the topics are 1 to n, as rosbag2 makes them.
// If they are not, an id may be damaged.
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
