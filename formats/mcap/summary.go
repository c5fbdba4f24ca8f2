package mcap

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/bagconv/bagconv/internal/iox"
)

// The records of the summary section. A length of a chunk, attachment or metadata
// record includes the 9 bytes of its head.
//
//	08 ChunkIndex       start u64, end u64, chunk_offset u64, chunk_length u64, map of channel_id u16 and
//	                    offset u64 of its Message Index, message_index_length u64, compression str,
//	                    compressed_size u64, uncompressed_size u64
//	0A AttachmentIndex  offset u64, length u64, log_time u64, create_time u64, data_size u64, name str, media_type str
//	0B Statistics       messages u64, schemas u16, channels u32, attachments u32, metadata u32, chunks u32,
//	                    start u64, end u64, map of channel_id u16 and messages u64
//	0D MetadataIndex    offset u64, length u64, name str
//	0E SummaryOffset    opcode u8, start u64, length u64 of a group of records

// A chunkIndex is a Chunk Index record.
type chunkIndex struct {
	start, end       uint64
	offset, length   uint64
	indexes          []byte // the map: channel id u16, offset u64 each
	indexLength      uint64
	compression      string
	stored, original uint64
}

const chunkIndexEntry = 10 // bytes of an entry of chunkIndex.indexes, and of statistics.counts

// heads returns where the header of the chunk and its index are.
func (x *chunkIndex) heads() []iox.Span {
	const most = 64 << 10 // bytes of an index
	return []iox.Span{{Off: int64(x.offset), Len: recordHead + chunkHead}, {Off: int64(x.offset + x.length),
		Len: int64(min(x.indexLength, most))}}
}

func (x *chunkIndex) parse(b []byte) error {
	f := fields{b: b}
	*x = chunkIndex{f.u64(), f.u64(), f.u64(), f.u64(), f.bytes(), f.u64(), f.str(), f.u64(), f.u64()}
	if len(x.indexes)%chunkIndexEntry != 0 {
		return errShort
	}
	return f.err()
}

func (x *chunkIndex) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opChunkIndex)
	for _, v := range [...]uint64{x.start, x.end, x.offset, x.length} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	dst = appendStr(dst, x.indexes)
	dst = binary.LittleEndian.AppendUint64(dst, x.indexLength)
	dst = appendStr(dst, x.compression)
	dst = binary.LittleEndian.AppendUint64(dst, x.stored)
	dst = binary.LittleEndian.AppendUint64(dst, x.original)
	return endRecord(dst, at)
}

// An attachmentIndex is an Attachment Index record.
type attachmentIndex struct {
	offset, length uint64
	attachment
}

func (x *attachmentIndex) parse(b []byte) error {
	f := fields{b: b}
	*x = attachmentIndex{offset: f.u64(), length: f.u64()}
	x.log, x.create, x.size = f.u64(), f.u64(), f.u64()
	x.name, x.mediaType = f.str(), f.str()
	return f.err()
}

func (x *attachmentIndex) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opAttachmentIndex)
	for _, v := range [...]uint64{x.offset, x.length, x.log, x.create, x.size} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return endRecord(appendStr(appendStr(dst, x.name), x.mediaType), at)
}

// A statistics is a Statistics record.
type statistics struct {
	messages                                uint64
	schemas                                 uint16
	channels, attachments, metadata, chunks uint32
	start, end                              uint64
	counts                                  []byte // the map: channel id u16, messages u64 each
}

func (s *statistics) parse(b []byte) error {
	f := fields{b: b}
	*s = statistics{f.u64(), f.u16(), f.u32(), f.u32(), f.u32(), f.u32(), f.u64(), f.u64(), f.bytes()}
	if len(s.counts)%chunkIndexEntry != 0 {
		return errShort
	}
	return f.err()
}

func (s *statistics) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opStatistics)
	dst = binary.LittleEndian.AppendUint64(dst, s.messages)
	dst = binary.LittleEndian.AppendUint16(dst, s.schemas)
	for _, v := range [...]uint32{s.channels, s.attachments, s.metadata, s.chunks} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	dst = binary.LittleEndian.AppendUint64(dst, s.start)
	dst = binary.LittleEndian.AppendUint64(dst, s.end)
	return endRecord(appendStr(dst, s.counts), at)
}

// eachCount calls f for each entry of a map from channel ids to numbers.
func eachCount(b []byte, f func(channel uint16, n uint64)) {
	for ; len(b) >= chunkIndexEntry; b = b[chunkIndexEntry:] {
		f(binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint64(b[2:]))
	}
}

func appendCount(dst []byte, channel uint16, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(dst, channel), n)
}

// A metadataIndex is a Metadata Index record.
type metadataIndex struct {
	offset, length uint64
	name           string
}

func (x *metadataIndex) parse(b []byte) error {
	f := fields{b: b}
	*x = metadataIndex{f.u64(), f.u64(), f.str()}
	return f.err()
}

func (x *metadataIndex) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opMetadataIndex)
	dst = binary.LittleEndian.AppendUint64(dst, x.offset)
	dst = binary.LittleEndian.AppendUint64(dst, x.length)
	return endRecord(appendStr(dst, x.name), at)
}

// A summaryOffset is a Summary Offset record.
type summaryOffset struct {
	op            byte
	start, length uint64
}

func (x *summaryOffset) parse(b []byte) error {
	f := fields{b: b}
	*x = summaryOffset{f.u8(), f.u64(), f.u64()}
	return f.err()
}

func (x *summaryOffset) append(dst []byte) []byte {
	dst, at := beginRecord(dst, opSummaryOffset)
	dst = append(dst, x.op)
	dst = binary.LittleEndian.AppendUint64(dst, x.start)
	return endRecord(binary.LittleEndian.AppendUint64(dst, x.length), at)
}

// A footer is a Footer record.
type footer struct {
	summaryStart, offsetStart uint64
	crc                       uint32 // of the summary and of the footer up to here; 0: not known
}

func (x *footer) parse(b []byte) error {
	f := fields{b: b}
	*x = footer{f.u64(), f.u64(), f.u32()}
	return f.err()
}

// append appends the record, with the checksum unless it is not wanted. summary is
// the checksum of what stands between summaryStart and the record.
func (x *footer) append(dst []byte, summary uint32, checksum bool) []byte {
	dst, at := beginRecord(dst, opFooter)
	binary.LittleEndian.PutUint64(dst[at+1:], footerSize)
	dst = binary.LittleEndian.AppendUint64(dst, x.summaryStart)
	dst = binary.LittleEndian.AppendUint64(dst, x.offsetStart)
	if x.crc = 0; checksum {
		x.crc = crc32.Update(summary, crc32.IEEETable, dst[at:])
	}
	return binary.LittleEndian.AppendUint32(dst, x.crc)
}

// layouts are the fields of records: a digit is a number of so many bytes, s is a
// u32 length and as many bytes, d a u64 length and as many.
var layouts = [...]string{
	opHeader: "ss", opFooter: "884", opSchema: "2sss", opChannel: "22sss", opMessage: "2488", opChunk: "8884sd",
	opMessageIndex: "2s", opChunkIndex: "8888s8s88", opAttachment: "88ssd4", opAttachmentIndex: "88888ss",
	opStatistics: "82444488s", opMetadata: "ss", opMetadataIndex: "88s", opSummaryOffset: "188", opDataEnd: "4",
}

// checkBody checks by its fields whether b, the start of a body of length bytes, can be the body of
// a record. It takes no longer than skipping the fields.
func checkBody(op byte, length uint64, b []byte) error {
	_, err := knownFields(op, length, b)
	return err
}

// knownFields returns how many bytes of a body are fields that are known. What follows
// them is from a newer writer, or the length is damaged.
func knownFields(op byte, length uint64, b []byte) (size uint64, err error) {
	if int(op) >= len(layouts) {
		return length, nil
	}
	bad := func() (uint64, error) { return 0, fmt.Errorf("%s: %w", opName(op), errShort) }
	f := fields{b: b}
	rest := length
	for _, code := range layouts[op] {
		n := uint64(code - '0')
		switch code {
		case 's':
			n = uint64(f.u32())
			rest -= 4
		case 'd':
			if n = f.u64(); f.bad {
				return bad()
			}
			if rest -= 8; n > rest {
				return bad()
			}
			f.b = f.b[min(n, uint64(len(f.b))):]
			if rest -= n; rest > uint64(len(f.b)) && len(f.b) == 0 {
				return length, nil // what follows is not at hand
			}
			continue
		}
		f.take(n)
		rest -= n
		if f.bad || rest > length {
			return bad()
		}
	}
	switch {
	case op == opFooter && length != footerSize, op == opDataEnd && length != 4:
		return bad()
	case op == opMessageIndex && (length-rest-indexFixed)%indexEntry != 0:
		return bad()
	case op == opMessage:
		return length, nil
	}
	return length - rest, nil
}
