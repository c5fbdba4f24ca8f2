package mapping

import (
	"github.com/bagconv/bagconv/internal/schema/facts"
	"github.com/bagconv/bagconv/schema"
)

// A dialect makes the graph of a type in the other dialect, each type once. Types that the target
// knows under the same name with the same fields get the target's own
// definition, with its field names and constants; all others keep theirs.
type dialect struct {
	known    func(m *schema.Message) *schema.Message // the target's own definition, or nil
	defaults bool                                    // defaults stay in ROS 1, for fields that messages do not have
	made     map[*schema.Message]*schema.Message
}

var (
	ros2Time = &schema.Message{Name: "builtin_interfaces/msg/Time", Fields: []schema.Field{
		{Name: "sec", Type: schema.Type{Kind: schema.Int32}}, {Name: "nanosec", Type: schema.Type{Kind: schema.Uint32}}}}
	ros2Duration = &schema.Message{Name: "builtin_interfaces/msg/Duration", Fields: []schema.Field{
		{Name: "sec", Type: schema.Type{Kind: schema.Int32}}, {Name: "nanosec", Type: schema.Type{Kind: schema.Uint32}}}}
	ros2Header = &schema.Message{Name: "std_msgs/msg/Header", Fields: []schema.Field{
		{Name: "stamp", Type: schema.Type{Kind: schema.Struct, Message: ros2Time}},
		{Name: "frame_id", Type: schema.Type{Kind: schema.String}}}}
	ros1Header = &schema.Message{Name: "std_msgs/Header", Fields: []schema.Field{
		{Name: "seq", Type: schema.Type{Kind: schema.Uint32}},
		{Name: "stamp", Type: schema.Type{Kind: schema.Time}},
		{Name: "frame_id", Type: schema.Type{Kind: schema.String}}}}
)

// toROS2 returns the ROS 2 twin of a ROS 1 type.
func (t *dialect) toROS2(m *schema.Message) *schema.Message {
	if d := t.made[m]; d != nil {
		return d
	}
	d := t.known(m)
	if d == nil && facts.IsROS1Header(m) {
		d = ros2Header
	}
	if d == nil {
		d = &schema.Message{Name: ros2Name(m.Name), Constants: m.Constants}
		for _, f := range m.Fields {
			switch f.Type.Kind {
			case schema.Time:
				f.Type.Kind, f.Type.Message = schema.Struct, ros2Time
			case schema.Duration:
				f.Type.Kind, f.Type.Message = schema.Struct, ros2Duration
			case schema.Struct:
				f.Type.Message = t.toROS2(f.Type.Message)
			}
			d.Fields = append(d.Fields, f)
		}
	}
	t.made[m] = d
	return d
}

// toROS1 returns the ROS 1 twin of a ROS 2 type. Bounds and defaults, which
// ROS 1 does not have, go: the wire is the same without them.
func (t *dialect) toROS1(m *schema.Message) *schema.Message {
	if d := t.made[m]; d != nil {
		return d
	}
	d := t.known(m)
	if d == nil && isROS2Header(m) {
		d = ros1Header
	}
	if d == nil {
		d = &schema.Message{Name: ros1Name(m.Name)}
		for _, c := range m.Constants {
			if c.Kind == schema.WString {
				c.Kind = schema.String
			}
			c.StringBound = 0
			if c.Kind == schema.Bool { // genpy reads True and False only
				switch c.Text {
				case "true":
					c.Text = "True"
				case "false":
					c.Text = "False"
				}
			}
			d.Constants = append(d.Constants, c)
		}
		for _, f := range m.Fields {
			if !t.defaults {
				f.Default = ""
			}
			f.Type.StringBound = 0
			if f.Type.Array == schema.Bounded {
				f.Type.Array, f.Type.Len = schema.Unbounded, 0
			}
			switch f.Type.Kind {
			case schema.WString:
				f.Type.Kind = schema.String
			case schema.IDLChar:
				f.Type.Kind = schema.Char
			case schema.Enum:
				f.Type.Kind, f.Type.Message = schema.Int32, nil
			case schema.Struct:
				if k := f.Type.Message.TimeKind(); k != schema.Invalid {
					f.Type.Kind, f.Type.Message = k, nil
				} else {
					f.Type.Message = t.toROS1(f.Type.Message)
				}
			}
			d.Fields = append(d.Fields, f)
		}
	}
	t.made[m] = d
	return d
}

// hasCounter reports whether a type has, or uses, a Header with the counter of ROS 1.
func hasCounter(m *schema.Message) bool {
	return facts.Any(m, func(m *schema.Message) bool { return facts.IsSeq(m, 0) })
}

func isROS2Header(m *schema.Message) bool {
	return m.Name == ros2Header.Name && len(m.Fields) == 2 &&
		m.Fields[0].Name == "stamp" && m.Fields[0].Type.Kind == schema.Struct &&
		m.Fields[0].Type.Message.TimeKind() == schema.Time &&
		m.Fields[1].Name == "frame_id" && m.Fields[1].Type.Kind == schema.String
}
