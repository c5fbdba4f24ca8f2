package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// numberFlag sets a number of messages, least or more.
func (s *settings) numberFlag(name string, least int64, to *int64) func(*flags.Flag) error {
	return func(f *flags.Flag) error {
		if err := flags.Put(to)(f); err != nil || *to < least {
			return flags.Usage("omit it to print all", "--%s needs a number of messages, %d or more, not %s", name, least, f)
		}
		return nil
	}
}

func (e *env) toFlag(note string) flags.Flag {
	return flags.Flag{Name: "to", Arg: "FORMAT", Kind: flags.OneWord, Values: flags.Words(e.writable()...), ByOutput: true,
		Set: flags.Put(&e.set.to), Brief: "format of the output", Help: phrase.OrList(e.writable()) + "; " + note}
}

func (s *settings) forceFlag(help string) flags.Flag {
	return flags.Flag{Name: "force", Short: "f", Kind: flags.OnOff, Set: flags.Put(&s.job.Write.Overwrite), Help: help}
}

// What many entries name.
const (
	makes  = "convert filter merge split recover" // commands that make a recording of others
	writes = makes + " export batch plan append"  // and others that write what they read
)

// The groups of flags.
var (
	batchGroup  = &flags.Group{Title: "BATCH"}
	importGroup = &flags.Group{Title: "WHAT TO IMPORT"}
	mergeGroup  = &flags.Group{Title: "WHICH RECORDINGS"}
	recordGroup = &flags.Group{Title: "WHAT TO RECORD"}
	playGroup   = &flags.Group{Title: "HOW TO PLAY"}
	splitGroup  = &flags.Group{Title: "HOW TO SPLIT (one of these)"}

	selectGroup = &flags.Group{Topic: "selection", Title: "SELECTION (what you leave out does not count as lost)",
		Note: "TIME is 10, 10.5s, 1m30s or 00:01:30 from the start; 25%, of the length; -30s or end-30s before the end; " +
			"2024-05-01T12:00:00Z; 22:13:20Z, a time of day (Z may be missing if 22 hours from the start are after the end); " +
			"@1676549454.5 (s since 1970); or ns since 1970."}
	editGroup   = &flags.Group{Topic: "changes", Title: "CHANGES (topic names as in the input)"}
	outputGroup = &flags.Group{Topic: "output", Title: "OUTPUT"}
	tableGroup  = &flags.Group{Topic: "export", Title: "OUTPUT"}
	exportGroup = &flags.Group{Topic: "export",
		Title: "TABLES, PICTURES, CLOUDS AND TRACKS (of outputs that are no recordings)"}
	messageGroup = &flags.Group{Topic: "messages", Title: "MESSAGES"}
	apolloGroup  = &flags.Group{Topic: "apollo", Title: "RECORDS OF APOLLO"}
	extraGroup   = &flags.Group{Topic: "output", Title: "EXTRAS"}
	urlGroup     = &flags.Group{Topic: "urls", Title: "FILES ELSEWHERE, KEYS AND DAMAGED BEGINNINGS"}
	runGroup     = &flags.Group{Topic: flags.DefaultCommand, Title: "RUN"}
	readGroup    = &flags.Group{Title: "FLAGS"}
)

func (s *settings) progressFlag() flags.Flag {
	return flags.Flag{Name: "progress", Brief: "how progress is shown", Arg: "MODE", Kind: flags.OneWord,
		Values: flags.Words("auto", "bar", "plain", "json", "none"), Default: "auto", Set: flags.Put(&s.progress),
		Help: "auto (default), bar, plain, json or none"}
}

func (s *settings) jsonFlag() flags.Flag {
	return flags.Flag{Name: "json", Kind: flags.OnOff, Set: flags.Put(&s.json), Help: "print JSON"}
}

func (s *settings) distroFlag() flags.Flag {
	return flags.Flag{Name: "distro", Brief: "distribution whose definitions to use, such as humble", Arg: "NAME",
		Kind: flags.OneWord, Values: flags.Words(distros()...), Set: flags.Put(&s.job.Distro)}
}

func (s *settings) defsFlag() flags.Flag {
	return flags.Flag{Name: "defs", Arg: "PATH", Kind: flags.File, Several: true, Set: flags.Put(&s.defs)}
}

func (s *settings) threadsFlag() flags.Flag {
	return flags.Flag{Name: "threads", Arg: "N", Kind: flags.Number, Set: flags.Parsed(&s.job.Threads, parseThreads)}
}

func parseThreads(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > convert.MaxThreads {
		return 0, flags.Usage(fmt.Sprintf("0 is one per core, %d is the most", convert.MaxThreads),
			"--threads needs a number of workers, not %s", text)
	}
	return n, nil
}

// minMemory is what a conversion cannot well do without, in bytes.
const minMemory = 64 << 20

func parseMemory(text string) (int64, error) {
	n, err := storage.ParseSize(text)
	if err != nil || n < minMemory {
		return 0, flags.Usage("", "--max-memory needs a size of at least 64M, not %q", text)
	}
	return n, nil
}

// The parts of the list of commands.
const (
	convertPart = "CONVERT"
	lookPart    = "LOOK"
	repairPart  = "REPAIR"
	exportPart  = "EXPORT"
	livePart    = "LIVE"
	manyPart    = "MANY RECORDINGS"
	codePart    = "DEFINITIONS AND CODE"
)

// distros lists the ROS 2 distributions whose types are built in.
func distros() (names []string) {
	return slices.DeleteFunc(slices.Clone(builtin.Distros()), func(d string) bool { return !mapping.KnownDistro(d) })
}

func jobsFlag(s *settings) flags.Flag {
	return flags.Flag{Name: "jobs", Short: "j", Arg: "N", Kind: flags.Number, Set: flags.Put(&s.batch.jobs),
		Help: "number of conversions at a time; 0 (default) is one per two cores, or one per core if all recordings of a " +
			"batch are small"}
}
