package oldbag

import (
	"encoding/binary"
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// encoding and schemaEncoding are ROS 1's, whatever the version of the bag.
const (
	encoding       = "ros1"
	schemaEncoding = "ros1msg"
)

// A kind is what a record is.
type kind uint8

const (
	kindOther kind = iota // it is skipped
	kindMessage
	kindDefinition
	kindFileHeader
	kindIndex
)

// A record is the head of a record: all of it but its data. Slices point into the bytes that were
// parsed, key may point into scratch. Both are valid until the next parse.
type record struct {
	kind    kind
	guessed bool   // its op is damaged, the other fields show what it is
	key     []byte // of a message: the fields that distinguish its topic from others
	head    int    // bytes in front of the data
	size    int64  // bytes of data
	time    int64  // of a message, ns since 1970 or since the start of the recording

	topic, typ, md5, def []byte
	callerid, latching   []byte
	indexPos             uint64 // of a file header
	count, version       uint32 // of an index

	scratch []byte
}

// reset forgets all but the memory.
func (r *record) reset() { *r = record{scratch: r.scratch[:0]} }

// A dialect reads the records of one version. It is safe for concurrent use.
type dialect interface {
	// parse reads the head of the record at the start of b. If b ends within it, the error
	// is storage.ErrTruncated.
	parse(r *record, b []byte) error

	// next returns where in b, at or after from, the next bytes begin that could be the head of a
	// record, or -1. r is overwritten.
	next(r *record, b []byte, from int) int

	// describe returns the topic of a message, without its definition.
	describe(r *record) storage.Topic
}

var (
	errLine   = errors.New("a line is missing or has characters that no name has")
	errMD5    = errors.New("an md5sum does not have 32 hexadecimal digits")
	errTopic  = errors.New("no such topic is in the table at the start of the file")
	errLength = errors.New("the length of the message before is damaged")
)

// carryTime returns a time in ns. Nanoseconds over 1e9 count as they are.
func carryTime(sec, nsec uint32) int64 { return int64(sec)*1e9 + int64(nsec) }

// messageTail reads what every message before version 1.2 ends its head with.
func (r *record) messageTail(b []byte) error {
	if len(b) < tailSize {
		return storage.ErrTruncated
	}
	r.kind = kindMessage
	r.time = carryTime(binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]))
	r.size = int64(binary.LittleEndian.Uint32(b[8:]))
	r.head += tailSize
	return nil
}

// tailSize is the size of time and length of a message before version 1.2.
const tailSize = 12

// topicOf makes a topic from a head.
func topicOf(r *record) storage.Topic {
	t := storage.Topic{Name: string(r.topic), Type: string(r.typ), Encoding: encoding,
		Metadata: map[string]string{storage.MetaMD5Sum: string(r.md5)}}
	if r.callerid != nil {
		t.Metadata[storage.MetaCallerID] = string(r.callerid)
	}
	if r.latching != nil {
		t.Metadata[storage.MetaLatching] = string(r.latching)
	}
	return t
}
