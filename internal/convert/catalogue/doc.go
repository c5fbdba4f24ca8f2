// Package catalogue writes what many recordings have into one file, which databases query: SQLite or Parquet. It
// describes a recording by what its reader knows when it is opened, and reads no messages.
//
//	row.go      Recording and Topic, and the table of their columns
//	describe.go a Recording of storage.Info
//	build.go    Write: recordings in order, on all cores; what has not changed is taken from the file before
//	file.go     the two kinds of files, reading and writing
//	sqlite.go   the tables recordings, topics and meta, and the view catalogue
//	parquet.go  one table: a row for each recording and topic, with the columns of both
//
// The rows are in order of path, topic, type and encoding. So a new catalogue is the old one and the list of
// recordings, merged: whatever their number, few recordings are in memory, and the paths of all.
//
// What the file says of a recording is bounded: MaxTopics topics, MaxText bytes for each text. What is left out is
// counted in the column left_out. Bytes of a text that are not UTF-8 stand there as \xNN.
//
// Refused are a file that is no catalogue (it is not replaced, whatever the caller wants), and a catalogue whose rows
// are not in order or of another version, unless it need not be read.
//
// Write runs on several goroutines; a Reader and a Writer are for one at a time.
package catalogue
