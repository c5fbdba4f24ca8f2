// Package report gathers what one file can show of a recording: what was found wrong, which topics came when, and
// samples of the values, places, pictures and points within. `bagconv report` writes it as JSON, or as the page of
// internal/report/page.
//
//	report.go   Report and all below it: the data, and its JSON
//	numbers.go  Numbers: values in JSON that may be NaN
//	gather.go   Gather: everything, by reading all messages once, as package check does, and then by the index
//	quick.go    the same by the index and samples alone
//	stream.go   which fields, positions and transforms of which topics are read; fields.go has the well-known ones
//	pass.go     the visitor that reads them
//	scale.go    messages counted, and values thinned, in equal stretches of time
//	trail.go    tracks; frames.go: the tree of transforms; samples.go and shrink.go: thumbnails and the cloud
//	describe.go what the reader knows; words.go: texts, and the bounds of a report
//
// A report is bounded whatever the recording has: words.go has the bounds. What is too much is left out, and counted in
// LeftOut. Memory grows with the number of topics and not with the number of messages.
//
// Nothing is refused that check reads. A picture, a cloud or a message that cannot be read is left out, and is a line
// of LeftOut and a doubt.
//
// A Report is plain data; whoever has it may read it concurrently. Gather may be called concurrently for different
// readers.
package report
