package mcap

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	for _, f := range []*storage.Format{Format, Folder} {
		name := "folder"
		if !f.Layout.Folder {
			name = "x.mcap"
		}
		t.Run(f.Name, func(t *testing.T) { testStorage(t, f, name) })
	}
}

func testStorage(t *testing.T, f *storage.Format, name string) {
	schema := func(text string) storage.Schema {
		return storage.Schema{Encoding: "ros2msg", Data: []byte(text)}
	}
	storagetest.Run(t, storagetest.Config{
		Format: f, Encoding: "cdr", Name: name, FaultFS: true, Type: "std_msgs/msg/String", Schema: schema("string data\n"),
		Others: []storagetest.Definition{
			{Type: "std_msgs/msg/UInt32", Schema: schema("uint32 data\n")},
			{Type: "std_msgs/msg/String", Schema: schema("string data\nuint8 more\n")},
		},
	})
}
