package mapping

import (
	"bytes"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// SameDefinition reports whether two topics of one type and encoding have definitions that
// mean the same, whatever their text. A topic without a definition goes with any.
func SameDefinition(a, b *storage.Topic) bool {
	if len(a.Schema.Data) == 0 || len(b.Schema.Data) == 0 || a.Schema.Encoding == b.Schema.Encoding &&
		bytes.Equal(a.Schema.Data, b.Schema.Data) {
		return true
	}
	if a.Encoding == "protobuf" {
		return protoschema.Shape(a.Schema.Data) == protoschema.Shape(b.Schema.Data)
	}
	m := New(Options{})
	x, err := m.Define(a)
	if err != nil || x.ROS == nil || x.Origin != "file" {
		return false
	}
	y, err := m.Define(b)
	if err != nil || y.ROS == nil || y.Origin != "file" {
		return false
	}
	if a.Encoding == "ros1" {
		return schema.MD5(x.ROS) == schema.MD5(y.ROS)
	}
	h, errX := schema.RIHS01(x.ROS)
	k, errY := schema.RIHS01(y.ROS)
	return errX == nil && errY == nil && h == k || schema.Equal(x.ROS, y.ROS)
}
