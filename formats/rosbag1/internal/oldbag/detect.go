package oldbag

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// The version lines, without their ends.
var versionLines = map[string]string{
	"#ROSRECORD V1.2": "1.2",
	"#ROSRECORD V1.1": "1.1",
	"#ROSLOG V1.1":    "1.1",
	"#ROSLOG V1.0":    "1.0",
}

const lineSize = 16 // of the usual version line

// A Version is the version of an old bag.
type Version struct {
	Name    string // "1.2", "1.1", "1.0", "0"
	Damaged bool   // the version line is damaged; what follows it shows the version
	first   int64  // offset of what follows the version line
}

// Detect returns the version of the bag that begins with head; Name is "" if head begins no old
// bag. A version line that names another version is an error that wraps storage.ErrUnsupported.
func Detect(head []byte) (Version, error) {
	text, _, whole := bytes.Cut(head[:min(len(head), 64)], []byte("\n"))
	if name := versionLines[string(text)]; name != "" && whole {
		return Version{Name: name, first: int64(len(text) + 1)}, nil
	}
	var r record
	if len(head) > lineSize {
		err := v12{}.parse(&r, head[lineSize:])
		if r.kind != kindOther && (err == nil || errors.Is(err, storage.ErrTruncated)) {
			return Version{Name: "1.2", Damaged: true, first: lineSize}, nil
		}
		if head[0] == '#' && whole && (v11{}).parse(&r, head[len(text)+1:]) == nil {
			return Version{Name: "1.1", Damaged: true, first: int64(len(text) + 1)}, nil
		}
	}
	if strings.HasPrefix(string(text), "#ROSRECORD V") || strings.HasPrefix(string(text), "#ROSLOG V") {
		if !whole {
			return Version{}, fmt.Errorf("the version line is cut: %w", storage.ErrTruncated)
		}
		return Version{}, fmt.Errorf("version line %.40q: %w", text, storage.ErrUnsupported)
	}
	// Version 0 has no version line, so that what follows must be a message in every respect.
	if t, size, err := readSingle(head); err == nil && t.parse(&r, head[size:]) == nil &&
		binary.LittleEndian.Uint32(head[size+4:]) < 1e9 && !t.any {
		return Version{Name: "0"}, nil
	}
	return Version{}, nil
}
