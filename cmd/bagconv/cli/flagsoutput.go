package cli

import (
	"slices"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/apollo"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/storage"
)

// outputFlags are about the output.
func (e *env) outputFlags() []flag {
	s := &e.set
	to, force := e.toFlag("overrides the ending of OUT"), s.forceFlag("replace OUT if it is a recording")
	output := flag{name: "output", short: "o", arg: "OUT", kind: aFile, set: put(&s.output), help: "the output, if it is not the last argument"}
	list := allIn(outputGroup, newOutput, to, output, force)
	list = append(list, output.in(outputGroup, "the output", "record"))
	return append(list, flag{name: "dry-run", kind: onOff, group: outputGroup, on: dryRunCommands, set: put(&s.job.DryRun),
		help: "convert a part of IN in memory; print what becomes of each topic, the losses to expect, and about how large OUT will be; write nothing"})
}

func (e *env) toFlag(note string) flag {
	return flag{name: "to", arg: "FORMAT", kind: oneWord, values: words(e.writable()...), byOutput: true, set: put(&e.set.to), help: orList(e.writable()) + "; " + note}
}

func (s *settings) forceFlag(help string) flag {
	return flag{name: "force", short: "f", kind: onOff, set: put(&s.job.Write.Overwrite), help: help}
}

// optionFlags returns what can be chosen of an output, as the formats have it.
func (e *env) optionFlags() (list []flag) {
	for _, o := range e.formatOptions() {
		f := flag{name: o.name, arg: optionArgs[o.first().Kind], byOutput: true, help: o.text(), brief: o.first().Help}
		switch o.first().Kind {
		case storage.OptionInteger:
			f.kind = aNumber
		case storage.OptionChoice:
			f.kind, f.values = oneWord, words(o.values()...)
		}
		f = f.in(outputGroup, "", newOutputs...)
		switch o.name {
		case storage.NameCompression, storage.NameLevel, storage.NameChunkSize:
			f.on = asCommands // the others are about the output as a whole
		}
		list = append(list, f)
	}
	return append(list, flag{name: "no-sync", kind: onOff, group: outputGroup, on: writeCommands, set: put(&e.set.job.Write.NoSync),
		help: "do not wait until OUT is on the disk; a power cut soon after may lose it"})
}

// encodings lists what messages can be converted to, in the formats that are written.
func (e *env) encodings() []string {
	list := []string{"native", convert.EncodingKeep}
	for _, f := range e.formats.Formats() {
		if f.Create == nil {
			continue
		}
		for _, name := range convert.Encodings(f) {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// messageFlags are about the conversion of messages.
func (e *env) messageFlags() []flag {
	s := &e.set
	frames := flag{name: "frames", kind: oneWord, values: words("apollo", "rep103"), init: "apollo", set: nth(&s.job.Frames, apollo.FramesApollo, apollo.FramesREP103)}
	order := flag{name: "order", kind: oneWord, values: words("time", "file"), init: "time", set: nth(&s.job.Order, convert.OrderTime, convert.OrderFile)}
	list := allIn(messageGroup, asCommands,
		flag{name: "encoding", kind: oneWord, values: words(e.encodings()...), byOutput: true, init: "native", set: put(&s.job.Encoding),
			help: "message encoding of OUT. native (default): that of its format; messages stay unchanged if IN has the same format; keep: messages stay unchanged if the format allows it; others: that encoding. bagconv formats lists the encodings of each format"},
		flag{name: "proto-types", kind: oneWord, values: words("mapped", "generated", "raw"), init: "mapped", set: nth(&s.job.ProtoTypes, mapping.ProtoMapped, mapping.ProtoGenerated, mapping.ProtoRaw),
			help: "how types are converted between protobuf and ROS. mapped (default): Apollo's types to standard ROS types and back, Foxglove's schemas (protobuf and JSON) to standard ROS types; generated: all types field by field; raw: protobuf bytes stay unchanged if the format of OUT allows it"},
		frames.in(nil, "axes of Apollo's poses and IMUs in ROS types. apollo (default): unchanged, right/forward/up; rep103: turned to forward/left/up, as in ROS"),
		flag{name: "apollo-layout", kind: oneWord, values: words(convert.ApolloLayouts()...), init: convert.ApolloLayouts()[0], set: put(&s.job.ApolloLayout),
			help: "file names in the descriptors of Apollo's types. common_msgs (default): as in Apollo 8 and later; legacy: as before"},
		s.distroFlag().in(nil, "ROS 2 distribution, such as humble: OUT is written as its recorder would write it, but for the file names of Lyrical, and its definitions are used if IN has none"),
		s.defsFlag().in(nil, "where to find definitions that IN lacks: a folder of ROS packages, a .zip or .tar.gz of one, a pack of defs collect, a .msg, .srv, .action or .idl file, a .proto file or .desc file of protobuf, or another recording; repeat the flag for more places, the first that has a type counts. $BAGCONV_DEFS adds a list of places"),
		order.in(nil, "order of messages: by log time (default), or as in IN"),
		flag{name: "header-seq", kind: oneWord, values: words("count", "zero"), init: "count", set: nth(&s.job.HeaderSeq, convert.SeqCount, convert.SeqZero),
			help: "Header.seq of ROS 1 messages: counted per topic (default), or 0"},
		flag{name: "rosout", kind: oneWord, values: words("keep", "ros2"), init: "keep", set: nth(&s.job.Rosout, mapping.RosoutKeep, mapping.RosoutROS2),
			help: "keep (default): rosgraph_msgs/Log keeps all its fields; ros2: it becomes rcl_interfaces/msg/Log, which has fewer"},
	)
	return append(list,
		flag{name: "strict", kind: onOff, group: messageGroup, on: strictCommands, set: put(&s.job.Read.Strict),
			help: "fail at the first damage or loss, instead of going on and reporting it"},
		frames.in(readGroup, "the --frames of a conversion from or to Apollo", "verify"),
		order.in(readGroup, "order of messages: by log time (default), or as in IN. If IN has no index with times, ordering by time reads it twice", "cat"),
	)
}

// extraFlags are about attachments and metadata records.
func (s *settings) extraFlags() []flag {
	attach := flag{name: "attach", arg: "FILE", kind: aFile, several: true, set: put(&s.job.Attach)}
	folder := flag{name: "extras", arg: "DIR", kind: aFile, set: put(&s.job.Extras)}
	return []flag{
		attach.in(extraGroup, "add FILE as an attachment, with its name, its times, and the media type of its ending; split adds it to each part, and batch to each output. Repeat the flag for more files. It is an error if the format of OUT has no attachments", newOutputs...),
		folder.in(extraGroup, "write attachments and metadata records that OUT cannot store into DIR, as bagconv list --extract does, so that they are not lost; batch makes a folder in DIR for each output, with the name of the output", newOutputs...),
	}
}

// runFlags are about the run, and its report.
func (s *settings) runFlags() []flag {
	threads := s.threadsFlag()
	memory := flag{name: "max-memory", arg: "SIZE", init: "256M", set: parsed(&s.job.MaxMemory, parseMemory)}
	report := flag{name: "report", arg: "FILE", kind: aFile, set: put(&s.report)}
	metrics := flag{name: "metrics", arg: "FILE", kind: aFile, set: put(&s.metrics)}
	quiet := flag{name: "quiet", short: "q", kind: onOff, set: put(&s.quiet)}
	verbose := flag{name: "verbose", short: "v", kind: onOff, set: put(&s.verbose)}
	return []flag{
		threads.in(runGroup, "number of workers, 256 at most; 0 (default) is one per core, but at most one per 20M of --max-memory. It does not change the output", oneOutput...),
		threads.in(runGroup, "number of workers per conversion, 256 at most; 0 (default) shares the cores among them", "batch", "work"),
		memory.in(runGroup, "memory for all buffers together, 64M or more (default 256M); larger messages are converted anyway", oneOutput...),
		threads.in(readGroup, "number of workers for each recording, 256 at most; 0 (default) is one per core", "serve"),
		memory.in(readGroup, "memory for the buffers of the one pass over a recording, 64M or more (default 256M)", "serve"),
		memory.in(runGroup, "memory for the buffers of all conversions together, 64M or more for each (default 256M); larger messages are converted anyway", "batch", "work"),
		{name: "verify", arg: "LEVEL", kind: oneWord, values: words(verify.Levels()...), group: runGroup, on: newOutputs, set: put(&s.verified),
			help: "before OUT gets its name, read it back and compare it with IN: " + orList(verify.Levels()) + "; see bagconv help verify. It takes about as long again"},
		metrics.in(runGroup, "write numbers of the run into FILE, in the format of Prometheus: when the run begins, every 5 seconds, and when it ends. node_exporter's textfile collector reads only files that end with .prom", append(slices.Clone(newOutput), "batch", "work")...),
		report.in(runGroup, "write a report as JSON: what became of each topic", oneOutput...),
		report.in(runGroup, "write the summary of the batch as JSON", "batch"),
		s.jsonFlag().in(runGroup, "print the report on standard output", runCommands...),
		s.progressFlag().in(runGroup, "", runCommands...),
		quiet.in(runGroup, "print no progress and no summary, but report losses", oneOutput...),
		quiet.in(runGroup, "print no progress and no summary, but report failures and losses", "batch"),
		verbose.in(runGroup, "also report what the format of OUT cannot store by design", oneOutput...),
		verbose.in(runGroup, "also print a line for each input that succeeded", "batch"),
	}
}

// mergeFlags returns those of merge alone.
func (s *settings) mergeFlags() []flag {
	return []flag{{name: "shift", arg: "IN=D", kind: anInput, suffix: "=", several: true, group: mergeGroup, on: []string{"merge", "append"}, set: put(&s.shift),
		help: "add a duration to all times of one input, such as second{file}=+0.3s; repeat the flag for more inputs"},
		{name: "dedupe", kind: onOff, group: mergeGroup, on: []string{"merge", "append"}, set: put(&s.job.Dedupe),
			help: "write messages that are equal in topic, type, log time and bytes once, and leave out those that TARGET of append has already; the report counts the others"}}
}

// splitFlags choose where split cuts.
func (s *settings) splitFlags() []flag {
	return allIn(splitGroup, []string{"split"},
		flag{name: "max-size", arg: "SIZE", set: put(&s.maxSize),
			help: "begin a new part before one has more message data: 2G, 500MB. A number without a unit is bytes, for up to 1,000 parts"},
		flag{name: "max-duration", arg: "D", set: parsed(&s.maxDuration, parseLength), help: "begin a new part after this time: 60s, 5m"},
		flag{name: "at", arg: "TIME,TIME...", several: true, set: put(&s.at), help: "begin new parts at these times"},
		flag{name: "by", kind: oneWord, values: words("topic"), help: "write one part per topic"},
	)
}

func parseLength(text string) (int64, error) {
	d, err := selection.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usage("", "--max-duration needs a duration such as 60s, not %q", text)
	}
	return d, nil
}

// batchFlags returns those of batch alone.
func (e *env) batchFlags() []flag {
	s := &e.set
	list := allIn(batchGroup, []string{"batch", "plan"},
		flag{name: "output-dir", short: "O", arg: "OUT", kind: aFile, set: put(&s.outputDir), help: "folder for the outputs; created if missing"},
		e.toFlag(e.folderFormat()+" if there is no --to"),
		flag{name: "include-from", arg: "FILE", kind: aFile, several: true, set: put(&s.includeFrom),
			help: "read a list of inputs, one per line, like @FILE; # begins a comment"},
		flag{name: "base", arg: "DIR", kind: aFile, set: put(&s.base),
			help: "outputs mirror the tree below DIR; default: below each folder on the line, and below the common folder of the files on it"},
	)
	return append(list, allIn(batchGroup, []string{"batch"},
		jobsFlag(s),
		flag{name: "manifest", arg: "FILE", kind: aFile, set: put(&s.manifest), help: "manifest file, instead of OUT/manifest.jsonl"},
		flag{name: "resume", kind: onOff, set: put(&s.resume), help: "skip inputs that the manifest lists as done"},
		flag{name: "checksum", kind: onOff, set: put(&s.checksum),
			help: "write the SHA-256 of each input into the manifest; with --resume, compare it instead of the file's time"},
		flag{name: "dry-run", kind: onOff, set: put(&s.dryRun), help: "list what would be done; write nothing"},
		s.forceFlag("replace existing outputs; without --resume, also start a new manifest"),
	)...)
}

func jobsFlag(s *settings) flag {
	return flag{name: "jobs", short: "j", arg: "N", kind: aNumber, set: put(&s.jobs), help: "number of conversions at a time; 0 (default) is one per two cores, or one per core if all recordings of a batch are small"}
}
