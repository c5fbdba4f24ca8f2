package mcap

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	storagetest.Run(t, storagetest.Config{
		Format: Format, Encoding: "cdr", Name: "x.mcap", FaultFS: true, Type: "std_msgs/msg/String",
		Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("string data\n")},
	})
}
