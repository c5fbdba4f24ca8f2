// Package ingest reads streams of messages, values and tables as a recording, so that a conversion makes a recording
// of any format of them. It is the way back of what `bagconv cat` and `bagconv export` write.
//
//	job.SourceFormat = ingest.Source(ingest.Options{In: os.Stdin, Like: []ingest.Like{{Info: info}}})
//	job.Source = "-"
//	report, err := convert.Run(ctx, job)
//
// Forms are found by the first bytes of the input:
//
//	frames    a plausible head       messages as they are, values in JSON, pieces of Arrow: internal/frames draws them
//	lines     {                    ndjson: messages as JSON, one in a line, or in base64
//	arrow     FFFFFFFF, ARROW1     a stream or a file of Arrow IPC, or of several topics pieces of streams with a head
//	parquet   PAR1                 a table; a folder with export.json has several
//
// The input is read once, from its start, before anything is written: a stream that has no place of its own goes into
// a temporary file meanwhile. So all topics are known, the messages come in any order, and input that is wrong leaves
// no output. What is kept of it in memory is an index of its blocks, definitions, and names.
//
//	open.go     the input, and its form
//	scan.go     reads it once, and cuts it into blocks
//	frames.go   frames
//	lines.go    lines of JSON
//	arrow.go    Arrow: streams, pieces; arrowfile.go: files; ipc.go: messages; arrowcolumn.go: arrays as columns
//	parquetform.go  tables of Parquet, folders of exports; parquet/ reads the files
//	table.go    columns: their topic, their times, and their rows as messages
//	topics.go   which topic a message belongs to, and where its definition comes from
//	build/      makes messages of values
//	reader.go   the recording: makes messages of blocks, on any number of cores
//
// A topic is declared by the stream, by a recording that is like it (Options.Like), or is one of
// the types that the user has (Options.Definitions) or of the standard ones. A topic that none of
// these knows is an error.
//
// Refused are input that ends early or contradicts itself: the error has the offset in the input and wraps
// storage.ErrTruncated or storage.ErrCorrupt. No length is trusted: memory grows with what has come. A Format that
// Source returns is for one run; its Reader keeps the rules of package storage.
package ingest
