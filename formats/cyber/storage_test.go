package cyber

import (
	"testing"

	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) {
	c := suite("x.record")
	c.FaultFS, c.OverlapCode = true, "overlap"
	storagetest.Run(t, *c)
}
