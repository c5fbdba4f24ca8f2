package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// topics are the topics of an input, and the topics that it may have.
type topics struct {
	list        []storage.TopicInfo
	about       frames.Recording
	known       map[typedName][]*known
	mapper      *mapping.Mapper
	decided     *mapping.Mapper // gives topics the definitions by which they are read
	remarks     []storage.Warning
	definitions int64 // bytes of the input's definitions
}

// A typedName is a topic by what a stream says of it.
type typedName struct{ name, typ string }

// A known topic is one that is declared.
type known struct {
	storage.Topic
	publisher uint32
	own       bool            // by the input itself
	id        storage.TopicID // NoTopic: it has no messages yet
	mapper    *mapping.Mapper // finds its definition; nil: the mapper of all topics
	program   *build.Program  // makes its messages of values; nil: see topics.program
}

func newTopics(o *Options) *topics {
	t := &topics{known: map[typedName][]*known{}}
	for i, info := range o.Like {
		if i == 0 {
			t.about = frames.Recording{Format: info.Format, Version: info.Version, Metadata: info.Metadata}
		}
		for k := range info.Topics {
			t.like(&info.Topics[k].Topic, info.Mapper)
		}
	}
	options := mapping.Options{Definitions: o.Definitions}
	options.SourceDistro, options.Certain = mapping.SourceDistro(o.Distro, t.about.Metadata)
	t.mapper = mapping.New(options)
	options.Decided = true
	t.decided = mapping.New(options)
	return t
}

// like adds a topic of another recording.
func (t *topics) like(topic *storage.Topic, m *mapping.Mapper) {
	key := typedName{topic.Name, topic.Type}
	publisher := uint32(0)
	for _, k := range t.known[key] {
		if k.Encoding == topic.Encoding {
			publisher++
		}
	}
	t.known[key] = append(t.known[key], &known{Topic: *topic, publisher: publisher, id: storage.NoTopic, mapper: m})
}

// declare takes a definition of the input. It reports whether messages that come mean another topic than before.
func (t *topics) declare(d *frames.Definition) (replaced bool, err error) {
	if t.definitions += int64(len(d.Schema.Data)); t.definitions > maxDefinitions {
		return false, fmt.Errorf("definitions of more than %d MiB: %w", maxDefinitions>>20, storage.ErrCorrupt)
	}
	if d.Encoding == "" {
		return false, fmt.Errorf("the definition of %s does not say which encoding its messages have: %w", d.Name,
			storage.ErrCorrupt)
	}
	key := typedName{d.Name, d.Type}
	list := t.known[key]
	i := slices.IndexFunc(list, func(k *known) bool { return k.Encoding == d.Encoding && k.publisher == d.Publisher })
	if i >= 0 && list[i].own && sameTopic(&list[i].Topic, &d.Topic) {
		return false, nil
	}
	k := &known{Topic: d.Topic, publisher: d.Publisher, own: true}
	if k.id, err = t.make(&k.Topic); err != nil {
		return false, err
	}
	if i < 0 {
		t.known[key] = append(list, k)
		return false, nil
	}
	replaced = list[i].id != storage.NoTopic
	list[i] = k
	return replaced, nil
}

func sameTopic(a, b *storage.Topic) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Encoding == b.Encoding && a.Schema.Encoding == b.Schema.Encoding &&
		bytes.Equal(a.Schema.Data, b.Schema.Data) && maps.Equal(a.Metadata, b.Metadata) && slices.Equal(a.QoS, b.QoS)
}

// make gives a topic its number.
func (t *topics) make(topic *storage.Topic) (storage.TopicID, error) {
	if len(t.list) == maxTopics {
		return 0, fmt.Errorf("more than %d topics: %w", maxTopics, storage.ErrCorrupt)
	}
	id := storage.TopicID(len(t.list))
	t.list = append(t.list, storage.TopicInfo{Topic: *topic, ID: id})
	return id, nil
}

// find returns the topic of messages in an encoding, with its number. With values the messages are made of values in
// that encoding.
func (t *topics) find(encoding, typ, name string, publisher uint32) (k *known, values *build.Program, err error) {
	list := t.known[typedName{name, typ}]
	for _, k := range list {
		if k.Encoding == encoding && k.publisher == publisher {
			return k, nil, t.number(k)
		}
	}
	if encoding == frames.JSON || encoding == frames.Values {
		if k, err = t.ofValues(name, typ, publisher); k == nil && err == nil && typ != "" {
			k, err = t.standard(name, typ)
		}
		if k != nil && err == nil {
			if values, err = t.program(k); err == nil {
				err = t.number(k)
			}
		}
		if err != nil || k != nil {
			return k, values, err
		}
	}
	if publisher != 0 {
		return nil, nil, fmt.Errorf("topic %s: its stamp names publisher %d, which no definition declares: %w", name,
			publisher, storage.ErrCorrupt)
	}
	k = &known{Topic: storage.Topic{Name: name, Type: typ, Encoding: encoding}, id: storage.NoTopic}
	if encoding != frames.JSON { // which needs no definition
		if _, err := t.mapper.Define(&k.Topic); err != nil {
			return nil, nil, nothingDefines(name, typ, err)
		}
	}
	t.known[typedName{name, typ}] = append(list, k)
	return k, nil, t.number(k)
}

// nothingDefines is the error of a topic without a definition.
func nothingDefines(name, typ string, err error) error {
	return fmt.Errorf("topic %s of type %q: nothing defines its messages (%v); --like REC names a recording that has "+
		"the topic, --defs PATH one with its type, and cat --definitions writes definitions: %w", name, typ, err,
		storage.ErrUnsupported)
}

// noType is the error of values of a topic without a type.
func noType(name string) error {
	return fmt.Errorf("topic %s: nothing says its type; --like REC names a recording that has the topic, "+
		"and --type its type: %w", name, storage.ErrUnsupported)
}

// ofValues returns the topic that values belong to, which may have no number yet: by its name alone
// if they say no type. It is nil if no topic is known.
func (t *topics) ofValues(name, typ string, publisher uint32) (*known, error) {
	var list []*known
	if typ != "" {
		list = t.known[typedName{name, typ}]
	} else {
		var types []string
		for key, l := range t.known {
			if key.name == name {
				types, list = append(types, key.typ), l
			}
		}
		if len(types) > 1 {
			slices.Sort(types)
			return nil, fmt.Errorf("topic %s has several types, %q, and the input does not say which: %w", name,
				types, storage.ErrUnsupported)
		}
	}
	for _, k := range list {
		if k.publisher == publisher {
			return k, nil
		}
	}
	return nil, nil
}

// standard returns a topic of a type that the user has, or a standard one. It has no number yet.
func (t *topics) standard(name, typ string) (*known, error) {
	encodings := []string{"ros1", "cdr"}
	switch {
	case strings.Contains(typ, "/msg/"):
		encodings = encodings[1:]
	case !strings.Contains(typ, "/"):
		encodings = []string{"protobuf"}
	}
	var first error
	for _, encoding := range encodings {
		res, err := t.decided.Map(&storage.Topic{Name: name, Type: typ, Encoding: encoding})
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		for _, m := range res.Remarks {
			t.remark(m.Code, "topic %s: %s", name, m.Message)
		}
		k := &known{Topic: res.Topic, id: storage.NoTopic}
		t.known[typedName{name, typ}] = append(t.known[typedName{name, typ}], k)
		return k, nil
	}
	return nil, nothingDefines(name, typ, first)
}

// program returns what makes messages of a topic of values, and compiles it once.
func (t *topics) program(k *known) (*build.Program, error) {
	if k.program != nil {
		return k.program, nil
	}
	typ, def, err := cmp.Or(k.mapper, t.mapper).Type(k.trusted())
	if err == nil && def.Head != nil && def.JSON == nil {
		err = fmt.Errorf("messages in %s of this definition are not made of values: %w", k.Encoding,
			storage.ErrUnsupported)
	}
	switch {
	case err != nil:
	case def.JSON != nil:
		k.program, err = build.CompileJSON(typ, def.JSON)
	default:
		k.program, err = build.Compile(typ)
	}
	if err != nil {
		return nil, fmt.Errorf("topic %s of type %q: %w", k.Name, k.Type, errors.Join(err, storage.ErrUnsupported))
	}
	return k.program, nil
}

// trusted returns the topic with the hash of its definition, if the input has that: values that come with a definition
// are values of it, also if it contradicts the standard one.
func (k *known) trusted() *storage.Topic {
	if !k.own || k.Schema.Encoding != "ros2msg" || k.Metadata[storage.MetaTypeHash] != "" {
		return &k.Topic
	}
	msg, err := rosmsg.Parse(k.Type, k.Schema.Data, rosmsg.ROS2, nil)
	if err != nil {
		return &k.Topic
	}
	hash, err := schema.RIHS01(msg)
	if err != nil {
		return &k.Topic
	}
	topic := k.Topic
	topic.Metadata = map[string]string{storage.MetaTypeHash: hash}
	maps.Copy(topic.Metadata, k.Metadata)
	return &topic
}

// remark adds a warning that is no damage.
func (t *topics) remark(code, format string, a ...any) {
	t.remarks = append(t.remarks, storage.Warning{Code: code, Message: fmt.Sprintf(format, a...), Offset: -1})
}

// number gives a known topic its number, once.
func (t *topics) number(k *known) (err error) {
	if k.id == storage.NoTopic {
		k.id, err = t.make(&k.Topic)
	}
	return err
}
