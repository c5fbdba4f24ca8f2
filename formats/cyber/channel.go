package cyber

import (
	"bytes"
	"crypto/sha256"
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// A channel is a name in a file, and the topic that it stands for. A channel
// that is declared again with another type or definition is another topic from
// there on.
type channel struct {
	name   string
	number int // from 1, in its file
	topic  storage.TopicID
	from   int64             // offset in the file
	next   *channel          // declared later
	typ    string            // as declared
	schema [sha256.Size]byte // sum of what it declares; zero: nothing that can be read
	twice  bool              // two of its files have one name and different contents
}

// at returns the topic of messages in a chunk at an offset of the file.
func (c *channel) at(offset int64) storage.TopicID {
	for c.next != nil && c.next.from <= offset {
		c = c.next
	}
	return c.topic
}

// A topicKey distinguishes topics.
type topicKey struct {
	name, typ string
	schema    [sha256.Size]byte // zero: no schema
}

// topics are the topics of a recording, in the order in which they were declared.
type topics struct {
	list    []storage.Topic
	counts  []int64
	known   map[topicKey]storage.TopicID
	byName  map[string][]storage.TopicID
	schemas map[[sha256.Size]byte]schema // by proto_desc
}

// A schema is what a proto_desc has.
type schema struct {
	set  []byte
	text string            // in place of descriptors: Apollo's own example programs write "test...."
	sum  [sha256.Size]byte // of set or text
	err  error
}

func newTopics() topics {
	return topics{
		known: map[topicKey]storage.TopicID{}, byName: map[string][]storage.TopicID{},
		schemas: map[[sha256.Size]byte]schema{},
	}
}

// schema returns the FileDescriptorSet of a proto_desc, made once for each content.
func (t *topics) schema(desc []byte) schema {
	key := sha256.Sum256(desc)
	s, ok := t.schemas[key]
	if !ok {
		s.set, s.err = schemaOf(desc)
		switch {
		case s.set != nil:
			s.sum = sha256.Sum256(s.set)
		case s.err != nil && isText(desc):
			s = schema{text: string(desc), sum: key}
		}
		t.schemas[key] = s
	}
	return s
}

// isText reports whether a proto_desc is some text, which descriptors are not: their lengths and
// numbers are other bytes.
func isText(desc []byte) bool {
	for _, b := range desc {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' || b > '~' {
			return false
		}
	}
	return len(desc) <= maxText && bytes.IndexByte(desc, '\n') != 0
}

// maxText is the most bytes of a proto_desc that are kept as a text.
const maxText = 1024

// metaDesc is the key of a topic's metadata that has the text in place of descriptors.
const metaDesc = "proto_desc_text"

// add returns the topic of that name, type and schema. A topic without a schema is taken for the
// topic of that name and type that has one.
func (t *topics) add(name, typ string, s schema) storage.TopicID {
	key := topicKey{name, typ, s.sum}
	if id, ok := t.known[key]; ok {
		return id
	}
	if s.set == nil && s.text == "" {
		for _, id := range t.byName[name] {
			if t.list[id].Type == typ {
				return id
			}
		}
	}
	id := storage.TopicID(len(t.list))
	topic := storage.Topic{Name: name, Type: typ, Encoding: encoding}
	if s.set != nil {
		topic.Schema = storage.Schema{Encoding: encoding, Data: s.set}
	}
	if s.text != "" {
		topic.Metadata = map[string]string{metaDesc: s.text}
	}
	t.list = append(t.list, topic)
	t.counts = append(t.counts, 0)
	t.known[key] = id
	t.byName[name] = append(t.byName[name], id)
	return id
}

// complete gives a topic whose descriptors cannot be read the descriptors that the index has for
// its channel.
func (t *topics) complete(id storage.TopicID, s schema) {
	topic := &t.list[id]
	topic.Schema = storage.Schema{Encoding: encoding, Data: s.set}
	t.known[topicKey{topic.Name, topic.Type, s.sum}] = id
}

// A declaration is a channel as a CHANNEL section or the index has it.
type declaration struct {
	name, typ string
	desc      field // proto_desc
	disused   bool  // it is an index that was replaced: see disusedField
}

// declare adds a channel that was declared at an offset.
func (f *file) declare(w *window, at int64, d declaration) error {
	var s schema
	size := d.desc.to - d.desc.from
	switch {
	case size > maxDesc:
		s.err = errDescSize
	case size > 0:
		b, err := w.bytes(d.desc)
		if err != nil {
			return err
		}
		s = f.r.topics.schema(b)
	}
	switch {
	case s.err != nil:
		if err := f.warn("descriptor", at, s.set == nil, storage.Lost{}, "proto_desc of channel %.80q: %v", d.name,
			s.err); err != nil {
			return err
		}
	case s.text != "":
		if err := f.warn("no-descriptor", at, false, storage.Lost{},
			"channel %.80q has %.40q in place of descriptors of its messages of %.80q", d.name, s.text, d.typ); err != nil {
			return err
		}
	case s.set == nil:
		if err := f.warn("no-descriptor", at, false, storage.Lost{},
			"channel %.80q has no descriptors of its messages of %.80q", d.name, d.typ); err != nil {
			return err
		}
	}
	c := &channel{name: d.name, from: at, typ: d.typ, schema: s.sum, topic: f.r.topics.add(d.name, d.typ, s),
		twice: errors.Is(s.err, errDescTwice)}
	old := f.channels[d.name]
	if old == nil {
		c.number = len(f.channels) + 1
		f.channels[d.name] = c
		return nil
	}
	for old.next != nil {
		old = old.next
	}
	if old.topic != c.topic {
		old.next = c
		f.redeclared = true
		return f.warn("redeclared", at, false, storage.Lost{}, "channel %.80q is declared again, with another type or "+
			"definition: its later messages are a separate topic", d.name)
	}
	return nil
}

// declaration reads a Channel message, or a ChannelCache if its fields begin at
// 2, and returns it and message_number.
func (w *window) declaration(from, to int64, first int) (d declaration, count int64, err error) {
	err = w.fields(from, to, func(x field) (err error) {
		d.disused = d.disused || x.num == disusedField
		switch int(x.num) - first {
		case -1:
			count = clamp(x.v)
		case 0:
			d.name, err = w.text(x)
		case 1:
			d.typ, err = w.text(x)
		case 2:
			if x.from >= 0 {
				d.desc = x
			}
		}
		return err
	})
	if err == nil && !plausibleName([]byte(d.name)) {
		err = errMalformed
	}
	return d, count, err
}

// undeclared makes a topic of a channel that only messages name.
func (f *file) undeclared(at int64, name []byte) (*channel, error) {
	c := &channel{name: string(name), number: len(f.channels) + 1}
	if ids := f.r.topics.byName[c.name]; len(ids) == 1 {
		c.topic = ids[0] // another segment declares it
	} else {
		c.topic = f.r.topics.add(c.name, "", schema{})
	}
	f.channels[c.name] = c
	return c, f.warn(codeUndeclared, at, false, storage.Lost{},
		"no section declares channel %.80q: the type of its messages is unknown", name)
}
