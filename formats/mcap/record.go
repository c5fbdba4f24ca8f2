package mcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// The records of the data section. str is a u32 length and UTF-8, map a u32 length
// in bytes and then pairs of str; times are u64 ns.
//
//	01 Header      profile str, library str
//	02 Footer      summary_start u64, summary_offset_start u64, summary_crc u32
//	03 Schema      id u16 (not 0), name str, encoding str, u32 length, data
//	04 Channel     id u16, schema_id u16 (0: none), topic str, message_encoding str, metadata map
//	05 Message     channel_id u16, sequence u32, log_time u64, publish_time u64, data to the end
//	06 Chunk       see chunk.go
//	07 MessageIndex  channel_id u16, u32 length in bytes, then log_time u64 and offset u64 of each
//	09 Attachment  log_time u64, create_time u64, name str, media_type str, u64 length, data, crc u32
//	0C Metadata    name str, metadata map
//	0F DataEnd     data_section_crc u32
//
// Bytes after the known fields are from a newer writer and ignored. 00 is no
// opcode; 10 to 7F are reserved and 80 to FF private, and skipped.
const (
	opHeader          = 0x01
	opFooter          = 0x02
	opSchema          = 0x03
	opChannel         = 0x04
	opMessage         = 0x05
	opChunk           = 0x06
	opMessageIndex    = 0x07
	opChunkIndex      = 0x08
	opAttachment      = 0x09
	opAttachmentIndex = 0x0A
	opStatistics      = 0x0B
	opMetadata        = 0x0C
	opMetadataIndex   = 0x0D
	opSummaryOffset   = 0x0E
	opDataEnd         = 0x0F
)

const (
	magic        = "\x89MCAP0\r\n"
	recordHead   = 9  // opcode and length
	messageFixed = 22 // bytes of a Message before its data
	footerSize   = 20
	indexEntry   = 16 // bytes of an entry of a Message Index
	indexFixed   = 6  // bytes of a Message Index before its entries
)

var opNames = [...]string{
	opHeader: "header", opFooter: "footer", opSchema: "schema", opChannel: "channel", opMessage: "message",
	opChunk: "chunk", opMessageIndex: "message index", opChunkIndex: "chunk index", opAttachment: "attachment",
	opAttachmentIndex: "attachment index", opStatistics: "statistics record", opMetadata: "metadata record",
	opMetadataIndex: "metadata index", opSummaryOffset: "summary offset", opDataEnd: "data end",
}

func opName(op byte) string {
	if int(op) < len(opNames) && op > 0 {
		return opNames[op]
	}
	return fmt.Sprintf("record of opcode %#02x", op)
}

// aRecord is the name of a record with its article.
func aRecord(op byte) string {
	name := opName(op)
	if strings.HasPrefix(name, "a") {
		return "an " + name
	}
	return "a " + name
}

var (
	errShort = errors.New("a field is longer than its record")
	errZero  = errors.New("opcode 0")
)

// fields is a cursor over the fields of a record. It does not go beyond the end:
// from the first field that would, all are zero and bad is set.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) take(n uint64) []byte {
	if f.bad || n > uint64(len(f.b)) {
		f.bad = true
		return nil
	}
	out := f.b[:n:n]
	f.b = f.b[n:]
	return out
}

func (f *fields) u8() byte {
	if b := f.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (f *fields) u16() uint16 {
	if b := f.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (f *fields) u32() uint32 {
	if b := f.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (f *fields) u64() uint64 {
	if b := f.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// bytes is a u32 length and as many bytes, which point into the record.
func (f *fields) bytes() []byte { return f.take(uint64(f.u32())) }

func (f *fields) str() string { return string(f.bytes()) }

func (f *fields) pairs() []pair {
	m := fields{b: f.bytes(), bad: f.bad}
	var out []pair
	for len(m.b) > 0 && !m.bad {
		out = append(out, pair{m.str(), m.str()})
	}
	f.bad = m.bad
	return out
}

func (f *fields) err() error {
	if f.bad {
		return errShort
	}
	return nil
}

// A pair is an entry of a map. Maps keep their order, and keys that are there twice.
type pair struct{ key, value string }

// A recordHeader is the start of a record.
type recordHeader struct {
	op     byte
	length uint64 // of the body
}

// parseHead reads the start of a record. An error that is not
// storage.ErrTruncated means that no record begins there.
func parseHead(b []byte) (recordHeader, error) {
	if len(b) < recordHead {
		return recordHeader{}, storage.ErrTruncated
	}
	if b[0] == 0 {
		return recordHeader{}, errZero
	}
	return recordHeader{b[0], binary.LittleEndian.Uint64(b[1:])}, nil
}

// beginRecord appends the start of a record; endRecord fills in its length.
func beginRecord(dst []byte, op byte) ([]byte, int) {
	return append(dst, op, 0, 0, 0, 0, 0, 0, 0, 0), len(dst)
}

// padding stands after the fields of each record that may grow: tests write as a
// newer writer would.
var padding []byte

func endRecord(dst []byte, at int) []byte {
	switch dst[at] {
	case opMessage, opDataEnd, opFooter:
	default:
		dst = append(dst, padding...)
	}
	binary.LittleEndian.PutUint64(dst[at+1:], uint64(len(dst)-at-recordHead))
	return dst
}

func appendStr[T string | []byte](dst []byte, s T) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
}

func appendPairs(dst []byte, pairs []pair) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for _, p := range pairs {
		dst = appendStr(appendStr(dst, p.key), p.value)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
