package toy_test

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"

	"github.com/bagconv/bagconv/testdata/external/toy"
)

func TestStorage(t *testing.T) {
	schema := func(text string) storage.Schema { return storage.Schema{Encoding: "toyschema", Data: []byte(text)} }
	storagetest.Run(t, storagetest.Config{Format: toy.Format, Encoding: "toy", Type: "Toy", Schema: schema("x"),
		Name:    "x.toy",
		FaultFS: true, ReadsAll: "it is read as a whole",
		Others: []storagetest.Definition{{Type: "Ball", Schema: schema("y")}, {Type: "Toy", Schema: schema("z")}},
	})
}
