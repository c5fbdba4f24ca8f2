package mapping

import (
	"strings"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// completeText completes the definition of a topic that stays CDR in another format, so that every reader
// can read it alone: its type and all that it uses have names of ROS 2, no type is missing, and the type
// hash is the hash of the text. The text stays as it is if it is so already.
func (m *Mapper) completeText(res *Result) {
	t := res.Topic
	m.legalType(res)
	if hash := t.Metadata[storage.MetaTypeHash]; hash != "" && !validHash(hash) {
		return
	}
	if len(t.Schema.Data) == 0 && !m.lib.fieldless(res.Topic.Type) {
		return // whether it has fields is not known
	}
	def, err := m.lib.ros2Definition(&t, m.o.SourceDistro)
	if len(t.Schema.Data) == 0 {
		def, err = &Definition{ROS: &schema.Message{Name: res.Topic.Type}, Origin: "file"}, nil
	}
	if err != nil {
		return
	}
	msg := def.ROS
	own, err := rosmsg.Parse(res.Topic.Type, t.Schema.Data, rosmsg.ROS2, m.lib.lookup(m.o.SourceDistro))
	switch {
	case err == nil && (def.Origin == "file" || sameReading(own, msg)):
		msg = own
	default:
		res.Definition, res.Remarks = def.Origin, append(res.Remarks, def.Remarks...)
	}
	msg = legalGraph(msg)
	if !rosmsg.IsService(t.Schema.Data) && (own == nil || !schema.Equal(msg, own) || !standsAlone(msg, t.Schema.Data)) {
		res.Topic.Schema.Data = rosmsg.Format(msg, rosmsg.ROS2)
		res.remark("definition-rewritten", "other programs cannot read the definition of %s as the recording has it: it "+
			"lacks types that it uses, or has other names than ROS 2 allows; it is written with all types and the usual names",
			res.Topic.Type)
	}
	hash := hashOf(msg)
	if was := t.Metadata[storage.MetaTypeHash]; hash != "" && was != hash {
		res.setMetadata(storage.MetaTypeHash, hash)
		if was != "" {
			res.remark("type-hash-changed", "the type hash of %s in the recording is not the hash of its definition, which is "+
				"written", res.Topic.Type)
		}
	}
}

// legalType gives a topic a type name that ROS 2 can have.
func (m *Mapper) legalType(res *Result) {
	old := res.Topic.Type
	name := fullROS2Name(old)
	if name == old || old == "" {
		return
	}
	if res.Topic.Type = name; strings.Count(old, "/") != 1 { // the /msg/ alone is no other name
		res.remark("type-renamed", "ROS 2 types are called package/msg/Type; the type %s is written as %s", old, name)
	}
}

// standsAlone reports whether a text defines all types that a type uses, under names that others read.
func standsAlone(msg *schema.Message, text []byte) bool {
	blocks, err := rosmsg.Blocks(msg.Name, text, rosmsg.ROS2)
	if err != nil {
		return false
	}
	for _, part := range schema.Dependencies(msg) {
		if _, ok := blocks[part.Name]; !ok {
			return false
		}
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "MSG: "); ok {
			name = strings.TrimSpace(name)
			if full := fullROS2Name(name); full != name && full != plainROS2Name(name) {
				return false
			}
		}
	}
	return true
}

// fieldless reports whether a type is known, and has no fields by any definition.
func (l library) fieldless(name string) bool {
	if l.hasFields(name) {
		return false
	}
	for _, distro := range ros2Distros() {
		if l.ros2(distro, name) != nil {
			return true
		}
	}
	return false
}
