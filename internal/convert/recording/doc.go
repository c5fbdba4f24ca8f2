// Package recording is the one way to read a recording. Open opens a Source, Source.Known decides
// once which definitions its messages have, and Read shows its messages to a Visitor, on all cores and in order:
//
//	files, end := urls.New(ctx, urls.Options{}) // for names that are URLs; otherwise nil
//	ref := recording.Ref{Path: path, Format: format, Read: storage.ReadOptions{FS: files}}
//	_, err := recording.Read(ctx, ref, recording.Query{Select: topics}, visitor)
//
// What a Query selects is left to the index of the recording: blocks without it are not read. How many bytes are in
// memory is bounded, see DefaultMemory, whatever the order of the messages; messages far out of order go into a
// temporary file. If the index turns out to be wrong, all begins again without it, see Use.
//
//	source.go, order.go     the blocks of a recording, and their times
//	visit.go, read.go       visitors: on all cores, then in order; both.go makes one of two
//	totals.go               a visitor that counts
//	pipeline.go             from a source to the sinks of a conversion: workers, order, encoders
//	retry.go                several recordings that are read together, and indexes that are wrong
//
// A conversion is a Pipeline with one or several Sinks. Packages convert, verify, check and the command line decide
// what becomes of a topic, where an output is written and what is reported. Read may be called concurrently; a Source
// is for one goroutine.
package recording
