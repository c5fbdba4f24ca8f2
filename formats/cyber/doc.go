// Package cyber reads and writes the records of Apollo's Cyber RT: what
// cyber_recorder makes. Numbers are little endian; "Header" and the others are
// protobuf messages of proto/cyber.
//
//	file     = HEADER section ...            the section after HEADER begins at byte 2064
//	section  = u32 type | 4 bytes that mean nothing | i64 size | size bytes
//	type     = 0 HEADER  1 CHUNK_HEADER  2 CHUNK_BODY  3 INDEX  4 CHANNEL
//	body     = 0a length message, for each message
//	message  = 0a length channel_name  10 time (varint, ns)  1a length content
//
// # Reading
//
// The sections are the truth, the index is compared with them: recorders before
// August 2019 wrote where sections end and not where they begin. Times, counts
// and order are measured if the index contradicts itself. Chunks may
// overlap in time, be cut, or lie about their size; see docs/formats/cyber.md
// for what is read and which warnings are kept. A path names one file, or the
// folder or the common stem of the segments of one recording.
//
// A chunk of several megabytes is several blocks, cut where messages begin. A
// message is never decoded and its content never copied: it is handed out as a
// part of the block's buffer.
//
// # Writing
//
// What is written is what Apollo's RecordReader and RecordViewer both return in
// full: chunks that follow each other in time, true headers, no empty sections.
//
// # Refused
//
// A recording whose folder has records of several names, a file without header
// and sections, sections over 2 GiB and names that are not UTF-8 when writing.
// Apollo's compress flag is ignored: no version ever compressed.
//
// # Concurrency
//
// As in [storage.Reader] and [storage.Writer]: Reader.ReadBlock and Info may be
// called from several goroutines, and so may an [storage.PendingBlock]'s Encode.
//
// Facts of the format are from the sources of Cyber RT (cyber/record,
// cyber/proto/record.proto) of Apollo 3.5 to 10.0, and from real files.
package cyber
