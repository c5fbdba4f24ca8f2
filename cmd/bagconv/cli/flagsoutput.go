package cli

import (
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// outputFlags are about the output.
func (e *env) outputFlags() []flags.Flag {
	s := &e.set
	to, force := e.toFlag("overrides the ending of OUT"), s.forceFlag("replace OUT if it is a recording")
	output := flags.Flag{Name: "output", Short: "o", Arg: "OUT", Kind: flags.File, Set: flags.Put(&s.output),
		Help: "the output, if it is not the last argument"}
	list := []flags.Flag{to.In(outputGroup, "", makes+" import record"), output.In(outputGroup, "", makes+" import")}
	exported := output.In(tableGroup, "the output, if it is not the last argument: a folder, or the table of one topic "+
		"as a file with the ending of its format", "export")
	exported.Old = []string{"output-dir", "O"}
	list = append(list, force.In(outputGroup, "", makes+" import record"),
		force.In(tableGroup, "replace OUT if it is an export", "export"), exported,
		flags.Flag{Name: "format", Arg: "FORMAT", Kind: flags.OneWord, Values: flags.Words(e.exported()...),
			Group: tableGroup, On: "export", Set: flags.Put(&s.to),
			Brief: "format of the tables; parquet without an ending of OUT",
			Help:  "format of the tables: " + phrase.OrList(e.exported()) + "; default: by the ending of OUT, or parquet"})
	list = append(list, output.In(recordGroup, "the output", "record"))
	return append(list, flags.Flag{Name: "dry-run", Kind: flags.OnOff, Group: outputGroup, On: makes + " export",
		Set: flags.Put(&s.job.DryRun),
		Help: "convert a part of IN in memory; print what becomes of each topic, the losses to expect, and about how large " +
			"OUT will be; write nothing"})
}

// optionFlags returns what can be chosen of an output, as the formats have it.
func (e *env) optionFlags() (list []flags.Flag) {
	for _, o := range e.formatOptions() {
		f := flags.Flag{Name: o.name, Arg: optionArgs[o.first().Kind], ByOutput: true, Help: o.text(), Brief: o.brief()}
		switch o.first().Kind {
		case storage.OptionInteger:
			f.Kind = flags.Number
		case storage.OptionSwitch:
			f.Kind = flags.OnOff
		case storage.OptionFile:
			f.Kind, f.Set = flags.File, e.readOption
		case storage.OptionChoice:
			f.Kind, f.Values = flags.OneWord, flags.Words(o.values()...)
		}
		f = f.In(outputGroup, "", makes+" batch plan import")
		switch o.name {
		case storage.NameCompression:
			f.On += " append serve record"
			exported := formatOption{name: o.name, formats: slices.DeleteFunc(slices.Clone(o.formats),
				func(f *storage.Format) bool { return f.Open != nil })}
			if len(exported.formats) > 0 {
				f.Values = flags.Words(exported.values()...)
				g := f.In(tableGroup, exported.text(), "export")
				g.Brief = exported.brief()
				list = append(list, g)
				f.Values = flags.Words(o.values()...)
			}
		case storage.NameLevel, storage.NameChunkSize:
			f.On += " append serve record"
		case storage.NameEncrypt:
			f.On = makes + " batch plan" // import does not read its output again
		case storage.NameSegmentNames:
			f.Group = apolloGroup
		case storage.NameCompressionMode, storage.NameSegmentSize, storage.NameSegmentDuration:
			f.On += " record"
		}
		if o.exported() {
			if o.name == export.OptionJoin {
				f.Arg, f.Kind = "TOPIC", flags.Topic
			}
			if f = f.In(exportGroup, "", "export batch plan"); export.OfColumns(o.name) { // cat: with --format arrow
				f.On += " cat"
			}
		}
		list = append(list, f)
	}
	list = append(list, flags.AllIn(exportGroup, "export",
		flags.Flag{Name: "guess", Kind: flags.OnOff, Set: flags.Put(&e.set.export.guess),
			Help: "print a mapping file of --map for IN, and write nothing"},
		flags.Flag{Name: "append", Kind: flags.OnOff, Set: flags.Put(&e.set.export.add),
			Help: "add the episodes of IN to the LeRobot data set OUT"})...)
	return append(list, flags.Flag{Name: "no-sync", Kind: flags.OnOff, Group: outputGroup, On: writes + " import record",
		Set:  flags.Put(&e.set.job.Write.NoSync),
		Help: "do not wait until OUT is on the disk; a power cut soon after may lose it"})
}

// encodings lists what messages can be converted to, in the recordings that are written.
func (e *env) encodings() []string {
	list := []string{"native", convert.EncodingKeep}
	for _, f := range e.formats.Writable() {
		if f.Open == nil {
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
func (e *env) messageFlags() []flags.Flag {
	s := &e.set
	frames := flags.Flag{Name: "frames", Kind: flags.OneWord, Values: flags.Words("apollo", "rep103"), Default: "apollo",
		Set: flags.Nth(&s.job.Frames, apollo.FramesApollo, apollo.FramesREP103)}
	order := flags.Flag{Name: "order", Kind: flags.OneWord, Values: flags.Words("time", "file"), Default: "time",
		Set: flags.Nth(&s.job.Order, convert.OrderTime, convert.OrderFile)}
	list := flags.AllIn(messageGroup, makes+" batch plan append serve import",
		flags.Flag{Name: "encoding", Kind: flags.OneWord, Values: flags.Words(e.encodings()...), ByOutput: true,
			Default: "native", Set: flags.Put(&s.job.Encoding),
			Help: "message encoding of OUT. native (default): the usual one of its format, with messages unchanged if " +
				"IN has the same format; keep: messages unchanged, if the format allows it; others: that encoding, " +
				"see bagconv formats"},
		flags.Flag{Name: "proto-types", Kind: flags.OneWord, Values: flags.Words("mapped", "generated", "raw"),
			Default: "mapped", Set: flags.Nth(&s.job.ProtoTypes, mapping.ProtoMapped, mapping.ProtoGenerated, mapping.ProtoRaw),
			Help: "how types are converted between protobuf and ROS. mapped (default): Apollo's types to standard ROS types " +
				"and back, Foxglove's schemas (protobuf and JSON) to standard ROS types; generated: all types field by field; " +
				"raw: protobuf bytes stay unchanged if the format of OUT allows it"},
		frames.In(nil, "axes of Apollo's poses and IMUs in ROS types. apollo (default): unchanged, right/forward/up; "+
			"rep103: turned to forward/left/up, as in ROS", ""),
		flags.Flag{Name: "apollo-layout", Kind: flags.OneWord, Values: flags.Words(apollo.Layouts()...),
			Default: apollo.Layouts()[0], Set: flags.Put(&s.job.ApolloLayout),
			Help: "file names in the descriptors of Apollo's types. common_msgs (default): as in Apollo 8 and later; legacy: " +
				"as before"},
		s.distroFlag().In(nil, "ROS 2 distribution, such as humble: OUT is written as its recorder would write it, but for "+
			"the file names of Lyrical, and its definitions are used if IN has none", ""),
		s.defsFlag().In(nil, "where to find definitions that IN lacks: a folder of ROS packages, a .zip or .tar.gz of one, "+
			"a pack that defs pack makes, a .msg, .srv, .action, .idl, .proto or .desc file, or another recording; repeat the "+
			"flag for more places, the first that has a type counts. $BAGCONV_DEFS adds a list of places", ""),
		order.In(nil, "order of messages: by log time (default), or as in IN", ""),
		flags.Flag{Name: "header-seq", Kind: flags.OneWord, Values: flags.Words("count", "zero"), Default: "count",
			Set:  flags.Nth(&s.job.HeaderSeq, convert.SeqCount, convert.SeqZero),
			Help: "Header.seq of ROS 1 messages: counted per topic (default), or 0"},
		flags.Flag{Name: "rosout", Kind: flags.OneWord, Values: flags.Words("keep", "ros2"), Default: "keep",
			Set: flags.Nth(&s.job.Rosout, mapping.RosoutKeep, mapping.RosoutROS2),
			Help: "keep (default): rosgraph_msgs/Log keeps all its fields; ros2: it becomes rcl_interfaces/msg/Log, which has " +
				"fewer"},
	)
	for i := range list {
		if name := list[i].Name; name == "frames" || name == "apollo-layout" {
			list[i].Group = apolloGroup
		}
	}
	for i := range list {
		switch list[i].Name {
		case "encoding", "distro":
			list[i].On += " record"
		case "defs":
			list[i].On += " export record play"
		case "order":
			list[i].On += " export"
		}
	}
	return append(list,
		flags.Flag{Name: "strict", Kind: flags.OnOff, Group: messageGroup,
			On: "convert filter merge split export batch plan append import", Set: flags.Put(&s.job.Read.Strict),
			Help: "fail at the first damage or loss, instead of going on and reporting it"},
		frames.In(readGroup, "the --frames of a conversion from or to Apollo", "verify"),
		order.In(readGroup, "order of messages: by log time (default), or as in IN. If IN has no index with times, "+
			"ordering by time reads it twice", "cat"),
	)
}

// extraFlags are about attachments and metadata records.
func (s *settings) extraFlags() []flags.Flag {
	attach := flags.Flag{Name: "attach", Arg: "FILE", Kind: flags.File, Several: true, Set: flags.Put(&s.job.Attach)}
	folder := flags.Flag{Name: "extras", Arg: "DIR", Kind: flags.File, Set: flags.Put(&s.job.Extras)}
	return []flags.Flag{
		attach.In(extraGroup, "add FILE as an attachment, if the format of OUT has them; split adds it to each part, and "+
			"batch to each output. Repeat the flag for more files", makes+" export batch plan import"),
		folder.In(extraGroup, "write attachments and metadata records that OUT cannot store into DIR, as bagconv list "+
			"--extract does; batch makes a folder in DIR for each output", makes+" export batch plan"),
	}
}

// runFlags are about the run, and its report.
func (s *settings) runFlags() []flags.Flag {
	threads := s.threadsFlag()
	memory := flags.Flag{Name: "max-memory", Arg: "SIZE", Default: "256M", Set: flags.Parsed(&s.job.MaxMemory,
		parseMemory)}
	report := flags.Flag{Name: "report", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.report)}
	quiet := flags.Flag{Name: "quiet", Short: "q", Kind: flags.OnOff, Set: flags.Put(&s.quiet)}
	verbose := flags.Flag{Name: "verbose", Brief: "also report what OUT cannot store by design", Short: "v",
		Kind: flags.OnOff, Set: flags.Put(&s.verbose)}
	return []flags.Flag{
		threads.In(runGroup, "number of workers, 256 at most; 0 (default) is one per core, but at most one per 20M of "+
			"--max-memory. It does not change the output", makes+" export append import"),
		threads.In(runGroup, "number of workers per conversion, 256 at most; 0 (default) shares the cores among them",
			"batch work"),
		memory.In(runGroup, "memory for all buffers together, 64M or more (default 256M); larger messages are converted "+
			"anyway", makes+" export append import"),
		threads.In(readGroup, "number of workers for each recording, 256 at most; 0 (default) is one per core", "serve"),
		memory.In(readGroup, "memory for the buffers of the one pass over a recording, 64M or more (default 256M)", "serve"),
		memory.In(runGroup, "memory for the buffers of all conversions together, 64M or more for each (default 256M); "+
			"larger messages are converted anyway", "batch work"),
		{Name: "verify", Arg: "LEVEL", Kind: flags.OneWord, Values: flags.Words(verify.Levels()...), Group: runGroup,
			On: makes + " batch plan", Set: flags.Put(&s.verified),
			Brief: "read OUT back before it is named, and compare it with IN",
			Help: "before OUT gets its name, read it back and compare it with IN: " + phrase.OrList(verify.Levels()) +
				"; see bagconv help verify. It takes about as long again"},
		report.In(runGroup, "write a report as JSON: what became of each topic", makes+" export append import record play"),
		report.In(runGroup, "write the summary of the batch as JSON", "batch"),
		s.jsonFlag().In(runGroup, "print the report on standard output", makes+" export batch append import record play"),
		s.progressFlag().In(runGroup, "", makes+" export batch append import"),
		quiet.In(runGroup, "print no progress and no summary, but report losses", makes+" export append import record play"),
		quiet.In(runGroup, "print no progress and no summary, but report failures and losses", "batch"),
		verbose.In(runGroup, "also report what the format of OUT cannot store by design",
			makes+" export append import record play"),
		verbose.In(runGroup, "also print a line for each input that succeeded", "batch"),
	}
}
