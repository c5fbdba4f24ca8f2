// Package lerobot makes data sets of LeRobot (v3) of recordings: rows of an exact rate with states, actions and videos,
// as a mapping file says.
//
//	registry := storage.NewRegistry(append(all.Registry().Formats(), lerobot.Formats()...)...)
//	report, err := convert.Run(ctx, convert.Job{Source: "drive", SourceFormat: source, Sink: "set",
//		SinkFormat: registry.Lookup("lerobot"), Write: storage.WriteOptions{Values: map[string]string{"map": text}}})
//
//	mapping.go               the mapping file
//	fields.go                numbers of messages
//	stream.go, clock.go      messages in the order of time become rows
//	writer.go, record.go     rows become Episodes, of one recording
//	camera.go, take.go       the pictures of an episode
//	assembly.go, tables.go   Episodes become a data set, or are added to one
//	stats.go                 statistics in one pass
//	report.go                what a person should know before training
//
// A recording is read once. Rows and pictures go to files of their own first; when all of them are
// there, the data set is made of these, so that a data set of many recordings is the same however
// they were read. Memory is for the messages that wait for a row, for some pictures on their way to
// ffmpeg, and for 65,536 numbers of each column for its quantiles.
//
// Refused are a mapping that names topics or fields that are not there, topics that are a camera and numbers at once,
// and recordings without a frame. Messages whose numbers or pictures do not go with the first ones are not used, and
// counted.
//
// Sources: lerobot 0.4 and 0.6, src/lerobot/datasets (the layout, CODEBASE_VERSION v3.0).
package lerobot
