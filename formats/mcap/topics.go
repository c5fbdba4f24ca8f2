package mcap

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// maxTopics is how many definitions of channels a file may have: as many as there are ids. A sound
// file has one definition of each channel; if channels change their meaning it may need some more.
const maxTopics = 1 << 16

// A topic is a channel as one definition has it.
type topic struct {
	storage.Topic
	channel  channel
	schema   *schema // nil: the channel has no schema, or the schema is not there
	order    int     // of appearance
	messages int64
}

// A position is a place in the blocks: how many blocks are before it, and how many bytes of the
// block that it lies in.
type position struct {
	block int
	at    int64
}

func (p position) before(o position) bool {
	return p.block < o.block || p.block == o.block && p.at < o.at
}

// A change makes a channel id mean another topic from a position on.
type change struct {
	position
	id    uint16
	topic storage.TopicID
}

// definitions are the channels of a file. An id means one topic in all of a sound file. In a file
// that was put together it may mean another topic from some place on. An id that is used before it
// is defined means what it is defined as first.
type definitions struct {
	list    []*topic // after freeze: in the order of id; index = TopicID
	byKey   map[string]int
	schemas map[uint16]*schema // in force
	current map[uint16]int     // index of list by id, in force
	pending map[uint16]int64   // messages by id, before any definition
	section position           // where the present file begins, of several in one
	orphans int64              // messages of earlier files whose channels nothing defines

	first   []int // by id: index of list + 1, what it means until something changes it
	changes []change
}

func newDefinitions() *definitions {
	return &definitions{
		byKey: map[string]int{}, schemas: map[uint16]*schema{}, current: map[uint16]int{}, pending: map[uint16]int64{},
	}
}

// newFile begins another file in the same one: its ids are its own.
func (d *definitions) newFile(at position) {
	for id := range d.current {
		d.changes = append(d.changes, change{at, id, storage.NoTopic})
	}
	d.orphans, d.section = d.ownerless(), at
	d.schemas, d.current, d.pending = map[uint16]*schema{}, map[uint16]int{}, map[uint16]int64{}
}

// addSchema adds a Schema record, and keeps nothing of its memory.
func (d *definitions) addSchema(s *schema) {
	if s.id == 0 {
		return // the id of no schema
	}
	if old := d.schemas[s.id]; old != nil && old.same(s) {
		return
	}
	k := *s
	k.data = bytes.Clone(s.data)
	d.schemas[s.id] = &k
}

func (s *schema) same(o *schema) bool {
	return s.name == o.name && s.encoding == o.encoding && bytes.Equal(s.data, o.data)
}

// key is what makes channels one topic: all that a definition has.
func key(c *channel, s *schema) string {
	k := *c
	k.metadata = slices.Clone(c.metadata)
	slices.SortFunc(k.metadata, func(a, b pair) int {
		return cmp.Or(strings.Compare(a.key, b.key),
			strings.Compare(a.value, b.value))
	})
	k.schema = 0
	b := k.append(nil)
	if s != nil {
		b = (&schema{name: s.name, encoding: s.encoding, data: s.data}).append(b)
	}
	return string(b)
}

// addChannel adds a Channel record. It reports whether the id meant something
// else before.
func (d *definitions) addChannel(c *channel, at position) (redefined bool) {
	s := d.schemas[c.schema]
	k := key(c, s)
	now, defined := d.current[c.id]
	i, ok := d.byKey[k]
	if !ok {
		if old := d.list; defined && s != nil && old[now].schema == nil && old[now].channel.schema == c.schema &&
			key(&old[now].channel, nil) == key(c, nil) {
			i = now // the schema came after the channel
			old[i].schema = s
		} else {
			i = len(d.list)
			d.list = append(d.list, &topic{channel: *c, schema: s, order: i})
		}
		d.byKey[k] = i
	}
	if defined && now == i {
		return false
	}
	d.current[c.id] = i
	if !defined {
		at = d.section
		d.list[i].messages += d.pending[c.id]
		delete(d.pending, c.id)
	}
	for len(d.first) <= int(c.id) {
		d.first = append(d.first, 0)
	}
	if d.section == (position{}) && !defined {
		d.first[c.id] = i + 1
	} else {
		d.changes = append(d.changes, change{at, c.id, storage.TopicID(i)})
	}
	return defined
}

// complete reports whether a channel is defined, and its schema.
func (d *definitions) complete(id uint16) bool {
	i, ok := d.current[id]
	return ok && (d.list[i].schema != nil || d.list[i].channel.schema == 0)
}

// count adds messages of a channel.
func (d *definitions) count(id uint16, n int64) {
	if i, ok := d.current[id]; ok {
		d.list[i].messages += n
	} else {
		d.pending[id] += n
	}
}

// ownerless is how many messages were counted of channels that are not defined.
func (d *definitions) ownerless() int64 {
	n := d.orphans
	for _, k := range d.pending {
		n += k
	}
	return n
}

// freeze ends the definitions: topics are numbered in the order of id.
func (d *definitions) freeze() {
	slices.SortFunc(d.list, func(a, b *topic) int {
		return cmp.Or(cmp.Compare(a.channel.id, b.channel.id), cmp.Compare(a.order, b.order))
	})
	number := make([]int, len(d.list))
	cache := ros2bag.QoSCache{}
	for i, t := range d.list {
		number[t.order] = i
		if s := d.schemas[t.channel.schema]; t.schema == nil && s != nil {
			t.schema = s
		}
		t.fill(cache)
	}
	for id, i := range d.first {
		if i > 0 {
			d.first[id] = number[i-1] + 1
		}
	}
	for i := range d.changes {
		if c := &d.changes[i]; c.topic != storage.NoTopic {
			c.topic = storage.TopicID(number[c.topic])
		}
	}
	slices.SortStableFunc(d.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.at, b.at))
	})
}

// usual reports whether the Writer would choose this profile for the channels, and add
// nothing to them for it.
func (d *definitions) usual(profile string) bool {
	encodings := make([]string, len(d.list))
	for i, t := range d.list {
		encodings[i] = t.channel.encoding
		if profile == "ros2" && !slices.ContainsFunc(t.channel.metadata, func(p pair) bool { return p.key == metaQoS }) {
			return false
		}
	}
	return profile == profileOf(encodings)
}

// fill makes the topic of the contract.
func (t *topic) fill(cache ros2bag.QoSCache) {
	c := &t.channel
	t.Topic = storage.Topic{
		Name:     strings.ToValidUTF8(c.topic, "\uFFFD"),
		Encoding: c.encoding,
		Metadata: map[string]string{},
	}
	if t.schema != nil {
		t.Type = strings.ToValidUTF8(t.schema.name, "\uFFFD")
		t.Schema = storage.Schema{Encoding: t.schema.encoding, Data: t.schema.data}
	}
	for _, p := range c.metadata {
		if _, ok := t.Metadata[p.key]; !ok {
			t.Metadata[p.key] = p.value
		}
	}
	if c.encoding == "ros1" { // converters write the words of the bag, others the words of MCAP's registry
		switch t.Metadata[storage.MetaLatching] {
		case "true", "True":
			t.Metadata[storage.MetaLatching] = "1"
		case "false", "False":
			t.Metadata[storage.MetaLatching] = "0"
		}
	}
	readMetadata(&t.Topic, cache)
}

// A view is what channel ids mean in a block, while its records are gone through.
type view struct {
	topics  []int    // by id: index of list + 1
	changes []change // within the block, the changes to come
}

// view returns what ids mean at the start of a block.
func (d *definitions) view(block int) view {
	v := view{topics: d.first}
	if len(d.changes) == 0 {
		return v
	}
	v.topics = slices.Clone(d.first)
	start := position{block: block}
	n := 0
	for ; n < len(d.changes) && (d.changes[n].before(start) || d.changes[n].position == start); n++ {
		v.apply(&d.changes[n])
	}
	end := n
	for end < len(d.changes) && d.changes[end].block == block {
		end++
	}
	v.changes = d.changes[n:end]
	return v
}

func (v *view) apply(c *change) {
	v.topics[c.id] = 0
	if c.topic != storage.NoTopic {
		v.topics[c.id] = int(c.topic) + 1
	}
}

// lookup returns what an id means for a record at byte at of the block. Records are
// asked for in their order.
func (v *view) lookup(id uint16, at int64) (storage.TopicID, bool) {
	for len(v.changes) > 0 && v.changes[0].at <= at {
		v.apply(&v.changes[0])
		v.changes = v.changes[1:]
	}
	if int(id) >= len(v.topics) || v.topics[id] == 0 {
		return 0, false
	}
	return storage.TopicID(v.topics[id] - 1), true
}

// lookup returns what an id means in a file in which it means one topic.
func (d *definitions) lookup(id uint16) (storage.TopicID, bool) {
	v := view{topics: d.first}
	return v.lookup(id, 0)
}
