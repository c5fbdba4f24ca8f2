package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/live/intake"

	"github.com/bagconv/bagconv/storage"
)

// What TCPROS sends over a connection, little endian:
//
//	header  u32 length of all fields, then of each field: u32 length, name=value
//	        first by the subscriber, then by the publisher
//	message u32 length, bytes; any number of them, by the publisher
//
// Source: wiki.ros.org/ROS/TCPROS and wiki.ros.org/ROS/Connection%20Header.

// maxHeader bounds the fields of a header, in bytes: a definition is the only large one.
const maxHeader = 8 << 20

// Names of fields.
const (
	FieldTopic      = "topic"
	FieldType       = "type"
	FieldMD5        = storage.MetaMD5Sum
	FieldDefinition = "message_definition"
	FieldCaller     = storage.MetaCallerID
	FieldLatching   = storage.MetaLatching
	FieldNoDelay    = "tcp_nodelay"
	FieldError      = "error"
)

// AppendHeader appends a header to b, its fields in the order of their names.
func AppendHeader(b []byte, fields map[string]string) []byte {
	names := make([]string, 0, len(fields))
	total := 0
	for name, value := range fields {
		names = append(names, name)
		total += 4 + len(name) + 1 + len(value)
	}
	slices.Sort(names)
	b = binary.LittleEndian.AppendUint32(b, uint32(total))
	for _, name := range names {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)+1+len(fields[name])))
		b = append(b, name...)
		b = append(b, '=')
		b = append(b, fields[name]...)
	}
	return b
}

// ReadHeader reads a header.
func ReadHeader(r io.Reader) (map[string]string, error) {
	b, err := ReadSized(r, maxHeader, 0, "header")
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for at := 0; at < len(b); {
		if len(b)-at < 4 {
			return nil, wrong("header: %d bytes after its last field", len(b)-at)
		}
		n := binary.LittleEndian.Uint32(b[at:])
		at += 4
		if uint64(n) > uint64(len(b)-at) {
			return nil, wrong("header: a field of %d bytes, and %d are left", n, len(b)-at)
		}
		name, value, ok := strings.Cut(string(b[at:at+int(n)]), "=")
		if !ok {
			return nil, wrong("header: a field without =: %.40q", name)
		}
		fields[name] = value
		at += int(n)
	}
	return fields, nil
}

// ReadSized reads a u32 length and so many bytes. Memory grows with what has come, not with
// what the length promises; of so many bytes as trusted, it is taken at once.
func ReadSized(r io.Reader, limit, trusted int64, what string) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the connection ended within the length of a %s: %w", what, storage.ErrTruncated)
		}
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > limit {
		return nil, wrong("a %s of %d bytes, more than the limit of %d", what, n, limit)
	}
	b, err := intake.ReadMessage(io.LimitReader(r, n), trusted, n)
	if err == nil && int64(len(b)) < n {
		err = fmt.Errorf("the connection ended after %d of %d bytes of a %s: %w", len(b), n, what, storage.ErrTruncated)
	}
	return b, err
}

// wrong returns an error about what a peer has sent.
func wrong(format string, a ...any) error {
	return &storage.Error{Format: "TCPROS", Offset: -1, What: fmt.Sprintf(format, a...), Err: storage.ErrCorrupt}
}
