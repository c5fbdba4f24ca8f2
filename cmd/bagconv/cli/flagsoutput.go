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

// outputFlags tell what is written and how.
func (e *env) outputFlags() []flag {
	s := &e.set
	return allIn(outputGroup, oneOutput,
		e.toFlag("wins over the ending of OUT"),
		flag{name: "output", short: "o", arg: "OUT", kind: aFile, set: put(&s.output), help: "the output, instead of the last argument"},
		s.forceFlag("replace OUT when it is a recording"),
	)
}

func (e *env) toFlag(note string) flag {
	return flag{name: "to", arg: "FORMAT", kind: oneWord, values: words(e.writable()...), byOutput: true, set: put(&e.set.to), help: orList(e.writable()) + "; " + note}
}

func (s *settings) forceFlag(help string) flag {
	return flag{name: "force", short: "f", kind: onOff, set: put(&s.job.Write.Overwrite), help: help}
}

// optionFlags are what can be chosen of an output, as the formats have it.
func (e *env) optionFlags() (list []flag) {
	for _, o := range e.formatOptions() {
		f := flag{name: o.name, arg: optionArgs[o.first().Kind], byOutput: true, help: o.text(), brief: o.first().Help}
		switch o.first().Kind {
		case storage.OptionInteger:
			f.kind = aNumber
		case storage.OptionChoice:
			f.kind, f.values = oneWord, words(o.values()...)
		}
		list = append(list, f)
	}
	return append(allIn(outputGroup, writeCommands, list...), flag{name: "no-sync", kind: onOff, group: outputGroup, on: writeCommands, set: put(&e.set.job.Write.NoSync),
		help: "do not wait for the disk; a power cut soon after may lose the output"})
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

// messageFlags tell what messages become.
func (e *env) messageFlags() []flag {
	s := &e.set
	frames := flag{name: "frames", kind: oneWord, values: words("apollo", "rep103"), init: "apollo", set: nth(&s.job.Frames, apollo.FramesApollo, apollo.FramesREP103)}
	order := flag{name: "order", kind: oneWord, values: words("time", "file"), init: "time", set: nth(&s.job.Order, convert.OrderTime, convert.OrderFile)}
	list := allIn(messageGroup, writeCommands,
		flag{name: "encoding", kind: oneWord, values: words(e.encodings()...), byOutput: true, init: "native", set: put(&s.job.Encoding),
			help: "of the messages in OUT: that of its format, or as they are between two of one format (default); as they are if the format carries them; or the one named, if it does. bagconv formats lists what each one carries"},
		flag{name: "proto-types", kind: oneWord, values: words("mapped", "generated", "raw"), init: "mapped", set: nth(&s.job.ProtoTypes, mapping.ProtoMapped, mapping.ProtoGenerated, mapping.ProtoRaw),
			help: "what protobuf messages become in ROS, and ROS messages in protobuf: Apollo's types and the standard ROS types become each other, and Foxglove's schemas, also those of JSON, standard ROS types (default); all types are taken over field by field; or protobuf bytes stay as they are where OUT can carry them"},
		frames.in(nil, "axes of Apollo's poses and IMUs as ROS types: as they are, right/forward/up (default), or turned to ROS's forward/left/up"),
		flag{name: "apollo-layout", kind: oneWord, values: words(convert.ApolloLayouts()...), init: convert.ApolloLayouts()[0], set: put(&s.job.ApolloLayout),
			help: "names of the descriptor files of Apollo's types in protobuf: as in Apollo 8 and later (default), or before"},
		s.distroFlag().in(nil, "ROS 2 distribution, such as humble: its definitions if IN has none, and an output made for it"),
		order.in(nil, "by log time (default), or as in IN"),
		flag{name: "header-seq", kind: oneWord, values: words("count", "zero"), init: "count", set: nth(&s.job.HeaderSeq, convert.SeqCount, convert.SeqZero),
			help: "what ROS 1 headers get as seq: counted up per topic (default), or 0"},
		flag{name: "rosout", kind: oneWord, values: words("keep", "ros2"), init: "keep", set: nth(&s.job.Rosout, mapping.RosoutKeep, mapping.RosoutROS2),
			help: "rosgraph_msgs/Log keeps all its fields (default), or becomes rcl_interfaces/msg/Log, which has fewer"},
	)
	return append(list,
		flag{name: "strict", kind: onOff, group: messageGroup, on: strictCommands, set: put(&s.job.Read.Strict),
			help: "fail at the first damage or loss, instead of going on and saying what is missing"},
		frames.in(readGroup, "axes that a conversion from or to Apollo has used", "verify"),
		order.in(readGroup, "by log time (default), or as in IN. Where IN has no index with times, by time reads it twice", "cat"),
	)
}

// extraFlags are about attachments and metadata records.
func (s *settings) extraFlags() []flag {
	attach := flag{name: "attach", arg: "FILE", kind: aFile, several: true, set: put(&s.job.Attach)}
	folder := flag{name: "extras", arg: "DIR", kind: aFile, set: put(&s.job.Extras)}
	return []flag{
		attach.in(extraGroup, "add a file as an attachment, with its name, times and the media type of its ending, to each part of a split; again for others. An error if OUT has no place for attachments", oneOutput...),
		folder.in(extraGroup, "write attachments and metadata records that OUT has no place for into DIR, as bagconv list --extract does, so that they are not lost", extraCommands...),
	}
}

// runFlags tell how to run, and what to report.
func (s *settings) runFlags() []flag {
	threads := s.threadsFlag()
	memory := flag{name: "max-memory", arg: "SIZE", init: "256M", set: parsed(&s.job.MaxMemory, parseMemory)}
	report := flag{name: "report", arg: "FILE", kind: aFile, set: put(&s.report)}
	quiet := flag{name: "quiet", short: "q", kind: onOff, set: put(&s.quiet)}
	verbose := flag{name: "verbose", short: "v", kind: onOff, set: put(&s.verbose)}
	return []flag{
		threads.in(runGroup, "workers, 256 at most; 0 (default) is one per core, up to one for each 20M of --max-memory. The output is the same for any number", oneOutput...),
		threads.in(runGroup, "workers of each, 256 at most; 0 (default) shares the cores out", "batch"),
		memory.in(runGroup, "what buffers may take together, 64M or more (default 256M); a message that is larger is converted anyway", oneOutput...),
		memory.in(runGroup, "what the buffers of all may take together, 64M or more for each (default 256M); a message that is larger is converted anyway", "batch"),
		{name: "verify", arg: "LEVEL", kind: oneWord, values: words(verify.Levels()...), group: runGroup, on: writeCommands, set: put(&s.verified),
			help: "read OUT back before it gets its name, and compare it with what was read of IN: " + orList(verify.Levels()) + "; see bagconv help verify. It takes about as long again"},
		report.in(runGroup, "write what became of each topic as JSON", oneOutput...),
		report.in(runGroup, "write the summary as JSON", "batch"),
		s.jsonFlag().in(runGroup, "the same on standard output", writeCommands...),
		s.progressFlag().in(runGroup, "", writeCommands...),
		quiet.in(runGroup, "no progress and no summary; losses are still reported", oneOutput...),
		quiet.in(runGroup, "no progress and no summary; what failed and what is lossy is still reported", "batch"),
		verbose.in(runGroup, "also report what is not carried by design", oneOutput...),
		verbose.in(runGroup, "also a line for each that went well", "batch"),
	}
}

// mergeFlags are those of merge alone.
func (s *settings) mergeFlags() []flag {
	return []flag{{name: "shift", arg: "IN=D", kind: anInput, suffix: "=", several: true, group: mergeGroup, on: []string{"merge"}, set: put(&s.shift),
		help: "add a duration to all times of one input, such as second{file}=+0.3s; again for others"}}
}

// splitFlags tell where split cuts.
func (s *settings) splitFlags() []flag {
	return allIn(splitGroup, []string{"split"},
		flag{name: "max-size", arg: "SIZE", set: put(&s.maxSize),
			help: "before a part has more message data: 2G, 500MB. A number without a unit is bytes, for up to 1,000 parts"},
		flag{name: "max-duration", arg: "D", set: parsed(&s.maxDuration, parseLength), help: "after so long: 60s, 5m"},
		flag{name: "at", arg: "TIME,TIME...", several: true, set: put(&s.at), help: "at these times"},
		flag{name: "by", kind: oneWord, values: words("topic"), help: "a part for each topic"},
	)
}

func parseLength(text string) (int64, error) {
	d, err := selection.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usage("", "--max-duration is a duration such as 60s, not %q", text)
	}
	return d, nil
}

// batchFlags are those of batch alone.
func (e *env) batchFlags() []flag {
	s := &e.set
	return allIn(batchGroup, []string{"batch"},
		flag{name: "output-dir", short: "O", arg: "OUT", kind: aFile, set: put(&s.outputDir), help: "the folder for the outputs; it is made"},
		e.toFlag(e.folderFormat()+" if there is no --to"),
		flag{name: "jobs", short: "j", arg: "N", kind: aNumber, set: put(&s.jobs), help: "conversions at a time; 0 (default) is one per two cores"},
		flag{name: "include-from", arg: "FILE", kind: aFile, several: true, set: put(&s.includeFrom),
			help: "a list, as @FILE: an input per line; # begins a comment"},
		flag{name: "base", arg: "DIR", kind: aFile, set: put(&s.base),
			help: "outputs mirror what lies below DIR; by default, below each folder that is named, and below the folder that all named files have in common"},
		flag{name: "manifest", arg: "FILE", kind: aFile, set: put(&s.manifest), help: "instead of OUT/manifest.jsonl"},
		flag{name: "resume", kind: onOff, set: put(&s.resume), help: "skip what is done"},
		flag{name: "checksum", kind: onOff, set: put(&s.checksum),
			help: "write the SHA-256 of each input into the manifest, and with --resume compare it, not the time of the file"},
		flag{name: "dry-run", kind: onOff, set: put(&s.dryRun), help: "list what would be done, and write nothing"},
		s.forceFlag("replace outputs that exist; without --resume, also begin the manifest anew"),
	)
}
