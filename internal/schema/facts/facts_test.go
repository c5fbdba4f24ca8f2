package facts

import (
	"testing"

	"github.com/bagconv/bagconv/schema"
)

// TestFacts: what is a time, and what is a Header with its counter, and what only looks like it.
func TestFacts(t *testing.T) {
	words := func(name string, kinds ...schema.Kind) *schema.Message {
		m := &schema.Message{Name: name}
		for _, k := range kinds {
			m.Fields = append(m.Fields, schema.Field{Name: "f", Type: schema.Type{Kind: k}})
		}
		return m
	}
	for _, c := range []struct {
		m    *schema.Message
		want schema.Kind
	}{
		{words("builtin_interfaces/msg/Time", schema.Int32, schema.Uint32), schema.Time},
		{words("builtin_interfaces/msg/Duration", schema.Int32, schema.Uint32), schema.Duration},
		// of ROS 1, with other signs than its times
		{words("builtin_interfaces/Time", schema.Int32, schema.Uint32), schema.Invalid},
		{words("builtin_interfaces/msg/Time", schema.Uint32, schema.Uint32), schema.Invalid},
		{words("builtin_interfaces/msg/Time", schema.Int32, schema.Uint32, schema.Uint32), schema.Invalid},
		{words("my_msgs/msg/Time", schema.Int32, schema.Uint32), schema.Invalid},
	} {
		if got := (schema.Type{Kind: schema.Struct, Message: c.m}).TimeKind(); got != c.want {
			t.Errorf("%s %v: %v, want %v", c.m.Name, c.m.Fields, got, c.want)
		}
	}
	header := func(name string, second schema.Type) *schema.Message {
		return &schema.Message{Name: name, Fields: []schema.Field{{Name: "seq", Type: schema.Type{Kind: schema.Uint32}},
			{Name: "stamp", Type: second}, {Name: "frame_id", Type: schema.Type{Kind: schema.String}}}}
	}
	for _, c := range []struct {
		m           *schema.Message
		seq, header bool
	}{
		{header("std_msgs/Header", schema.Type{Kind: schema.Time}), true, true},
		{header("roslib/Header", schema.Type{Kind: schema.Time}), true, true},
		{header("std_msgs/Header", schema.Type{Kind: schema.Time, Array: schema.Unbounded}), true, false},
		{header("std_msgs/Header", schema.Type{Kind: schema.Float64}), true, false},
		{header("std_msgs/Head", schema.Type{Kind: schema.Time}), false, false},
	} {
		around := words("p/T", schema.Int8)
		around.Fields = append(around.Fields, schema.Field{Name: "h", Type: schema.Type{Kind: schema.Struct, Message: c.m}})
		if HasSeq(c.m) != c.seq || IsROS1Header(c.m) != c.header || Any(around, HasSeq) != c.seq {
			t.Errorf("%s, second field %v: seq %t, header %t", c.m.Name, c.m.Fields[1].Type, HasSeq(c.m), IsROS1Header(c.m))
		}
	}
}
