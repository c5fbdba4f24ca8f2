package rosbag2

import (
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func textSchema(text string) storage.Schema {
	return storage.Schema{Encoding: "ros2msg", Data: []byte(text)}
}

func TestStorage(t *testing.T) {
	for _, name := range []string{"folder", "file.db3"} {
		t.Run(name, func(t *testing.T) {
			f := *Format
			if name != "folder" { // nor is a single file compressed
				f.Options = slices.DeleteFunc(slices.Clone(f.Options),
					func(o storage.Option) bool { return o.Name == storage.NameCompression })
			}
			storagetest.Run(t, storagetest.Config{
				Format: &f, Encoding: "cdr", Name: name, Type: "std_msgs/msg/String", FaultFS: true,
				Schema: textSchema("string data\n"),
				Others: []storagetest.Definition{
					{Type: "std_msgs/msg/Int32", Schema: textSchema("int32 data\n")},
					{Type: "std_msgs/msg/String", Schema: textSchema("string[] data\n")},
				},
			})
		})
	}
}
