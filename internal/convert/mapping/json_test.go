package mapping

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestJSON: a schema becomes a type of the target, and the messages that.
func TestJSON(t *testing.T) {
	topic := &storage.Topic{Name: "/m", Type: "demo.Mouse", Encoding: "json",
		Schema: storage.Schema{Encoding: "jsonschema",
			Data: []byte(`{"properties": {"clientX": {"type": "number"}, "at": {"properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}, "s": {"type": "string"}}}`)}}
	message := []byte(`{"s": "a", "clientX": 0.5, "at": {"sec": 1, "nsec": 2}, "more": 1}`)
	for _, c := range []struct {
		to, typ, text string
		want          []byte
	}{
		{"ros1", "demo/Mouse", "float64 client_x\ntime at\nstring s\n", []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 1, 0, 0, 0, 2, 0,
			0, 0, 1, 0, 0, 0, 'a'}},
		{"cdr", "demo/msg/Mouse", "", []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0,
			'a', 0}},
		{"protobuf", "demo.msg.Mouse", "", []byte{9, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0x12, 4, 8, 1, 16, 2, 0x1a, 1, 'a'}},
	} {
		res, err := New(Options{Encoding: c.to, Distro: DefaultDistro}).Map(topic)
		if err != nil {
			t.Fatal(err)
		}
		got, err := res.Plan.Append(nil, message)
		if err != nil || res.Topic.Type != c.typ || !bytes.Equal(got, c.want) || c.text != "" &&
			string(res.Topic.Schema.Data) != c.text {
			t.Errorf("%s: %s %q, % x, want % x: %v", c.to, res.Topic.Type, res.Topic.Schema.Data, got, c.want, err)
		}
		if meta := res.Topic.Metadata; c.to == "cdr" && (meta[storage.MetaMD5Sum] != "" || meta[storage.MetaLatching] != "") {
			t.Errorf("CDR of JSON says of ROS 1: %v", meta)
		}
		if lost := Losses(res.Plan); len(lost) != 1 || lost[0].Code != "unknown-fields" || !hasRemark(res, "presence") {
			t.Errorf("%s: lost is %+v, said %+v", c.to, lost, res.Remarks)
		}
	}
	for _, s := range []storage.Schema{{}, {Encoding: "jsonschema", Data: []byte("{")},
		{Encoding: "odd", Data: []byte("{}")}} {
		topic.Schema = s
		if _, err := New(Options{Encoding: "ros1"}).Map(topic); !errors.Is(err, ErrCannotCross) {
			t.Errorf("schema %q: %v", s.Data, err)
		}
	}
}
