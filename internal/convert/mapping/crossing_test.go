package mapping

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// TestCrossings: what was kept of another recording is what is made anew, and each topic counts its losses for itself.
func TestCrossings(t *testing.T) {
	options := Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble"}
	for _, name := range []string{"sensor_msgs/Imu", "rosgraph_msgs/Log", "visualization_msgs/Marker"} {
		topic := ros1Topic(t, name)
		for _, rosout := range []Rosout{RosoutKeep, RosoutROS2, RosoutKeep} {
			o := options
			o.Rosout = rosout
			forget()
			fresh, err := New(o).Map(topic)
			if err != nil {
				t.Fatal(err)
			}
			key, pure := New(o).crossingOf(topic)
			if _, ok := crossings.get(key); !pure || !ok {
				t.Fatalf("%s is not kept", name)
			}
			kept, err := New(o).Map(topic)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(fresh.Topic, kept.Topic) || !reflect.DeepEqual(fresh.Remarks, kept.Remarks) ||
				fresh.HeaderSeq != kept.HeaderSeq || fresh.Definition != kept.Definition {
				t.Errorf("%s: %+v, kept %+v", name, fresh, kept)
			}
			message := make([]byte, 4096)
			a, errA := fresh.Plan.Append(nil, message)
			b, errB := kept.Plan.Append(nil, message)
			if string(a) != string(b) || (errA == nil) != (errB == nil) {
				t.Errorf("%s: %x %v, kept %x %v", name, a, errA, b, errB)
			}
		}
	}
}

// TestCrossingLosses: a program that was kept has no counts of another topic.
func TestCrossingLosses(t *testing.T) {
	forget()
	topic := ros1Topic(t, "rosgraph_msgs/Log")
	o := Options{Encoding: "cdr", Distro: "humble", Rosout: RosoutROS2}
	message := slices.Concat(make([]byte, 12), []byte{1, 0, 0, 0, 'f', 2}, make([]byte, 20),
		[]byte{1, 0, 0, 0, 1, 0, 0, 0, 't'})
	var losses [3]int
	for i := range losses {
		res, err := New(o).Map(topic)
		if err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			if _, err := res.Plan.Append(nil, message); err != nil {
				t.Fatal(err)
			}
		}
		losses[i] = len(Losses(res.Plan))
	}
	if losses[0] == 0 || losses[1] != losses[0] || losses[2] != 0 {
		t.Errorf("losses %v", losses)
	}
}

// TestCrossingJoined: a recording with two definitions of a type name fits the second to the first, whatever is kept.
func TestCrossingJoined(t *testing.T) {
	forget()
	topicOf := func(text string) *storage.Topic {
		m, err := rosmsg.Parse("p/T", []byte(text), rosmsg.ROS1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return &storage.Topic{Name: "/t", Type: "p/T", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte(text)},
			Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(m)}}
	}
	one, two := topicOf("int32 a\n"), topicOf("int32 a\nint32 b\n")
	for _, order := range [][2]*storage.Topic{{one, two}, {two, one}, {one, two}} {
		m := New(Options{Encoding: "cdr", Distro: "humble"})
		first, err1 := m.Map(order[0])
		second, err2 := m.Map(order[1])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if string(first.Topic.Schema.Data) != string(second.Topic.Schema.Data) ||
			string(first.Topic.Schema.Data) != string(order[0].Schema.Data) {
			t.Errorf("%q and %q", first.Topic.Schema.Data, second.Topic.Schema.Data)
		}
	}
}

// forget empties what is kept.
func forget() {
	crossings.list, definitions.list = nil, nil
}

// TestKeptBounded: definitions without end do not stay in memory.
func TestKeptBounded(t *testing.T) {
	var c kept[int, int]
	for i := range 1000 {
		c.put(i, i, 10_000)
	}
	if n := len(c.list); n == 0 || n*10_000 > maxKept {
		t.Errorf("%d are kept", n)
	}
	c.put(-1, 0, maxKept)
	if _, ok := c.get(-1); ok {
		t.Error("a large one is kept")
	}
}
