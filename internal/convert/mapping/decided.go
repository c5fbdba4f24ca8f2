package mapping

import (
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// decided returns the topic of a sink that looks inside messages: the messages stay as they are, and the topic gets the
// definition by which cat reads them. The error says why there is no definition.
func (m *Mapper) decided(t *storage.Topic) (*Result, error) {
	def, err := m.Define(t)
	if err != nil {
		return nil, err
	}
	res := &Result{Topic: *t, Definition: def.Origin, Remarks: def.Remarks}
	if def.Origin == "file" {
		return res, nil
	}
	if def.Proto != nil {
		res.Topic.Schema = storage.Schema{Encoding: "protobuf", Data: def.descriptors(t)}
		return res, nil
	}
	msg, plan := def.ROS, def.Head
	if xtypes.New(msg) != nil && def.Wire == serial.CDR { // text cannot have such types
		msg = plainTypes(msg, map[*schema.Message]*schema.Message{}, false)
		plain, err := transcode.Compile(def.ROS, msg, transcode.Options{From: serial.CDR, To: serial.CDR})
		if err != nil {
			return nil, err
		}
		plan = After(def.Head, plain)
	}
	res.Plan = plan
	if res.Topic.Type = msg.Name; def.Wire == serial.CDR {
		res.Topic.Schema = storage.Schema{Encoding: "ros2msg", Data: rosmsg.Format(msg, rosmsg.ROS2)}
		res.setTypeHash(msg)
		return res, nil
	}
	res.Topic.Schema = storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(msg, rosmsg.ROS1)}
	res.setMetadata(storage.MetaMD5Sum, schema.MD5(msg))
	return res, nil
}
