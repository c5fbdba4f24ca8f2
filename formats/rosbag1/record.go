package rosbag1

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/storage"
)

// Everything after the version line is a record, in a chunk and outside:
//
//	u32 header length
//	fields: u32 length, name, '=', value   (the order means nothing)
//	u32 data length
//	data
//
// Numbers are little endian; a time is u32 seconds, u32 nanoseconds. Source:
// ros_comm noetic-devel, tools/rosbag/FORMATS and tools/rosbag_storage.
//
//	op  record       header fields besides op                      data
//	 2  MSG_DATA     conn, time                                    the message
//	 3  FILE_HEADER  index_pos, conn_count, chunk_count            blanks: header + data = 4096 bytes
//	 4  INDEX_DATA   ver=1, conn, count                            count times: time, u32 offset in the chunk
//	 5  CHUNK        compression, size (before compression)        records, compressed
//	 6  CHUNK_INFO   ver=1, chunk_pos, start_time, end_time, count  count times: u32 conn, u32 messages
//	 7  CONNECTION   conn, topic                                   fields of the connection header
const (
	opMessage    = 2
	opFileHeader = 3
	opIndex      = 4
	opChunk      = 5
	opChunkInfo  = 6
	opConnection = 7
)

const (
	magicV2      = "#ROSBAG V"
	versionLine  = "#ROSBAG V2.0\n"
	headerSize   = 4096    // of a FILE_HEADER record, without its two lengths
	maxHeader    = 1 << 20 // most bytes of record header that are read; roscpp stops at 1,000,000 a field
	indexEntry   = 12
	messageFixed = 46 // bytes of a MSG_DATA record around its data
)

// The bits of header.have.
const (
	hasOp = 1 << iota
	hasConn
	hasTime
	hasCount
	hasSize
	hasCompression
	hasTopic
	hasIndexPos
	hasChunkPos
	hasEncryptor
	hasStart
	hasEnd
)

// What a record of each op must have.
var required = [8]uint16{
	opMessage:    hasOp | hasConn | hasTime,
	opFileHeader: hasOp | hasIndexPos,
	opIndex:      hasOp | hasConn | hasCount,
	opChunk:      hasOp | hasCompression | hasSize,
	opChunkInfo:  hasOp | hasChunkPos | hasCount | hasStart | hasEnd,
	opConnection: hasOp | hasConn | hasTopic,
}

// A header is a parsed record header. Slices point into the parsed bytes.
type header struct {
	op                    byte
	have                  uint16
	conn, count, size     uint32
	version               uint32
	connCount, chunkCount uint32
	indexPos, chunkPos    uint64
	time, start, end      int64 // ns
	topic, compression    []byte
	encryptor             []byte
	carry                 bool   // time has 1e9 nanoseconds or more
	guessed               bool   // the op is damaged or missing, the other fields identify the record
	dataLen               uint32 // of the record's data; set by parseRecord
	headLen               int    // bytes of the record before its data; set by parseRecord
}

var (
	errFieldLength = errors.New("header field is longer than the header")
	errFieldEquals = errors.New("header field without '='")
	errFieldSize   = errors.New("header field has a value of the wrong size")
	errNoOp        = errors.New("header lacks a field that its record needs")
	errOp          = errors.New("the op of a record is damaged; its other fields identify it")
	errHeaderSize  = errors.New("header length is not plausible")
)

// nextField reads the field that b begins with: of a record header, or of a connection
// header. name and value point into b.
func nextField(b []byte) (name, value, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, nil, errFieldLength
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, nil, errFieldLength
	}
	name, value, ok := bytes.Cut(b[4:4+n], []byte("="))
	if !ok {
		return nil, nil, nil, errFieldEquals
	}
	return name, value, b[4+n:], nil
}

// parse reads the fields of a record header. Unknown fields are skipped.
func (h *header) parse(b []byte) error {
	*h = header{}
	fields := 0
	for ; len(b) > 0; fields++ {
		name, value, rest, err := nextField(b)
		if err != nil {
			return err
		}
		b = rest
		if !h.set(name, value) {
			return errFieldSize
		}
	}
	if int(h.op) < len(required) && required[h.op] != 0 && h.have&required[h.op] == required[h.op] {
		return nil
	}
	return h.guess(fields)
}

// guess settles the op of a header whose own op is damaged, missing or unknown: a header that has
// the fields of a record, all and no others, is that record. Other unknown records are left to be
// skipped, as the format wants it.
func (h *header) guess(fields int) error {
	for _, g := range [...]struct {
		op     byte
		fields int
	}{{opMessage, 3}, {opChunk, 3}, {opConnection, 3}, {opIndex, 4}, {opFileHeader, 4}, {opChunkInfo, 6}} {
		if need := required[g.op] &^ hasOp; h.have&need == need && fields == g.fields {
			h.op, h.guessed = g.op, true
			return nil
		}
	}
	if h.have&hasOp == 0 || int(h.op) < len(required) && required[h.op] != 0 {
		return errNoOp
	}
	return nil
}

// set stores one field, and reports whether its value has the right size.
func (h *header) set(name, v []byte) bool {
	switch string(name) {
	case "op":
		if len(v) != 1 {
			return false
		}
		h.op = v[0]
		h.have |= hasOp
	case "conn":
		return h.u32(&h.conn, hasConn, v)
	case "count":
		return h.u32(&h.count, hasCount, v)
	case "size":
		return h.u32(&h.size, hasSize, v)
	case "ver":
		return h.u32(&h.version, 0, v)
	case "conn_count":
		return h.u32(&h.connCount, 0, v)
	case "chunk_count":
		return h.u32(&h.chunkCount, 0, v)
	case "index_pos":
		return h.u64(&h.indexPos, hasIndexPos, v)
	case "chunk_pos":
		return h.u64(&h.chunkPos, hasChunkPos, v)
	case "time":
		h.carry = len(v) == 8 && carries(v)
		return h.when(&h.time, hasTime, v)
	case "start_time":
		return h.when(&h.start, hasStart, v)
	case "end_time":
		return h.when(&h.end, hasEnd, v)
	case "topic":
		h.topic = v
		h.have |= hasTopic
	case "compression":
		h.compression = v
		h.have |= hasCompression
	case "encryptor":
		h.encryptor = v
		h.have |= hasEncryptor
	}
	return true
}

func (h *header) u32(to *uint32, bit uint16, v []byte) bool {
	if len(v) != 4 {
		return false
	}
	*to = binary.LittleEndian.Uint32(v)
	h.have |= bit
	return true
}

func (h *header) u64(to *uint64, bit uint16, v []byte) bool {
	if len(v) != 8 {
		return false
	}
	*to = binary.LittleEndian.Uint64(v)
	h.have |= bit
	return true
}

func (h *header) when(to *int64, bit uint16, v []byte) bool {
	if len(v) != 8 {
		return false
	}
	*to = parseTime(v)
	h.have |= bit
	return true
}

// parseTime returns a time in ns. Nanoseconds over 1e9 count as they are.
func parseTime(b []byte) int64 {
	v := binary.LittleEndian.Uint64(b)
	return int64(v&math.MaxUint32)*1e9 + int64(v>>32)
}

// carries reports whether a time has so many nanoseconds that no writer should.
func carries(b []byte) bool { return binary.LittleEndian.Uint32(b[4:]) >= 1e9 }

func putTime(b []byte, ns int64) {
	binary.LittleEndian.PutUint32(b, uint32(ns/1e9))
	binary.LittleEndian.PutUint32(b[4:], uint32(ns%1e9))
}

// The start of a message record as roscpp writes it, by far the most common
// one: u32 38, "conn=....", "op=\x02", "time=........".
const (
	word0 = 38 | 9<<32                // header length, length of "conn=...."
	word1 = "conn="                   // then the id
	word2 = "\x04\x00\x00\x00op=\x02" // then
	word3 = "\x0d\x00\x00\x00time="
)

// parseRecord reads the record header at the start of b, which may end before
// the record's data does. It returns storage.ErrTruncated when b ends within
// the header.
func (h *header) parseRecord(b []byte) error {
	if len(b) >= messageFixed && binary.LittleEndian.Uint64(b) == word0 &&
		string(b[8:13]) == word1 && string(b[17:25]) == word2 && string(b[25:34]) == word3 {
		h.op, h.have, h.guessed = opMessage, required[opMessage], false
		h.conn = binary.LittleEndian.Uint32(b[13:])
		h.time, h.carry = parseTime(b[34:]), carries(b[34:])
		h.dataLen = binary.LittleEndian.Uint32(b[42:])
		h.headLen = messageFixed
		return nil
	}
	if len(b) < 4 {
		return storage.ErrTruncated
	}
	n := binary.LittleEndian.Uint32(b)
	if n < 8 || n > maxHeader { // the shortest header is an op
		return errHeaderSize
	}
	if len(b) < 8+int(n) {
		return storage.ErrTruncated
	}
	if err := h.parse(b[4 : 4+n]); err != nil {
		return err
	}
	h.dataLen = binary.LittleEndian.Uint32(b[4+n:])
	h.headLen = 8 + int(n)
	return nil
}

// dataSize is the number of bytes of data that follow the header in the file.
// Before ROS 1.1.15 (July 2010) INDEX_DATA stated the size of a C++ struct for
// each entry, 20 or 24 bytes, and wrote 12; every reader goes by the count.
func (h *header) dataSize() int64 {
	if h.op == opIndex {
		return indexEntry * int64(h.count)
	}
	return int64(h.dataLen)
}

// appendField appends one header field.
func appendField(dst []byte, name, value string) []byte {
	return append(appendName(dst, name, len(value)), value...)
}

func appendOp(dst []byte, op byte) []byte { return append(dst, 4, 0, 0, 0, 'o', 'p', '=', op) }

func appendU32Field(dst []byte, name string, v uint32) []byte {
	dst = appendName(dst, name, 4)
	return binary.LittleEndian.AppendUint32(dst, v)
}

func appendU64Field(dst []byte, name string, v uint64) []byte {
	dst = appendName(dst, name, 8)
	return binary.LittleEndian.AppendUint64(dst, v)
}

func appendTimeField(dst []byte, name string, ns int64) []byte {
	dst = appendName(dst, name, 8)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	putTime(dst[len(dst)-8:], ns)
	return dst
}

// appendName appends the front of a field whose value has size bytes.
func appendName(dst []byte, name string, size int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(name)+1+size))
	dst = append(dst, name...)
	return append(dst, '=')
}

func opName(op byte) string {
	switch op {
	case opMessage:
		return "message"
	case opFileHeader:
		return "file header"
	case opIndex:
		return "index"
	case opChunk:
		return "chunk"
	case opChunkInfo:
		return "chunk info"
	case opConnection:
		return "connection"
	}
	return fmt.Sprintf("record of unknown op %d", op)
}
