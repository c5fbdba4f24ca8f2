package mapping

import (
	"slices"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A crossing is what ROS 1 messages of one definition become in ROS 2. Many small recordings have the same few
// definitions: to parse them, to compile the program and to write the new definition takes longer than to convert
// their messages. A crossing does not change.
type crossing struct {
	src     *Definition
	dst     *schema.Message
	plan    *transcode.Plan
	remarks []Remark // of the result, so far
	schema  []byte   // dst as text
	hash    string   // its type hash; "": it has none
}

// A crossingKey is all that a crossing depends on.
type crossingKey struct {
	definitionKey
	name, distro string
	rosout       Rosout
}

// crossingOf returns the key of what a topic becomes. pure is false if it depends on more than the topic and the
// standard definitions: places of the user, what the messages show, a target.
func (m *Mapper) crossingOf(t *storage.Topic) (key crossingKey, pure bool) {
	if m.o.Target != nil || m.o.Evidence != nil || len(m.o.Definitions) > 0 {
		return key, false
	}
	return crossingKey{definitionOf(t), t.Metadata[MetaROS2Type], m.o.Distro, m.o.Rosout}, true
}

func (m *Mapper) ros1ToCDR(t *storage.Topic) (*Result, error) {
	key, pure := m.crossingOf(t)
	if c, ok := crossings.get(key); pure && ok && m.named2(c.dst) == c.dst {
		res := c.src.result(t)
		res.Plan, res.Remarks = c.plan.Again(), c.remarks
		return m.crossed(t, res, c), nil
	}
	src, err := m.lib.ros1Definition(t)
	if err != nil {
		return nil, err
	}
	res := src.result(t)
	dst, plan, err := m.intoTarget(res, src, serial.ROS1, serial.CDR)
	own := err == nil && dst == nil
	if own {
		dst, plan, err = m.ownROS2(t, res, src.ROS)
	}
	if err != nil {
		return nil, err
	}
	if names := illegalNames(dst); len(names) > 0 {
		res.remark("illegal-names", "ROS 2 does not allow the names %s; they are kept, and its tools may refuse the type",
			transcode.List(names))
	}
	c := &crossing{src, dst, plan, slices.Clip(res.Remarks), rosmsg.Format(dst, rosmsg.ROS2), hashOf(dst)}
	joined := slices.ContainsFunc(c.remarks, func(r Remark) bool { return r.Code == "definition-joined" })
	if pure && own && !joined {
		crossings.put(key, c, len(c.schema))
	}
	return m.crossed(t, res, c), nil
}

// named2 returns the one definition that a type name has in the sink: dst, unless an earlier topic has another one, to
// which messages of a later topic are fitted.
func (m *Mapper) named2(dst *schema.Message) *schema.Message {
	first := m.types[dst.Name]
	if first != nil && first != dst && !schema.Equal(first, dst) {
		return first
	}
	m.types[dst.Name] = dst
	return dst
}

// crossed fills in the rest of the result of a topic.
func (m *Mapper) crossed(t *storage.Topic, res *Result, c *crossing) *Result {
	res.dropSeq(c.plan, m.o.Sequence)
	res.Topic.Type, res.Topic.Encoding = c.dst.Name, "cdr"
	res.Topic.Schema = storage.Schema{Encoding: "ros2msg", Data: c.schema}
	if c.hash != "" {
		res.Topic.Metadata[storage.MetaTypeHash] = c.hash // it is a map of the result, see Definition.result
	}
	res.latch()
	delete(res.Topic.Metadata, MetaROS2Type)
	if ros1Name(c.dst.Name) != t.Type {
		res.Topic.Metadata[MetaROS1Type] = t.Type
	}
	return res
}
