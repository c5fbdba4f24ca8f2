// Package export writes what is in the messages of a recording, and not the messages: a table for each topic in
// Parquet, Arrow or CSV, and beside the tables pictures, videos, point clouds and tracks. An export is written as a
// recording is, by the Writer of a Format that has no Open:
//
//	registry := storage.NewRegistry(append(all.Registry().Formats(), export.Formats()...)...)
//	report, err := convert.Run(ctx, convert.Job{Source: "drive", SourceFormat: source,
//		Sink: "drive_tables", SinkFormat: registry.Lookup("parquet")})
//
// So selection, definitions, order, the atomic output and the report of losses are as in a
// conversion. A folder has
//
//	export.json                 what is in it: see Index
//	imu/data.parquet            /imu/data, as a table: package internal/export/columns tells how fields become columns
//	imu/data~2.parquet          /imu/data of another type
//	camera/image_raw/frames.csv a line for each picture beside it, with its times
//	camera/image_raw/1700000000000000000.png
//	extras/                     attachments and metadata records
//
// and an output whose name has the ending of its format is the table of the only topic.
//
//	writer.go, block.go    from messages to full blocks, which the caller encodes on all cores and appends in order
//	product.go             what a topic becomes
//	table.go               tables
//	media.go, view.go      pictures, clouds, tracks, and the messages that have them
//	names.go, files.go     names of files, and how many are open
//	index.go               export.json
//
// A message that does not fit its definition is left out, and so is a picture or cloud that cannot be one: Losses
// counts them. A topic without a definition is refused. A Writer is for one goroutine; Encode of its blocks may be
// called concurrently with everything else.
package export
