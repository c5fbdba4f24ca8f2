package cli

import (
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/internal/through"
)

// settings are what the flags of a line set. The flags of one command, or of a family, have a struct of
// their own.
type settings struct {
	job    convert.Job // of all commands that convert; Select, Edit, Distro, Frames, Order and Threads of the others too
	remote remote.Settings

	to, output           string
	verified             string // the level of --verify; "": the output is not verified
	report, progress     string
	json, quiet, verbose bool
	custom               [][2]string // of --custom-data
	defs                 []string
	namespace            string // of generated code
	byTopic              bool   // the same
	typesTo, rules       string
	named                [][]byte          // content of files of --qos, --rules and --map
	texts                map[string]string // of the files that options of formats name, by option

	batch   batchSettings
	cat     catSettings
	check   checkSettings
	export  exportSettings
	imports importSettings
	index   indexSettings
	info    infoSettings
	list    listSettings
	live    liveSettings
	merge   mergeSettings
	see     seeSettings
	serve   serveSettings
	show    showSettings
	split   splitSettings
	through through.Pool // of --through
	verify  verifySettings
	work    workSettings
}

// batchSettings are the flags of batch, plan and export about many recordings.
type batchSettings struct {
	outputDir, base, manifest string
	includeFrom               []string
	jobs                      int
	resume, checksum, dryRun  bool
}

// catSettings are the flags of cat.
type catSettings struct {
	render              render.Options
	raw, framed, define bool
	limit, skip         int64
	nth, tail           int64
	reverse             bool
}

// checkSettings are the flags of check.
type checkSettings struct {
	options            check.Options
	failOn             string
	exitZero, makeSpec bool
}

// exportSettings are the flags of export about data sets.
type exportSettings struct {
	guess, add bool
}

// importSettings are the flags of import.
type importSettings struct {
	like       []string // recordings of --like
	form       string   // of the input
	topic, typ string
}

// indexSettings are the flags of index.
type indexSettings struct{ full, content bool }

// infoSettings are the flags of info.
type infoSettings struct {
	key, scan     string
	noTimeline    bool // of check, too
	topics, sizes bool
}

// listSettings are the flags of list.
type listSettings struct{ extract string }

// liveSettings are what the flags of record and play set.
type liveSettings struct {
	all, snapshot, wallTime  bool
	buffer, message, journal int64 // bytes, bytes, ns

	report func() any // what --json of record has of the system; nil: nothing

	address                        string // of play, as the next ones
	rate, clock                    float64
	delay                          int64 // ns
	loop, paused, wait, publishers bool
	drop                           bool // of serve
	passes                         int  // how often it was played
}

// mergeSettings are the flags of merge.
type mergeSettings struct{ shift []string }

// seeSettings are the flags of report.
type seeSettings struct {
	plots       []report.FieldName
	quick, hash bool
}

// serveSettings are the flags of serve.
type serveSettings struct {
	listen, asOne string
	origins       []string
	noCache       bool
}

// showSettings are the flags of defs show.
type showSettings struct{ tree bool }

// splitSettings are the flags of split.
type splitSettings struct {
	maxSize     string
	maxDuration int64 // ns
	at          []string
	episodes    recording.Episodes
	about       map[string]*partJSON // the parts of episodes, by the paths of their outputs
}

// verifySettings are the flags of verify.
type verifySettings struct {
	job  verify.Job
	both bool
}

// workSettings are the flags of plan, work and collect.
type workSettings struct {
	tasks            []string // files of them
	shard, rangeSize string
	lossesOK         bool
	dataset          string // of collect
}
