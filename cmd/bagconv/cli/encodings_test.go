package cli_test

import (
	"context"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// encoded are topics of an encoding each, with a message.
var encoded = []struct {
	name, typ, encoding, schemaEncoding, schema, message string
}{
	{"/json", "demo.Point", "json", "jsonschema",
		`{"type": "object", "properties": {"clientX": {"type": "number"}, "label": {"type": "string"}, "l": {"items": {"type": "integer"}}}}`,
		`{"label": "a", "clientX": 1.5, "l": [1, 2]}`},
	{"/odd", "demo.Odd", "json", "jsonschema", `{"type": "object", "properties": {"n": {"type": "integer"}}}`,
		`{"n": "many", "more": true}`},
	{"/log", "foxglove.Log", "json", "jsonschema", `{"type": "object", "properties": {"timestamp": {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}},
		"level": {"type": "integer"}, "message": {"type": "string"}, "host": {"type": "string"}}}`, `{"timestamp": {"sec": 1, "nsec": 2}, "level": 3, "message": "hello", "host": "h"}`},
	{"/bare", "", "json", "", "", `{"n": 1}`},
	{"/cbor", "", "cbor", "", "", "\xa1"},
	{"/buffer", "demo.Buffer", "flatbuffer", "flatbuffer", "\x18\x00\x00\x00BFBS", "\x04\x00\x00\x00"},
	{"/idl", "demo::T", "cdr", "omgidl",
		"module demo { enum Mode { OFF, @value(5) ON }; struct T { unsigned long n; char c[2]; Mode mode; }; };",
		"\x00\x01\x00\x00\x07\x00\x00\x00ab\x00\x00\x05\x00\x00\x00"},
	{"/numbered", "demo::Outer", "cdr", "omgidl",
		"module demo { @mutable struct Inner { long a; }; struct Outer { Inner inner; }; };",
		"\x00\x01\x00\x00\x00\x00\x04\x00\x07\x00\x00\x00\x02\x3f\x00\x00"},
	{"/union", "demo::V", "cdr", "omgidl", "module demo { union Value switch (long) { case 1: double number; case 2: " +
		"string text; }; struct V { @optional long n; sequence<Value> values; map<string, long> counts; }; };",
		"\x00\x01\x00\x00\x00\x00\x04\x00\x07\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf8\x3f" +
			"\x02\x00\x00\x00\x03\x00\x00\x00ok\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00a\x00\x00\x00\x05\x00\x00\x00"},
	{"/mixed", "std_msgs/String", "cdr", "ros1msg", "string data\n", "\x02\x00\x00\x00ok"},
	{"/plain", "std_msgs/String", "ros1", "ros1msg", "string data\n", "\x02\x00\x00\x00ok"},
}

// makeEncodings writes a recording in which each topic has another encoding.
func makeEncodings(path string) error {
	w, err := all.Registry().Lookup("mcap").Create(context.Background(), path, storage.WriteOptions{})
	if err != nil {
		return err
	}
	for i, e := range encoded {
		t := storage.Topic{Name: e.name, Type: e.typ, Encoding: e.encoding, Schema: storage.Schema{Encoding: e.schemaEncoding,
			Data: []byte(e.schema)}}
		id, err := w.CreateTopic(t)
		if err != nil {
			return err
		}
		if err := w.Write(&storage.Message{Topic: id, LogTime: int64(i), PublishTime: int64(i),
			Data: []byte(e.message)}); err != nil {
			return err
		}
	}
	return w.Commit()
}
