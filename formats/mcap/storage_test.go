package mcap

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	schema := func(text string) storage.Schema {
		return storage.Schema{Encoding: "ros2msg", Data: []byte(text)}
	}
	storagetest.Run(t, storagetest.Config{
		Format: Format, Encoding: "cdr", Name: "x.mcap", FaultFS: true, Type: "std_msgs/msg/String", Schema: schema("string data\n"),
		Others: []storagetest.Definition{
			{Type: "std_msgs/msg/UInt32", Schema: schema("uint32 data\n")}, {Type: "std_msgs/msg/String", Schema: schema("string data\nuint8 more\n")},
		},
	})
}
