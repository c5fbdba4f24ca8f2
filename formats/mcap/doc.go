// Package mcap reads and writes MCAP files, major version 0. Numbers are little
// endian; the records are drawn in record.go and summary.go.
//
//	file    = magic Header data... DataEnd [summary...] [Summary Offset...] Footer magic
//	data    = Schema, Channel, Message, Chunk with its Message Index records, Attachment, Metadata
//	summary = Schema, Channel, Statistics, Chunk Index, Attachment Index, Metadata Index
//	record  = u8 opcode | u64 length of the body | body
//
// A topic of the contract is a channel: two channels of one topic name are two
// topics. Topics are numbered in the order of channel id.
//
// # Reading
//
// The data section is the recording and the summary is a hint. What lies between
// the chunks that the summary knows is always looked at, record header by record
// header; a chunk that the summary does not know, or not as it is, is decoded when
// the file is opened. So messages that no index names are found, and a file without
// a summary is read in full. After damage the reader goes on at the next bytes that
// make sense as a record. Each chunk is a block, and so is each megabyte of messages
// outside of chunks.
//
// Refused, wrapping storage.ErrUnsupported: other major versions. Left out and
// reported: messages of channels that nothing defines.
//
// # Writing
//
// Definitions stand in the chunk of their first message, no chunk is without a
// message, and every checksum and index is there. The same calls write the same
// bytes. Chunks of another file can be copied as they are stored, see copy.go.
//
// # Concurrency
//
// As in [storage.Reader] and [storage.Writer]: Reader.ReadBlock and Info may be
// called from several goroutines, and so may an [storage.PendingBlock]'s Encode.
//
// Facts of the format are from its specification (foxglove/mcap, website/docs/spec)
// and from real files.
package mcap
