package rosbag2

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// topicKey is what makes rows of topics one topic: ids differ from part to part.
type topicKey struct{ name, typ, format string }

// joinTopics numbers the topics of all parts, in the order in which they come,
// and gives them what the tables, metadata.yaml and our own notes say.
func (r *Reader) joinTopics() error {
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
				if err := r.warn("qos", !r.told(), p.path, "topic %.200q: %v", row.name, err); err != nil {
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
func (r *Reader) describe(t *storage.Topic, p *part, row *topicRow) error {
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
		// Kilted and older say so of services without dependencies.
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

// useCustom gives topics back what KeepTopic kept of them.
func (r *Reader) useCustom() error {
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

// useMetadata adds what only metadata.yaml knows. The tables win where both
// speak: they lie with the messages.
func (r *Reader) useMetadata() error {
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
			text = ros2bag.WithoutTopics(text) // of which metadata.yaml has said all
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
			err = r.warn("metadata-topic", t.Messages > 0 && !r.told(), "", "%s counts %d messages of topic %.200q, which no part has", ros2bag.MetadataName, t.Messages, t.Name)
		} else if have := &r.topics[k]; have.Type != t.Type {
			err = r.warn("metadata-topic", false, "", "topic %.200q: %s says type %.200q, the database %.200q, which is used", t.Name, ros2bag.MetadataName, t.Type, have.Type)
		} else {
			err = r.warn("metadata-topic", false, "", "topic %.200q: %s says serialization format %.40q, the database %.40q, which is used", t.Name, ros2bag.MetadataName, t.Format, have.Encoding)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) addCustom(to map[string]string, m *ros2bag.Metadata) {
	maps.Copy(to, m.Custom)
	if m.Distro != "" {
		to[storage.MetaDistro] = m.Distro
	}
}

// count finds how many messages each topic has, and the first and last time.
// The counts of metadata.yaml are used where they hold together: the sum over
// the topics is the stated total and the number of rowids, and each topic that
// has messages is one of the database. Anything else is counted row by row,
// without touching the payloads.
func (r *Reader) count() error {
	for _, p := range r.parts {
		if err := r.sniffRows(p); err != nil {
			return err
		}
	}
	trusted := r.useCounts()
	first := true
	for _, p := range r.parts {
		if p.empty {
			continue
		}
		t, err := r.tally(p, trusted)
		if err != nil {
			return err
		}
		if !trusted {
			for topic, n := range t.topics {
				r.topics[topic].Messages += n
			}
			if err := r.nameUnknown(p, t.unknown); err != nil {
				return err
			}
		}
		if !t.some {
			continue
		}
		p.timed, p.least, p.most = true, t.least, t.most
		if trusted {
			p.rows = p.dense()
		}
		if first {
			r.start, r.end, first = t.least, t.most, false
		}
		r.start, r.end = min(r.start, t.least), max(r.end, t.most)
	}
	if m := r.layout.Meta; m != nil && !trusted {
		return r.compareCount(m.Messages)
	}
	return nil
}

// compareCount says that metadata.yaml counts other than there are. Where that is an
// estimate, only more than there are rowids is known to be wrong.
func (r *Reader) compareCount(stated int64) error {
	total, about := int64(0), ""
	for i := range r.topics {
		total += r.topics[i].Messages
	}
	if r.estimated {
		total, about = 0, "no more than "
		for _, p := range r.parts {
			total += max(p.dense(), 0)
		}
		total = min(total, stated)
	}
	r.missing = max(stated-total, 0)
	if total == stated {
		return nil
	}
	return r.warn("count", total < stated && !r.told(), "", "%s counts %d messages, the database has %s%d", ros2bag.MetadataName, stated, about, total)
}

// sniffRows finds out whether the rows of a part are compressed one by one.
func (r *Reader) sniffRows(p *part) error {
	stated := r.layout.Meta != nil && r.layout.Meta.Mode == "MESSAGE" && r.layout.Meta.Compression == "zstd"
	p.sniffRows = true
	for i := range p.topics {
		p.sniffRows = p.sniffRows && p.topics[i].format == encoding
	}
	p.sniffRows = p.sniffRows || stated
	m := r.layout.Meta
	other := m != nil && m.Mode == "MESSAGE" && m.Compression != "zstd" // or the name of the codec is damaged
	if p.empty || !p.sniffRows && !other {
		return nil
	}
	c, err := r.acquire(p)
	if err == nil {
		err = r.firstRow(c)
		if e := r.release(c); err == nil {
			err = e
		}
	}
	if err != nil {
		return r.fail(p.path, "", err)
	}
	if other && !p.zstdRows {
		return r.fail(p.path, fmt.Sprintf("messages compressed with %.40q", m.Compression), storage.ErrUnsupported)
	}
	p.sniffRows = p.sniffRows || other
	if !p.zstdRows && stated {
		return r.warn("compression", false, p.path, "%s says that messages are compressed, the first is not", ros2bag.MetadataName)
	}
	if p.zstdRows && !stated && m != nil {
		return r.warn("compression", false, p.path, "messages are compressed with zstd, which %s does not say", ros2bag.MetadataName)
	}
	return nil
}

// firstRow looks whether the first row is compressed. Damage is for reading to say.
func (r *Reader) firstRow(c *conn) (err error) {
	p := c.part
	stop := errors.New("the first row is enough")
	look := func(row *sqlitefile.Row) error {
		p.zstdRows = isFrame(row.Local())
		return stop
	}
	if p.found != nil {
		first := p.found.Ranges(1)[0]
		err = p.found.NewSalvager(c.src).Scan(first.Lo, first.Hi, look)
	} else {
		err = c.scanner(p.table != nil).Scan(math.MinInt64, math.MaxInt64, look)
	}
	if err == stop || isDamage(err) {
		return nil
	}
	return err
}

// useCounts takes the counts of metadata.yaml, or of the metadata table of a
// single file, if they hold together.
func (r *Reader) useCounts() bool {
	m := r.layout.Meta
	if m == nil {
		m = r.row
	}
	if m == nil {
		return false
	}
	rows := int64(0)
	for _, p := range r.parts {
		n := p.dense()
		if n < 0 || p.found != nil || !p.plainIDs() {
			return false
		}
		rows += n
	}
	counts := make([]int64, len(r.topics))
	sum := int64(0)
	for i := range m.Topics {
		t := &m.Topics[i]
		k, ok := r.index[topicKey{t.Name, t.Type, t.Format}]
		if t.Messages < 0 || t.Messages > 0 && !ok {
			return false
		}
		if ok {
			counts[k] += t.Messages
		}
		sum += t.Messages
	}
	if sum != m.Messages || sum != rows {
		return false
	}
	for i := range counts {
		r.topics[i].Messages = counts[i]
	}
	return true
}
