package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/render"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// settings are what the flags of a line set.
type settings struct {
	job    convert.Job // of all commands that convert; Select, Edit, Distro, Frames, Order and Threads of the others too
	verify verify.Job
	check  check.Options
	render render.Options

	remote remote.Settings

	to, output                string
	verified                  string // the level of --verify; "": the output is not verified
	report, progress, metrics string
	json, quiet, verbose      bool
	maxSize                   string
	maxDuration               int64 // ns
	at, shift                 []string
	custom                    [][2]string // of --custom-data
	outputDir, base, manifest string
	includeFrom               []string
	defs                      []string
	typesTo, rules            string
	named                     [][]byte // content of files of --qos and --rules
	jobs                      int
	resume, checksum, dryRun  bool
	lossesOK                  bool
	tasks                     []string // files of them
	shard, rangeSize          string
	key, scan, extract        string
	failOn                    string
	exitZero, makeSpec, both  bool
	raw, framed               bool
	tree, noTimeline          bool
	limit                     int64
	listen                    string
	origins                   []string
	noCache                   bool
	merge                     string
	skip, nth, tail           int64
	reverse                   bool
	live                      liveSettings
}

// flagTable returns the table of flags, in the order of the help. A new flag is one entry in one
// of its parts. A flag whose help differs between commands has an entry for each help.
func (e *env) flagTable() (table []*flag) {
	s := &e.set
	for _, part := range [][]flag{
		globalFlags(), e.batchFlags(), s.taskFlags(), s.mergeFlags(), s.splitFlags(), e.recordFlags(), e.playFlags(), e.selectFlags(), s.editFlags(), e.outputFlags(), e.optionFlags(), s.aboutFlags(),
		e.messageFlags(), s.extraFlags(), s.runFlags(), s.remoteFlags(), e.keyFlags(), fileFlags(runGroup, writeCommands...), s.listFlags(), s.defsFlags(), s.infoFlags(), s.checkFlags(), s.verifyFlags(), s.catFlags(), s.readFlags(), s.genFlags(), s.reindexFlags(), s.migrateFlags(), s.serveFlags(), fileFlags(readGroup, "list"), e.moreFlags,
	} {
		for i := range part {
			f := &part[i]
			if slices.Contains(f.on, "convert") {
				f.on = append(slices.Clone(f.on), liveCommands[f.name]...)
			}
			table = append(table, f)
		}
	}
	return table
}

// liveCommands are the commands with running systems that take a flag of convert, too.
var liveCommands = map[string][]string{
	"start": {"play"}, "end": {"play"}, "duration": {"play"}, "topic": {"play"}, "exclude-topic": {"play"}, "type": {"play"}, "exclude-type": {"play"}, "latch": {"play"},
	"to": {"record"}, "force": {"record"}, "no-sync": {"record"}, storage.NameCompression: {"record"}, storage.NameCompressionMode: {"record"}, storage.NameLevel: {"record"},
	storage.NameChunkSize: {"record"}, storage.NameSegmentSize: {"record"}, storage.NameSegmentDuration: {"record"},
	"remap": {"record", "play"}, "prefix": {"record", "play"}, "throttle": {"record", "play"}, "every": {"record", "play"}, "encoding": {"record"}, "distro": {"record"}, "defs": {"record", "play"},
	"report": {"record", "play"}, "json": {"record", "play"}, "quiet": {"record", "play"}, "verbose": {"record", "play"}, "config": {"record", "play"}, "print-config": {"record", "play"},
}

// What commands have in common.
var (
	newOutput      = []string{"convert", "filter", "merge", "split", "recover"} // commands that make an output
	newOutputs     = append(slices.Clone(newOutput), "batch", "plan")
	dryRunCommands = newOutput
	oneOutput      = append(slices.Clone(newOutput), "append")
	writeCommands  = append(slices.Clone(newOutputs), "append")
	runCommands    = append(slices.Clone(newOutput), "batch", "append") // those that do it at once
	strictCommands = []string{"convert", "filter", "merge", "split", "batch", "plan", "append"}
	asCommands     = append(slices.Clone(writeCommands), "serve") // commands that convert messages
	editCommands   = append(slices.Clone(asCommands), "verify")
	selectCommands = append(slices.Clone(editCommands), "cat")
	scanCommands   = []string{"cat", "info", "du", "check", "verify"}
)

// The groups of flags.
var (
	batchGroup  = &group{title: "BATCH"}
	mergeGroup  = &group{title: "WHICH RECORDINGS"}
	recordGroup = &group{title: "WHAT TO RECORD"}
	playGroup   = &group{title: "HOW TO PLAY"}
	splitGroup  = &group{title: "HOW TO SPLIT (one of these)"}

	selectGroup = &group{"SELECTION (what you leave out does not count as lost)",
		"TIME is 10, 10.5s, 1m30s or 00:01:30 from the start; -30s or end-30s before the end; 2024-05-01T12:00:00Z; @1676549454.5 (s since 1970); or ns since 1970."}
	editGroup    = &group{title: "CHANGES (topic names are those of the input)"}
	outputGroup  = &group{title: "OUTPUT"}
	messageGroup = &group{title: "MESSAGES"}
	extraGroup   = &group{title: "EXTRAS"}
	runGroup     = &group{title: "RUN"}
	readGroup    = &group{title: "FLAGS"}
)

// globalFlags are taken by all commands.
func globalFlags() []flag {
	return []flag{
		{name: "color", values: words("auto", "always", "never"), kind: oneWord, init: "auto", lineOnly: true,
			help: "colour errors and damage on standard error; auto (default): on a terminal, unless NO_COLOR is set"},
		{name: "help", short: "h", kind: onOff, lineOnly: true, help: "explain the command"},
		{name: "version", short: "V", kind: onOff, lineOnly: true, help: "print the version of this build"},
	}
}

// fileFlags name a file of flags, and print one.
func fileFlags(g *group, commands ...string) []flag {
	return allIn(g, commands,
		flag{name: "config", arg: "FILE", kind: aFile, lineOnly: true,
			help: "read flags from a YAML file, by their long names; flags on the command line override them"},
		flag{name: "print-config", kind: onOff, lineOnly: true,
			help: "print all flags and their values as such a file; do nothing else"},
	)
}

// readFlags are flags that commands which only read have in common.
func (s *settings) readFlags() []flag {
	quiet := flag{name: "quiet", short: "q", kind: onOff, set: put(&s.quiet)}
	distro := s.distroFlag()
	return []flag{
		s.defsFlag().in(readGroup, "where to find definitions that a recording lacks, as convert --defs", "cat", "check", "verify", "schema", "defs", "migrate"),
		distro.in(readGroup, "ROS 2 distribution, such as humble, whose definitions to use if a recording has none", "cat", "check", "verify"),
		distro.in(messageGroup, "ROS 2 distribution, such as humble, whose definitions to use if a recording has none", "play"),
		distro.in(readGroup, "ROS 2 distribution, such as humble, whose standard definitions to use; ROS 1 types are those of noetic", "schema", "defs", "migrate"),
		s.threadsFlag().in(readGroup, "number of workers, "+strconv.Itoa(convert.MaxThreads)+" at most; 0 (default) is one per core, up to 12", scanCommands...),
		s.progressFlag().in(readGroup, "", "info", "du", "check", "verify"),
		quiet.in(readGroup, "print nothing if they are equal", "verify"),
	}
}

// The flags that several groups have.

func (s *settings) progressFlag() flag {
	return flag{name: "progress", brief: "how progress is shown", arg: "MODE", kind: oneWord, values: words("auto", "bar", "plain", "json", "none"), init: "auto", set: put(&s.progress),
		help: "auto (default), bar, plain, json or none"}
}

func (s *settings) jsonFlag() flag {
	return flag{name: "json", kind: onOff, set: put(&s.json), help: "print JSON"}
}

func (s *settings) distroFlag() flag {
	return flag{name: "distro", arg: "NAME", kind: oneWord, values: words(distros()...), set: put(&s.job.Distro)}
}

func (s *settings) defsFlag() flag {
	return flag{name: "defs", arg: "PATH", kind: aFile, several: true, set: put(&s.defs)}
}

func (s *settings) threadsFlag() flag {
	return flag{name: "threads", arg: "N", kind: aNumber, set: parsed(&s.job.Threads, parseThreads)}
}

func parseThreads(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > convert.MaxThreads {
		return 0, usage(fmt.Sprintf("0 is one per core, %d is the most", convert.MaxThreads), "--threads needs a number of workers, not %s", text)
	}
	return n, nil
}

// minMemory is what a conversion cannot well do without, in bytes.
const minMemory = 64 << 20

func parseMemory(text string) (int64, error) {
	n, err := storage.ParseSize(text)
	if err != nil || n < minMemory {
		return 0, usage("", "--max-memory needs a size of at least 64M, not %q", text)
	}
	return n, nil
}
