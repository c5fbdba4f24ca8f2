package mapping

import (
	"path"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// derived returns a ROS 2 type under a name of srv/ or action/, which a bag does not have: the messages
// that it consists of get such names too, and the lists of an event their bound of 1, so that the type
// hash is the hash of ROS 2. dst is the type that the fields alone make; other names are only set.
func derived(name string, dst *schema.Message) *schema.Message {
	service := rosmsg.ServiceOf(name)
	if service == name {
		return &schema.Message{Name: name, Fields: dst.Fields, Constants: dst.Constants}
	}
	folder, short := path.Split(service)
	plain := strings.SplitN(name, "/", 2)[0] + "/msg/" + short + "_"
	made := map[*schema.Message]*schema.Message{}
	var part func(name string, m *schema.Message) *schema.Message
	part = func(name string, m *schema.Message) *schema.Message {
		if out := made[m]; out != nil {
			return out
		}
		out := &schema.Message{Name: name, Constants: m.Constants}
		made[m] = out
		for _, f := range m.Fields {
			if f.Type.Kind == schema.Struct && strings.HasPrefix(f.Type.Message.Name, plain) {
				own := folder + path.Base(f.Type.Message.Name)
				f.Type.Message = part(own, f.Type.Message)
				if strings.HasSuffix(name, "_Event") && f.Type.Array == schema.Unbounded && rosmsg.ServiceOf(own) != own {
					f.Type.Array, f.Type.Len = schema.Bounded, 1
				}
			}
			out.Fields = append(out.Fields, f)
		}
		return out
	}
	return part(name, dst)
}

// defineEvent replaces the text of a service or an action, which rosbag2 stores for the messages that
// ROS 2 makes of it, by the definition of the message itself if the sink is not one of rosbag2's:
// other readers know no services. Up to Kilted rosbag2 calls the encoding of such text unknown.
func (m *Mapper) defineEvent(res *Result) {
	t := &res.Topic
	name := fullROS2Name(t.Type)
	if rosmsg.ServiceOf(name) == name || !m.o.Hashes {
		return
	}
	msg, err := rosmsg.Parse(name, t.Schema.Data, rosmsg.ROS2, m.lib.lookup(m.o.SourceDistro))
	if err != nil {
		return
	}
	if t.Schema.Encoding = "ros2msg"; m.o.Events {
		t.Schema.Data = rosmsg.Format(msg, rosmsg.ROS2)
	}
}
