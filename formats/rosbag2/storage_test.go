package rosbag2

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	for _, name := range []string{"folder", "file.db3"} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, storagetest.Config{
				Format: Format, Encoding: "cdr", Name: name, Type: "std_msgs/msg/String", FaultFS: true,
				Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("string data\n")},
			})
		})
	}
}
