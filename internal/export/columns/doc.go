// Package columns turns serialized messages into columns: a Program is compiled once for a type, a Batch takes
// messages one by one and has them as columns in about the layout of Apache Arrow.
//
//	p, err := columns.Compile(t, columns.Options{})     // t: message.ROS or message.Proto
//	b := p.NewBatch()
//	err = b.Append(message, logTime, publishTime, 0)    // for each message
//	for _, c := range b.Columns() { ... }               // one for each field of p.Schema()
//	b.Reset()
//
// The schema is log_time, publish_time, sequence if it is asked for, and then the fields of the message at the top
// level, structs nested. A field of the message that has one of our names keeps it, and ours gets a _ in front.
//
//	bool, integers, floats        the same; a char is a Uint8, a byte of ROS 1 an Int8, an enum of IDL an Int32
//	string, wstring               Text in UTF-8, always valid; with BinaryText a string is its bytes
//	time, duration, Timestamp     Time, Duration: int64, ns; with StructTimes the struct that it is
//	T[N] of numbers and times     FixedList of N
//	T[], T[<=N], T[N] of others   List
//	uint8[], byte[], char[]       Binary; uint8[N] FixedBinary of N; bytes of protobuf Binary
//	struct                        Struct; without fields a Bool that is true
//	enum of protobuf              Enum: an index into texts, its names; a number without a name is text, too
//	map of protobuf               Map: a list of structs of key and value; of a key that comes again the last one
//	message within itself         Binary: its bytes in protobuf
//
// Null are only values that are absent: members of unions that are not chosen, absent @optional ones, and of protobuf
// messages that are not set and members of oneofs that are not chosen. All other columns are required; fields of
// protobuf that are not set have their defaults.
//
// Refused are types with more than 10,000 columns, paths that do not fit, and an Explode that is no list. An
// error of Append is ErrFull, or wraps ros.ErrMalformed; the batch then is as it was before.
//
// No length of a message is trusted: see package message. Values that a message does not have itself, of absent
// structs, are limited to a multiple of its size. A Program does not change and may be used by any number of
// goroutines; a Batch by one at a time. What Columns returns belongs to the Batch, until its next Append or Reset.
package columns
