package frames

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestFrame: a frame that is written is read with all its parts.
func TestFrame(t *testing.T) {
	b, err := Append(nil, -5, AppendNames(nil, "cdr", "a/msg/B", "/topic"), []byte("message"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseHead(b)
	if err != nil || h.Size != int64(len(b)) || h.Time != -5 || h.Message() != 7 {
		t.Fatal(h, err)
	}
	encoding, typ, topic, message := h.Split(b)
	if got := string(bytes.Join([][]byte{encoding, typ, topic, message},
		[]byte(" "))); got != "cdr a/msg/B /topic message" {
		t.Error(got)
	}
	if !Plausible(b) || Plausible([]byte(`{"topic":"/imu","time":"17"}`)) || Plausible(b[:10]) {
		t.Error("a frame is not told from JSON")
	}
	if b[0] != 8+8+3+7+6+7 {
		t.Errorf("%x", b)
	}
}

// TestHead: lengths that contradict each other are refused.
func TestHead(t *testing.T) {
	names := AppendNames(nil, "cdr", "T", "/t")
	good, _ := Append(nil, 1, names, nil)
	for _, at := range []int{0, 12, 14, 16, 18} {
		bad := bytes.Clone(good)
		bad[at] ^= 0x80
		if at == 0 {
			bad[0] = 5
		}
		if _, err := ParseHead(bad); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// TestDefinition: a topic with all that it may have is the same after a frame, and what is missing is the usual.
func TestDefinition(t *testing.T) {
	d := &Definition{Publisher: 3, Topic: storage.Topic{
		Name: "/t", Type: "a/msg/B", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("int8 a\nint8 b\n")},
		Metadata: map[string]string{"type_description_hash": "RIHS01_x", "other": "1"},
		QoS: []storage.QoS{
			{History: storage.HistoryKeepLast, Depth: 5, Reliability: storage.ReliabilityBestEffort,
				Deadline: storage.QoSInfinite,
				Lifespan: storage.QoSDuration{Sec: 2147483647, NSec: 4294967295}, Lease: storage.QoSDuration{NSec: 1},
				Liveliness: 77, AvoidROSNamespaceConventions: true},
			{Durability: storage.DurabilityTransientLocal},
		}}}
	b, err := AppendDefinition(nil, d)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseHead(b)
	if err != nil {
		t.Fatal(err)
	}
	encoding, typ, topic, message := h.Split(b)
	got, err := ParseDefinition(string(encoding), string(typ), string(topic), message)
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v\n%+v %v", got, d, err)
	}
	got, err = ParseDefinition("definition/ros1msg", "a/B", "/t", []byte("\nint8 a"))
	if err != nil || got.Encoding != "ros1" || string(got.Schema.Data) != "int8 a" {
		t.Error(got, err)
	}
	got, err = ParseDefinition("definition/ros2msg", "a/B", "/t",
		[]byte(`{"qos":[{"reliability":"reliable","deadline_ns":"infinite","lifespan_ns":"1500000000"}]}`+"\n"))
	want := []storage.QoS{{Reliability: storage.ReliabilityReliable, Deadline: storage.QoSInfinite,
		Lifespan: storage.QoSDuration{Sec: 1, NSec: 5e8}}}
	if err != nil || !reflect.DeepEqual(got.QoS, want) {
		t.Error(got, err)
	}
	for _, bad := range []string{"{", `{"qos":[{"history":"often"}]}`, `{"qos":[{"deadline_ns":"soon"}]}`,
		`{"publisher":-1}`} {
		if _, err := ParseDefinition("definition/ros1msg", "a/B", "/t", []byte(bad)); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestStamp: stamps and what is known of the recording are the same after a frame.
func TestStamp(t *testing.T) {
	s := Stamp{PublishTime: -1, Sequence: 1 << 31, Publisher: 7}
	b := AppendStamp(nil, s)
	got, err := ParseStamp(b[len(b)-stampSize:])
	if h, e := ParseHead(b); e != nil || h.Message() != stampSize || err != nil || got != s {
		t.Error(h, e, got, err)
	}
	if _, err := ParseStamp(b[:stampSize-1]); !errors.Is(err, storage.ErrCorrupt) {
		t.Error(err)
	}
	r := Recording{Format: "mcap", Version: "0", Metadata: map[string]string{"a": "b"}}
	b, err = AppendRecording(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := ParseHead(b)
	_, _, _, message := h.Split(b)
	if got, err := ParseRecording(message); err != nil || !reflect.DeepEqual(got, r) {
		t.Error(got, err)
	}
	if _, err := ParseRecording([]byte("x")); !errors.Is(err, storage.ErrCorrupt) {
		t.Error(err)
	}
}
