package selection

import (
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/facts"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// childFrames returns a function that lists the child frames of a topic's
// messages, nil when these are not lists of transforms.
func childFrames(t *storage.Topic) func([]string, []byte) ([]string, bool) {
	typ, err := transformsOf(t)
	if typ == nil || err != nil {
		return nil
	}
	return func(dst []string, data []byte) ([]string, bool) {
		c := message.Open(typ, data)
		defer c.Close()
		c.Fields(typ, func(list *message.Field) {
			if list.Name != "transforms" {
				c.Skip(list)
				return
			}
			c.Elements(list, c.Count(list), func(int) {
				c.Fields(list.Type, func(f *message.Field) {
					if f.Name == "child_frame_id" {
						dst = append(dst, string(c.Text(f))) // a copy
					} else {
						c.Skip(f)
					}
				})
			})
		})
		return dst, c.End() == nil && ros.IsPadding(c.Rest()) // else its structs have other sizes than structs around them
	}
}

// transformsOf returns the standard type of a topic of lists of transforms, nil for other topics.
func transformsOf(t *storage.Topic) (*message.Type, error) {
	distro, name, dialect := "noetic", "tf2_msgs/TFMessage", rosmsg.ROS1
	switch short := facts.ShortName(t.Type); {
	case short == "apollo.transform.TransformStampeds" && t.Encoding == "protobuf":
		return message.Proto(apollo.Message("apollo.transform.TransformStampeds"))
	case short != "tf2_msgs/TFMessage" && short != "tf/tfMessage" || t.Encoding != "ros1" && t.Encoding != "cdr":
		return nil, nil
	case t.Encoding == "cdr":
		distro, name, dialect = "humble", "tf2_msgs/msg/TFMessage", rosmsg.ROS2
	}
	look := func(name string) (string, bool) { return builtin.Lookup(distro, name) }
	text, _ := look(name)
	msg, err := rosmsg.Parse(name, []byte(text), dialect, look)
	if err != nil {
		return nil, err
	}
	return message.ROS(msg, serial.Of(t.Encoding))
}
