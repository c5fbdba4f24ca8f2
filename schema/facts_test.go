package schema

import "testing"

// TestFacts: what is a time, and what is a Header with its counter, and what only looks like it.
func TestFacts(t *testing.T) {
	words := func(name string, kinds ...Kind) *Message {
		m := &Message{Name: name}
		for _, k := range kinds {
			m.Fields = append(m.Fields, Field{Name: "f", Type: Type{Kind: k}})
		}
		return m
	}
	for _, c := range []struct {
		m    *Message
		want Kind
	}{
		{words("builtin_interfaces/msg/Time", Int32, Uint32), Time},
		{words("builtin_interfaces/msg/Duration", Int32, Uint32), Duration},
		{words("builtin_interfaces/Time", Int32, Uint32), Invalid}, // of ROS 1, with other signs than its times
		{words("builtin_interfaces/msg/Time", Uint32, Uint32), Invalid},
		{words("builtin_interfaces/msg/Time", Int32, Uint32, Uint32), Invalid},
		{words("my_msgs/msg/Time", Int32, Uint32), Invalid},
	} {
		if got := (Type{Kind: Struct, Message: c.m}).TimeKind(); got != c.want {
			t.Errorf("%s %v: %v, want %v", c.m.Name, c.m.Fields, got, c.want)
		}
	}
	header := func(name string, second Type) *Message {
		return &Message{Name: name, Fields: []Field{{Name: "seq", Type: Type{Kind: Uint32}}, {Name: "stamp", Type: second}, {Name: "frame_id", Type: Type{Kind: String}}}}
	}
	for _, c := range []struct {
		m           *Message
		seq, header bool
	}{
		{header("std_msgs/Header", Type{Kind: Time}), true, true},
		{header("roslib/Header", Type{Kind: Time}), true, true},
		{header("std_msgs/Header", Type{Kind: Time, Array: Unbounded}), true, false},
		{header("std_msgs/Header", Type{Kind: Float64}), true, false},
		{header("std_msgs/Head", Type{Kind: Time}), false, false},
	} {
		around := words("p/T", Int8)
		around.Fields = append(around.Fields, Field{Name: "h", Type: Type{Kind: Struct, Message: c.m}})
		if c.m.HasSeq() != c.seq || c.m.IsROS1Header() != c.header || Any(around, (*Message).HasSeq) != c.seq {
			t.Errorf("%s, second field %v: seq %t, header %t", c.m.Name, c.m.Fields[1].Type, c.m.HasSeq(), c.m.IsROS1Header())
		}
	}
}
