package ulog

import (
	"testing"

	"github.com/bagconv/bagconv/storage/storagetest"
)

func TestStorage(t *testing.T) { storagetest.RunReader(t, Format, sample(20_000).save(t)) }
