package schema_test

import (
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// doubled returns p/msg/T with std_msgs/Header in it twice, as two objects: alone
// and inside of geometry_msgs/PoseStamped.
func doubled(t *testing.T) *schema.Message {
	t.Helper()
	field := func(name, typ string) schema.Field {
		return schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct, Message: parse(t, typ, "", rosmsg.ROS2,
			"humble")}}
	}
	return &schema.Message{Name: "p/msg/T", Fields: []schema.Field{field("header", "std_msgs/msg/Header"),
		field("pose", "geometry_msgs/msg/PoseStamped")}}
}

// TestSharedParts: a graph with equal types as several objects has the text, the
// md5sum and the type hash of one in which they are one object.
func TestSharedParts(t *testing.T) {
	m := doubled(t)
	again, err := rosmsg.Parse(m.Name, rosmsg.Format(m, rosmsg.ROS2), rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(schema.Dependencies(m)), len(schema.Dependencies(again)); a != b {
		t.Errorf("%d dependencies, and %d when they are parsed again", a, b)
	}
	hash, err := schema.RIHS01(m)
	if want, _ := schema.RIHS01(again); err != nil || hash != want {
		t.Errorf("%s, want %s (%v)", hash, want, err)
	}
	if schema.MD5(m) != schema.MD5(again) {
		t.Error("another md5sum")
	}
	if name := schema.Ambiguous(m); name != "" {
		t.Errorf("%s is ambiguous", name)
	}
}

func TestAmbiguous(t *testing.T) {
	m := doubled(t)
	header := *m.Fields[0].Type.Message
	header.Fields = header.Fields[:1]
	m.Fields[0].Type.Message = &header
	if name := schema.Ambiguous(m); name != header.Name {
		t.Errorf("%q is ambiguous", name)
	}
}
