package ulog

import (
	"bytes"

	"github.com/bagconv/bagconv/storage"
)

const (
	formatName = "ulog"
	encoding   = "cdr" // of what messages become
)

// magic begins each file. One byte for the version and eight for the time follow.
var magic = []byte("ULog\x01\x12\x35")

const headSize = 16 // bytes

// Format is the ULog file, which is only read.
var Format = &storage.Format{
	Name:       formatName,
	Help:       "PX4 ULog file",
	Aliases:    []string{"px4"},
	Extensions: []string{".ulg"},
	Holds:      storage.Capacity{Native: encoding},
	Sniff:      func(_ storage.FS, _ string, head []byte) bool { return bytes.HasPrefix(head, magic) },
	Open:       openReader,
}
