package storage

import (
	"maps"
	"slices"
)

// A Capacity is what recordings of a format have a place for. Every format keeps topics, the data of messages and
// their log times.
type Capacity struct {
	// Native is the encoding of the format's messages: other encodings are converted to it. "": the
	// format has no encoding of its own, and takes all messages as they are.
	Native string

	// Carries reports whether the format also keeps messages and definitions of other
	// encodings, as they are. schemaEncoding is empty for a topic without a
	// definition. Nil: it keeps its native encoding only.
	Carries func(encoding, schemaEncoding string) bool

	// Metadata lists the keys of WriteOptions.Metadata that the format keeps; an
	// entry "*" means that it keeps any.
	Metadata []string

	// TopicMetadata reports whether the format keeps a key of Topic.Metadata; nil: it
	// keeps no key. CreateTopic skips the others.
	TopicMetadata func(key string) bool

	// QoS is set if the format keeps Topic.QoS. What it does not keep is nil in a
	// recording that is read back.
	QoS bool

	// PublishTime and Sequence are set if the format keeps these fields of Message.
	// Without them a message that is read has its LogTime as PublishTime, and
	// Sequence 0.
	PublishTime, Sequence bool

	// ServiceText is set if messages of services and actions carry the text of the .srv or
	// .action file as their definition, as rosbag2 stores it.
	ServiceText bool

	// Extras is set if outputs have a place for attachments and metadata records. Whether an output
	// has one depends on its Writer: see ExtraWriter.
	Extras bool

	// MinTime and MaxTime bound the LogTime that the format can store; both 0:
	// any int64. Write refuses other times with an error wrapping ErrUnsupported.
	MinTime, MaxTime int64

	// TopicName reports whether a topic can have a name in a recording that is
	// written; CreateTopic refuses others. Nil: any. The converter gives a topic
	// another name if it must.
	TopicName func(name string) bool

	// MaxMessage bounds the Data of a message that can be written, in bytes; 0: no
	// bound. Write refuses larger messages with an error wrapping ErrUnsupported.
	MaxMessage int64
}

// KeepsMetadata reports whether a recording's metadata of a key has a place in the format.
func (c *Capacity) KeepsMetadata(key string) bool {
	return slices.Contains(c.Metadata, key) || slices.Contains(c.Metadata, "*")
}

// CarriesTopic reports whether the format takes the messages of a topic, and its definition,
// as they are.
func (c *Capacity) CarriesTopic(t *Topic) bool {
	return t.Encoding == c.Native || c.Carries != nil && c.Carries(t.Encoding, t.Schema.Encoding)
}

// StripTopic returns t without the parts that the format has no place for. The result shares
// memory with t.
func (c *Capacity) StripTopic(t Topic) Topic {
	if !c.QoS {
		t.QoS = nil
	}
	drop := func(key, _ string) bool { return c.TopicMetadata == nil || !c.TopicMetadata(key) }
	for key := range t.Metadata {
		if drop(key, "") {
			t.Metadata = maps.Clone(t.Metadata)
			maps.DeleteFunc(t.Metadata, drop)
			break
		}
	}
	return t
}
