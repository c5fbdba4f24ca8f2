package verify

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A member is a topic of a side, with what its messages are.
type member struct {
	topic *storage.TopicInfo
	def   *topicDefinition // nil: nothing is known of them
	flaws []string         // what is wrong with the topic for other readers

	head      mapping.Program // turns the messages into messages of def; nil: they are already
	uncounted bool            // they are migrated, and the counters of Headers are not the counters of the source
}

// A topicDefinition is what the messages of a topic look like.
type topicDefinition struct {
	msg  *schema.Message // the ROS type that they are, or that they were made from
	wire serial.Encoding // of ROS messages
	// the ROS 1 type of messages in CDR or ROS 1; nil: they are of msg and in wire
	either    *schema.Message
	json      *jsonschema.Object             // of messages in JSON
	proto     protoreflect.MessageDescriptor // of protobuf messages
	generated bool                           // msg is generated from proto: which fields are set is not known
}

// chosen are codes of remarks about which definition is used if the recording has no sum of it. That
// is no flaw.
var chosen = []string{"definition-builtin", "definition-given", "definition-choice", "definition-doubtful",
	"definition-misfit"}

// define finds the definition of a topic's messages: the recording's own, or a
// built-in one.
func (l *linker) define(side int, t *storage.TopicInfo) *member {
	m := &member{topic: t, flaws: doubled(&t.Topic)}
	d, err := l.definer[side].Define(&t.Topic)
	if err != nil {
		return m
	}
	for _, r := range d.Remarks { // of a definition that is there and not the one of its md5sum or type hash
		hashed := t.Encoding == "ros1" || t.Metadata[storage.MetaTypeHash] != ""
		if len(t.Schema.Data) > 0 && (hashed || !slices.Contains(chosen, r.Code)) {
			m.flaws = append(m.flaws, r.Message)
		}
	}
	switch {
	case d.Proto != nil:
		m.def = l.defineProto(side, d.Proto)
	case d.JSON != nil:
		m.def = &topicDefinition{msg: d.ROS, json: d.JSON, generated: true}
	case t.Encoding == "cdr":
		m.def = &topicDefinition{msg: d.ROS, wire: serial.CDR, either: d.Either}
	default:
		m.def = &topicDefinition{msg: d.ROS, wire: serial.ROS1}
	}
	return m
}

// doubts lists why the definitions of a side may be wrong.
func (c *comparison) doubts(side int) (list []storage.Warning) {
	for i := range c.info[side].Topics {
		t := &c.info[side].Topics[i]
		if !c.chosen[side][i] || t.Messages == 0 {
			continue
		}
		d, err := c.link.definer[side].Define(&t.Topic)
		if err != nil {
			continue
		}
		for _, r := range d.Remarks {
			if r.Warning {
				list = append(list, storage.Warning{Code: r.Code, Offset: -1, Message: fmt.Sprintf("topic %s: %s", t.Name,
					r.Message)})
			}
		}
	}
	return list
}

// equal reports whether the same bytes hold the same by both definitions. Where it cannot be sure it says no.
func (d *topicDefinition) equal(o *topicDefinition) bool {
	switch {
	case d == o:
		return true
	case d.json != nil || o.json != nil || d.either != nil || o.either != nil || d.wire != o.wire ||
		d.generated != o.generated:
		return false
	case (d.proto == nil) != (o.proto == nil) || !reflect.DeepEqual(d.msg, o.msg):
		return false
	case d.proto == nil:
		return true
	}
	a, err := protoschema.FileSet(d.proto, nil)
	b, err2 := protoschema.FileSet(o.proto, nil)
	return err == nil && err2 == nil && d.proto.FullName() == o.proto.FullName() && bytes.Equal(a, b)
}

// defineProto finds the ROS type of a protobuf message: the one that it was made
// from, which stands in its descriptor, or else the one generated from it.
func (l *linker) defineProto(side int, md protoreflect.MessageDescriptor) *topicDefinition {
	if msg, err := original(md); err == nil {
		if _, err := content.FromProto(md, msg, false, content.Canonical(msg, true), true); err == nil {
			return &topicDefinition{msg: msg, proto: md}
		}
	}
	msg, err := l.namer[side].ROS(md)
	if err != nil {
		return nil
	}
	return &topicDefinition{msg: msg, proto: md, generated: true}
}

// original reads the ROS type that a descriptor was made from.
func original(md protoreflect.MessageDescriptor) (*schema.Message, error) {
	origins := protoschema.Origins(md)
	if origins == nil {
		return nil, fmt.Errorf("%s was not made from a ROS type", md.FullName())
	}
	o, dialect := protoschema.OriginOf(md), rosmsg.ROS1
	if o.Dialect == "ros2msg" {
		dialect = rosmsg.ROS2
	}
	return rosmsg.Parse(o.Name, []byte(o.Text), dialect, func(name string) (string, bool) {
		if o := origins[name]; o != nil {
			return o.Text, true
		}
		return "", false
	})
}

// program makes the program from the messages of d to a canonical type.
func (d *topicDefinition) program(to *schema.Message, strict bool) (*content.Program, error) {
	if d.proto != nil {
		return content.FromProto(d.proto, d.msg, d.generated, to, strict)
	}
	if d.json != nil {
		return content.FromJSON(d.json, to, strict)
	}
	if d.either != nil {
		cdr, err := content.FromROS(d.either, serial.CDR, to, strict)
		if err != nil {
			return nil, err
		}
		ros1, err := content.FromROS(d.either, serial.ROS1, to, strict)
		if err != nil {
			return nil, err
		}
		return cdr.OrElse(ros1), nil
	}
	return content.FromROS(d.msg, d.wire, to, strict)
}

// doubled names the types that the definition of a topic has twice: many readers
// refuse such a recording.
func doubled(t *storage.Topic) (flaws []string) {
	seen := map[string]bool{}
	add := func(name string) {
		if seen[name] {
			flaws = append(flaws, fmt.Sprintf("the definition of %s has %s twice", t.Type, name))
		}
		seen[name] = true
	}
	switch t.Schema.Encoding {
	case "ros1msg", "ros2msg":
		for line := range bytes.Lines(t.Schema.Data) {
			if name, ok := strings.CutPrefix(string(bytes.TrimSpace(line)), "MSG:"); ok {
				add(strings.TrimSpace(name))
			}
		}
	case "protobuf":
		var set descriptorpb.FileDescriptorSet
		if proto.Unmarshal(t.Schema.Data, &set) != nil {
			return []string{fmt.Sprintf("the descriptors of %s cannot be read", t.Type)}
		}
		for _, f := range set.File {
			add(f.GetName())
			for _, m := range f.MessageType {
				add("." + f.GetPackage() + "." + m.GetName())
			}
		}
	}
	return flaws
}

// bare reports whether the recording does not define the messages of a topic.
func (m *member) bare() bool {
	return m.def == nil || len(m.topic.Schema.Data) == 0 && len(m.def.msg.Fields) > 0
}

// countIndex notes the topics whose index entry and messages read differ in number.
func (c *comparison) countIndex(side int, f *feed) {
	if info := c.info[side]; c.counts[side] == nil || damaged(info) || info.Lost != (storage.Lost{}) {
		return
	}
	c.each(side, func(p *pair, k int, id storage.TopicID) {
		refused := &f.result.Refused[id]
		have := f.counts[id] + refused.Messages + refused.Times
		if n := c.counts[side][id]; n != have {
			m := p.groups[side].members[k]
			m.flaws = append(m.flaws, fmt.Sprintf("the index counts %d messages, the recording has %d", n, have))
		}
	})
}

// damaged reports whether not all of a recording could be read, as convert.Report.Lossy does: bytes
// that were skipped, and that no message needs, such as bytes of an index, are a warning.
func damaged(info *storage.Info) bool {
	return slices.ContainsFunc(info.Warnings, func(w storage.Warning) bool { return w.Damage })
}
