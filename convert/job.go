// Package convert turns one recording into another: it opens a source, works
// out what each topic becomes in the target, streams the messages through
// parallel workers, re-encodes them on the way, keeps their order, and reports at
// the end what was written and what was lost.
//
// File and Run are one conversion: File finds the formats. Run owns all goroutines; formats start
// no goroutines. It may be called concurrently for different outputs.
package convert

import (
	"math"
	"time"

	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// A Job describes what to convert and how. Source, Sink and their formats must be
// set; the zero value of everything else is the default.
type Job struct {
	Source       string
	SourceFormat *storage.Format // from Registry.Detect
	Sink         string
	SinkFormat   *storage.Format

	// Formats are the formats whose recordings Write.Overwrite may replace; nil: the two above.
	// Whatever it is set to, a run replaces and removes nothing that it reads, and nothing but a
	// recording: one file that a format claims, or a folder that holds the files of one recording
	// and nothing else.
	Formats *storage.Registry

	// Stage, when set, keeps the output until its Commit puts it in place. The files in the report
	// are the files that it will have then.
	Stage *Stage

	// DryRun tells what the run would do, and writes nothing: a part of the source is read and
	// converted in memory, and what the report counts is estimated from that. See Report.Share.
	DryRun  bool
	overlay *iox.Overlay // has the output of a dry run

	// Tap, if set, learns where in the source each part of the output begins. See package virtual.
	Tap *Tap

	Read  storage.ReadOptions  // Strict: damage, an unreadable message or any other loss ends the run
	Write storage.WriteOptions // Compression "": what most blocks of a source in the same format have

	// Append adds to the recording Sink, which must exist, and whose format has AppendTo.
	Append bool

	Select selection.Selection // what to take of the source; the rest is not a loss
	Edit   selection.Edit      // what to change of names, times and rates

	// Through has programs change the messages of some topics; nil: no program does. Only of Run, without DryRun.
	Through *Through

	// Empty makes the output also if nothing that is selected has a message; else that is ErrNothing.
	Empty bool

	// Dedupe leaves messages out that are equal to another in the name and type of their topic, in
	// log time and in bytes, as the output has them, but for a counted Header.seq; with
	// Append also messages that the recording has already. It needs OrderTime.
	Dedupe bool

	// Custom is added to what the recording has about itself (Info.Metadata), by key. A key that
	// SinkFormat does not keep is lost.
	Custom map[string]string

	// Encoding of the messages in the output: "" is the native one of SinkFormat, and
	// leaves recordings of that format as they are; else one of Encodings, or EncodingKeep.
	Encoding string

	// Attach are paths of files that become attachments of the output, after the attachments of the
	// source. An output without a place for them is ErrNoPlace.
	Attach []string

	// Extras is a folder for attachments and metadata records of the source that the output has no
	// place for; "" is no folder, and then they are lost. It stands when the output does, with an
	// index (extras.IndexName) beside the files. Jobs that run together must not share it. Files
	// that are there are replaced as the output is.
	Extras   string
	extrasFS storage.FS // of Extras

	// SkipExtras reports whether the caller writes the attachments and metadata records of the source:
	// the run neither copies nor reports them.
	SkipExtras bool

	// definitions that the user has, in order of preference, if the source has no definitions or
	// wrong ones
	Definitions []*defset.Set
	// the definitions that ROS types shall have in the output; nil: the definitions of the source,
	// or see Distro
	Target    *mapping.Target
	Distro    string // its standard definitions are written, and used if the source has none; "" is DefaultDistro
	Order     Order
	HeaderSeq HeaderSeq
	// messages that come before the messages of the run, by TopicID: they count in HeaderSeq. See
	// CountBefore
	Before  []int64
	Rosout  mapping.Rosout // what rosgraph_msgs/Log becomes in ROS 2
	Threads int            // workers, MaxThreads at most; 0 is one per core, one for 20 MB of MaxMemory at most

	// MaxMemory is shared out among blocks on their way, blocks held back for their order, and the
	// writer, in bytes; 0 is DefaultMemory. Single messages and blocks that are larger are
	// converted all the same, one at a time.
	MaxMemory int64

	ProtoTypes   mapping.ProtoTypes // what protobuf messages become in ROS, and ROS messages in protobuf
	Frames       apollo.Frames      // of Apollo's types as standard ROS types
	ApolloLayout string             // of the descriptors of Apollo types: one of proto/apollo.Layouts

	// Verify, when set, is called when the output is whole and all its files are closed. path is
	// the finished output under its temporary name; for segments, their folder. refused are extras
	// of the source that the output did not take, although its format has a place for them:
	// they are a loss of the report, or in Extras. An error fails the run, and nothing is
	// left of the output.
	Verify func(path string, refused []Extra) error

	// Progress, when set, is called now and then from one goroutine, and a last
	// time at the end. It must return quickly.
	Progress func(Progress)
}

// Ref names the source of the job.
func (j *Job) Ref() recording.Ref {
	return recording.Ref{Path: j.Source, Format: j.Edit.Fields.Static.With(j.SourceFormat), Read: j.Read,
		Definitions: j.Definitions, Distro: j.Distro, Memory: j.MaxMemory}
}

// DefaultDistro is whose definitions are used if nothing else is chosen.
const DefaultDistro = mapping.DefaultDistro

func (j *Job) distro() string {
	if j.Distro == "" {
		return DefaultDistro
	}
	return j.Distro
}

// Order is the order of messages in the output.
type Order = recording.Order

const (
	OrderTime = recording.OrderTime // by log time; equal times in the order of the file
	OrderFile = recording.OrderFile // as in the source file
)

// HeaderSeq describes what to write into the ROS 1 field std_msgs/Header.seq, which
// ROS 2 messages do not have.
type HeaderSeq uint8

const (
	SeqCount HeaderSeq = iota // count up per topic, as a ROS 1 publisher does
	SeqZero
)

// Progress is how far a run is.
type Progress = recording.Progress

// What a Job may ask for at most, and what it gets if it does not ask.
const (
	MaxThreads    = recording.MaxThreads
	DefaultMemory = recording.DefaultMemory // bytes
)

// A Report describes what a run did. Its JSON is the JSON of --json and --report, without how the
// run ended: docs/json.md describes it. It is complete also when Run fails, as far as the run came.
type Report struct {
	DryRun bool `json:"dry_run"` // nothing was written

	// Share is how much of the source a dry run has read, from 0 to 1, and 0 of any other run.
	// If it is less than 1, counts of messages and bytes are estimated, damage of the rest is not
	// known. With a selection by time, a topic without a message in that part counts as one message.
	Share float64 `json:"share"`

	Source  End           `json:"source"`
	Sink    End           `json:"sink"`
	Elapsed time.Duration `json:"elapsed_ns,string"` // from the start of RunAll to the end of this output
	MBPerS  float64       `json:"mb_per_s"`          // of the source, to 0.1
	// of the file systems; the caller of Run, who counts there, sets it
	IO iox.Counts `json:"io"`
	// level at which the output was found equal; who sets Job.Verify sets it
	Verified  string            `json:"verified"`
	Selection *Selection        `json:"selection"` // nil when everything was asked for
	Topics    []TopicReport     `json:"topics"`
	Losses    []Loss            `json:"losses"`   // what the output does not carry
	Notes     []Note            `json:"notes"`    // what was decided on the way and may surprise
	Warnings  []storage.Warning `json:"warnings"` // what is odd or damaged in the source
	Lost      storage.Lost      `json:"lost"`     // what damage has cost, as far as the source tells
}

// NewReport returns the report of a run that has done nothing yet.
func NewReport(source, sink End) *Report {
	return &Report{Source: source, Sink: sink, Topics: []TopicReport{}, Losses: []Loss{}, Notes: []Note{},
		Warnings: []storage.Warning{}}
}

// end sets how long the run took.
func (r *Report) end(elapsed time.Duration) {
	if r.Elapsed = elapsed; elapsed > 0 {
		r.MBPerS = math.Round(float64(r.Source.Size)/1e6/elapsed.Seconds()*10) / 10
	}
}

// An End is one side of a conversion.
type End struct {
	Path     string   `json:"path"`
	Format   string   `json:"format"`
	Version  string   `json:"version"`
	Size     int64    `json:"size"`
	Messages int64    `json:"messages"`
	Files    []string `json:"files,omitempty"` // that hold the messages: the path itself, or several
}

// A Selection is what was taken of the source.
type Selection struct {
	Start   *int64   `json:"start_ns,string"` // log time, ns since 1970; nil: from the beginning
	End     *int64   `json:"end_ns,string"`   // the first that does not belong to it; nil: to the end
	LeftOut []string `json:"left_out_topics"` // names of topics that were not asked for, sorted
}

// A TopicReport is what became of one topic of the source that was asked for.
type TopicReport struct {
	Name         string `json:"name"`
	Type         string `json:"type"`      // in the source
	Encoding     string `json:"encoding"`  // the same
	SinkType     string `json:"sink_type"` // "" when the topic was not written
	SinkEncoding string `json:"sink_encoding"`
	Read         int64  `json:"read"` // messages of the selection
	Written      int64  `json:"written"`
	Filtered     int64  `json:"filtered"`   // left out by Select.Where
	Thinned      int64  `json:"thinned"`    // left out to lower the rate, as was asked
	Duplicates   int64  `json:"duplicates"` // left out by Job.Dedupe
	Present      int64  `json:"present"`    // written, although the recording that was added to has an equal message
	Repeated     int64  `json:"repeated"`   // from before a cut, written again at its start
	Edited       int64  `json:"edited"`     // messages with values that Edit.Fields has changed
	Emptied      int64  `json:"emptied"`    // left out: Edit.Fields has left no transform of them
	Definition   string `json:"definition"` // where the definition came from: "file", or "builtin humble"
}

// A Loss is something that the target does not carry.
type Loss struct {
	Code    string `json:"code"`            // stable and short: "topic-dropped", "header-seq"
	Topic   string `json:"topic"`           // "" when it is not about one topic
	Count   int64  `json:"count"`           // messages (or topics) concerned
	Bytes   int64  `json:"bytes,omitempty"` // of the source that are left out of these messages, 0 if they are not counted
	Message string `json:"message"`
	// ByDesign marks what the target format has no place for by its nature, such
	// as Header.seq in ROS 2: it is listed, but does not change the exit status.
	ByDesign bool `json:"by_design"`
	Fields   int  `json:"fields,omitempty"` // that the target has no place for; 0: it is about something else
}

// An Extra names an attachment or a metadata record. Names may be repeated.
type Extra struct {
	Record bool // it is a metadata record
	Name   string
}

// A Note is a decision worth knowing that loses nothing.
type Note struct {
	Code    string `json:"code"`
	Topic   string `json:"topic"`
	Message string `json:"message"`
	// values may be wrong, or definitions of the user did not help: it must be seen
	Warning bool  `json:"warning"`
	Count   int64 `json:"count,omitempty"` // messages concerned; 0: they are not counted
}

// Lossy reports whether anything is missing that the target could have carried:
// a loss not by design, or damage in the source.
func (r *Report) Lossy() bool {
	for _, l := range r.Losses {
		if !l.ByDesign {
			return true
		}
	}
	for _, w := range r.Warnings {
		if w.Damage {
			return true
		}
	}
	return false
}
