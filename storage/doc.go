// Package storage is the contract between bagconv and a recording format.
//
// A format is a plugin: a [Format] value with a name, a way to recognise its
// files, and two doors, Open and Create. Open returns a [Reader], Create a
// [Writer]. Everything else (pipelines, re-encoding, filters, reports) is built
// on these from outside, and a format never knows what is on the other side.
// The shape follows the rosbag2 storage API: open, create_topic, write,
// read_next, info, close.
//
//	r, err := format.Open(ctx, "drive", storage.ReadOptions{})
//	info := r.Info()
//	for {
//		m, err := r.ReadNext() // m and m.Data are valid until the next call
//		if err == io.EOF {
//			break
//		}
//	}
//
// A [Registry] opens a recording of any of its formats as a [Recording], which has loops over messages:
//
//	r, err := formats.Open(ctx, "drive", storage.ReadOptions{})
//	for m, err := range r.Messages(ctx) { ... }
//
// # Words
//
// Each has one meaning, here and in messages, docs and names:
//
//	recording  what people think of as one file: a file, or several, or a folder
//	topic      one stream of messages of one type: a connection in a ROS 1 bag, a channel in
//	           an MCAP file or a Cyber record, a row of the topics table in rosbag2. Two topics
//	           may have the same name (two publishers, or two types)
//	message    serialized bytes with a time; formats carry the bytes and never look inside
//	block      the piece that a reader reads, or a writer writes, in one go: see BlockReader
//	chunk      the piece of a file with this name in its format, compressed as a whole
//	part       a file of a rosbag2 folder
//	segment    one of the outputs that a recording is cut into by size or time
//	log time   when a message was recorded; a recording is ordered by it
//	loss       a part of the input that the output does not have; it is reported
//	damage     a part of the input that cannot be read; it is reported
//	warning    one thing that is odd or damaged in the input, with its place and what to do
//
// Encodings and schema encodings have the names of MCAP's registry: "ros1", "cdr", "protobuf";
// "ros1msg", "ros2msg", "ros2idl".
//
// Times are nanoseconds since 1970-01-01 UTC, as int64. If a file has them as uint64,
// they are the same 64 bits: a time from 2^63 on is before 1970, as recorders that count in int64
// write it, and 2^64-1 is -1. So no time is lost, no time is an exception, and each is written as
// it was read. Nothing was recorded after 2262. Bounds in a file, such as the bounds of a chunk,
// are least and greatest as uint64; a Reader that finds both sides of 2^63 in them does not use
// them. Sizes and offsets are bytes.
//
// # Concurrency
//
// A Reader or Writer is used by one goroutine at a time, but for the calls that
// an optional interface names as concurrent ([BlockReader.ReadBlock],
// [PendingBlock.Encode]). Formats start no goroutines that live longer
// than the call or the query that needs them: the caller owns all others.
//
// # Damage
//
// Readers salvage: they read everything that can be read, and [Reader.Damage]
// returns what could not be. With [ReadOptions.Strict] the first damage is an error
// instead. Errors are [*Error] values that wrap [ErrCorrupt], [ErrTruncated] or
// [ErrUnsupported]. No length found in a file is trusted: it is compared with
// what is left of the file before anything is allocated or sliced.
//
// The package imports the standard library only. Package storagetest is the
// suite that every format passes.
package storage
