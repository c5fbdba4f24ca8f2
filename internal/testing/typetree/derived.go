package typetree

import (
	"fmt"
	"strings"
)

// The messages that ROS 2 derives from services and actions (rosidl_parser definition.py), of types
// of a World. They are built here field by field, and share nothing with package rosmsg.

var (
	eventInfo = &Message{Package: "service_msgs", Name: "ServiceEventInfo",
		Constants: []Constant{{"uint8", "REQUEST_SENT", "0", "0"}, {"uint8", "REQUEST_RECEIVED", "1", "1"},
			{"uint8", "RESPONSE_SENT", "2", "2"}, {"uint8", "RESPONSE_RECEIVED", "3", "3"}},
		Fields: []Field{{Name: "event_type", Kind: "uint8"}, {Name: "stamp", Kind: Time}, {Name: "client_gid", Kind: "char",
			Array: Fixed, Len: 16},
			{Name: "sequence_number", Kind: "int64"}}}
	goalID = &Message{Package: "unique_identifier_msgs", Name: "UUID",
		Fields: []Field{{Name: "uuid", Kind: "uint8", Array: Fixed, Len: 16}}}
)

// A Derived is a message of a service or an action, with the text that defines it.
type Derived struct {
	*Message
	Text []byte // what a recorder of ROS 2 stores: the text of the service or action, and of types that it uses
}

// Derive returns messages of services and actions that have the types of the world as their parts:
// event, feedback message, event of send_goal, event of get_result, in turn.
func (w *World) Derive() (list []Derived) {
	for i, m := range w.Roots {
		other := m
		for _, o := range w.Roots[i+1:] {
			if o.Package == m.Package { // names without a package stand for one of it
				other = o
				break
			}
		}
		list = append(list, derive(i%4, m, other))
	}
	for _, d := range list {
		for _, f := range d.Fields {
			if f.Kind == Nested {
				f.Message.measure()
			}
		}
		d.measure()
	}
	return list
}

func derive(kind int, a, b *Message) Derived {
	folder := "action"
	if kind == 0 {
		folder = "srv"
	}
	part := func(suffix string, fields []Field, constants []Constant) *Message {
		m := &Message{Package: a.Package, Folder: folder, Name: a.Name + suffix, Fields: fields, Constants: constants}
		m.measure()
		return m
	}
	nested := func(name string, m *Message) Field { return Field{Name: name, Kind: Nested, Message: m} }
	event := func(suffix string, request, response *Message) *Message {
		one := func(name string, m *Message) Field {
			return Field{Name: name, Kind: Nested, Message: m, Array: Bounded, Len: 1}
		}
		return part(suffix, []Field{nested("info", eventInfo), one("request", request), one("response", response)}, nil)
	}
	eventInfo.measure()
	goalID.measure()
	switch kind {
	case 0:
		return Derived{event("_Event", part("_Request", a.Fields, a.Constants), part("_Response", b.Fields, b.Constants)),
			serviceText("SRV", a, a, b)}
	case 1:
		return Derived{part("_FeedbackMessage", []Field{nested("goal_id", goalID),
			nested("feedback", part("_Feedback", b.Fields, b.Constants))}, nil), serviceText("ACTION", a, a, a, b)}
	case 2:
		goal := part("_Goal", a.Fields, a.Constants)
		return Derived{event("_SendGoal_Event", part("_SendGoal_Request", []Field{nested("goal_id", goalID),
			nested("goal", goal)}, nil),
			part("_SendGoal_Response", []Field{{Name: "accepted", Kind: Bool}, {Name: "stamp", Kind: Time}}, nil)),
			serviceText("ACTION", a, a, b, b)}
	}
	result := part("_Result", b.Fields, b.Constants)
	return Derived{event("_GetResult_Event", part("_GetResult_Request", []Field{nested("goal_id", goalID)}, nil),
		part("_GetResult_Response", []Field{{Name: "status", Kind: "int8"}, nested("result", result)}, nil)),
		serviceText("ACTION", a, a, b, a)}
}

// serviceText is the text of a service or an action, as rosbag2 stores it: a header, the parts, and
// the types that they use.
func serviceText(header string, named *Message, parts ...*Message) []byte {
	folder := map[string]string{"SRV": "srv", "ACTION": "action"}[header]
	out := fmt.Appendf(nil, "%s\n%s: %s/%s/%s\n", strings.Repeat("=", 80), header, named.Package, folder, named.Name)
	all := &Message{}
	for i, p := range parts {
		if i > 0 {
			out = append(out, "---\n"...)
		}
		out = appendOne(out, p, ROS2)
		all.Fields = append(all.Fields, p.Fields...)
	}
	return appendBelow(out, all, ROS2)
}
