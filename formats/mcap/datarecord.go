package mcap

import (
	"encoding/binary"
	"fmt"
)

// A header is a Header record.
type header struct{ profile, library string }

func (h *header) parse(b []byte) error {
	f := fields{b: b}
	*h = header{f.str(), f.str()}
	return f.err()
}

func (h *header) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opHeader)
	dst = appendStr(appendStr(dst, h.profile), h.library)
	return endRecord(dst, at)
}

// A schema is a Schema record.
type schema struct {
	id             uint16
	name, encoding string
	data           []byte // points into what was parsed
}

func (s *schema) parse(b []byte) error {
	f := fields{b: b}
	*s = schema{f.u16(), f.str(), f.str(), f.bytes()}
	return f.err()
}

func (s *schema) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opSchema)
	dst = binary.LittleEndian.AppendUint16(dst, s.id)
	dst = appendStr(appendStr(appendStr(dst, s.name), s.encoding), s.data)
	return endRecord(dst, at)
}

// A channel is a Channel record.
type channel struct {
	id, schema      uint16
	topic, encoding string
	metadata        []pair
}

func (c *channel) parse(b []byte) error {
	f := fields{b: b}
	*c = channel{f.u16(), f.u16(), f.str(), f.str(), f.pairs()}
	return f.err()
}

func (c *channel) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opChannel)
	dst = binary.LittleEndian.AppendUint16(dst, c.id)
	dst = binary.LittleEndian.AppendUint16(dst, c.schema)
	dst = appendPairs(appendStr(appendStr(dst, c.topic), c.encoding), c.metadata)
	return endRecord(dst, at)
}

// A message is a Message record.
type message struct {
	channel      uint16
	sequence     uint32
	log, publish uint64
	data         []byte // points into what was parsed
}

func (m *message) parse(b []byte) error {
	if len(b) < messageFixed {
		return errShort
	}
	m.channel = binary.LittleEndian.Uint16(b)
	m.sequence = binary.LittleEndian.Uint32(b[2:])
	m.log = binary.LittleEndian.Uint64(b[6:])
	m.publish = binary.LittleEndian.Uint64(b[14:])
	m.data = b[messageFixed:len(b):len(b)]
	return nil
}

// appendHead appends the record without its data.
func (m *message) appendHead(dst []byte) []byte {
	dst = append(dst, opMessage)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(messageFixed+len(m.data)))
	dst = binary.LittleEndian.AppendUint16(dst, m.channel)
	dst = binary.LittleEndian.AppendUint32(dst, m.sequence)
	dst = binary.LittleEndian.AppendUint64(dst, m.log)
	return binary.LittleEndian.AppendUint64(dst, m.publish)
}

// A messageIndex is a Message Index record.
type messageIndex struct {
	channel uint16
	entries []byte // indexEntry bytes each; points into what was parsed
}

func (x *messageIndex) parse(b []byte) error {
	f := fields{b: b}
	*x = messageIndex{f.u16(), f.bytes()}
	if len(x.entries)%indexEntry != 0 {
		return fmt.Errorf("a message index has %d bytes of entries; each has %d", len(x.entries), indexEntry)
	}
	return f.err()
}

// entry is the i-th entry.
func (x *messageIndex) entry(i int) (log, offset uint64) {
	b := x.entries[i*indexEntry:]
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
}

// An attachment is an Attachment record without its data.
type attachment struct {
	log, create     uint64
	name, mediaType string
	size            uint64
}

// parse reads b, the start of the record's body, and returns how many bytes stand
// before the data.
func (a *attachment) parse(b []byte) (int, error) {
	f := fields{b: b}
	*a = attachment{f.u64(), f.u64(), f.str(), f.str(), f.u64()}
	return len(b) - len(f.b), f.err()
}

// appendHead appends the record up to its data. The checksum follows the data.
func (a *attachment) appendHead(dst []byte) []byte {
	dst, at := beginRecord(dst, opAttachment)
	dst = binary.LittleEndian.AppendUint64(dst, a.log)
	dst = binary.LittleEndian.AppendUint64(dst, a.create)
	dst = appendStr(appendStr(dst, a.name), a.mediaType)
	dst = binary.LittleEndian.AppendUint64(dst, a.size)
	length := uint64(len(dst)-at-recordHead) + a.size + 4 + uint64(len(padding))
	binary.LittleEndian.PutUint64(dst[at+1:], length)
	return dst
}

// A metadata is a Metadata record.
type metadata struct {
	name   string
	values []pair
}

func (m *metadata) parse(b []byte) error {
	f := fields{b: b}
	*m = metadata{f.str(), f.pairs()}
	return f.err()
}

func (m *metadata) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opMetadata)
	return endRecord(appendPairs(appendStr(dst, m.name), m.values), at)
}
