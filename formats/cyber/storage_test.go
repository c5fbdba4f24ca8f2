package cyber

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	storagetest.Run(t, storagetest.Config{
		Format: Format, Encoding: encoding, Name: "x.record", Type: "test.String", FaultFS: true,
		Schema: storage.Schema{Encoding: encoding, Data: testSet()},
	})
}
