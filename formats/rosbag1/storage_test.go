package rosbag1

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	storagetest.Run(t, storagetest.Config{
		Format: Format, Encoding: "ros1", Name: "x.bag", FaultFS: true,
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
	})
}
