// Package rosbag1 reads and writes ROS 1 bags, version 2.0.
//
//	"#ROSBAG V2.0\n"
//	FILE_HEADER          4096 bytes, with the offset of the trailer, 0 while recording
//	CHUNK                records, plain or compressed: CONNECTION, MSG_DATA
//	INDEX_DATA ...       one for each connection in the chunk
//	CHUNK, INDEX_DATA ...
//	CONNECTION ...       the trailer: all connections once more
//	CHUNK_INFO ...       one for each chunk: where it is, what it holds
//
// The records are drawn in record.go. A topic of the contract is a connection:
// two publishers of one topic are two topics. Topics are numbered in the order
// of connection id.
//
// # Reading
//
// The chunks are the truth and the index is a hint. A closed bag is opened by
// its trailer, once that agrees with the chunk headers; any other is
// scanned: chunk by chunk if each has its index records, record by record
// if the recorder died. After damage the reader goes on at the next record
// that makes sense, and reports in a warning what it skipped. Each chunk is a
// block; ReadBlock is safe for concurrent use.
//
// Bags of before version 2.0 are read by package oldbag. Encrypted bags are read if there is a key,
// see encryption.go; without a key only Info can be read. Other versions are refused with an error
// that wraps storage.ErrUnsupported.
//
// # Writing
//
// Bytes are as roscpp lays them out: fields in alphabetical order, a connection
// in the chunk of its first message and in the trailer, index entries in the
// order of time. The same calls write the same bytes. Chunks of another bag can be
// copied as they are stored, see copy.go.
package rosbag1
