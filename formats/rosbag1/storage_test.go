package rosbag1

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func textSchema(text string) storage.Schema {
	return storage.Schema{Encoding: schemaEncoding, Data: []byte(text)}
}

func TestStorage(t *testing.T) {
	storagetest.Run(t, storagetest.Config{
		Format: Format, Encoding: "ros1", Name: "x.bag", FaultFS: true,
		Schema:   textSchema("string data\n"),
		Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"},
		Others: []storagetest.Definition{
			{Type: "std_msgs/Int32", Schema: textSchema("int32 data\n")},
			{Type: "std_msgs/String", Schema: textSchema("string[] data\n")},
		},
	})
}
