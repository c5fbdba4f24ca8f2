// Package convert turns one recording into another: it opens a source, works
// out what each topic becomes in the target, streams the messages through
// parallel workers, re-encodes them on the way, keeps their order, and reports at
// the end what was written and what was lost.
//
// Run is one conversion. It owns all goroutines; formats start none. It may be
// called concurrently for different outputs.
package convert

import (
	"time"

	"github.com/bagconv/bagconv/convert/apollo"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// A Job describes what to convert and how. Source, Sink and their formats must be
// set; the zero value of everything else is the default.
type Job struct {
	Source       string
	SourceFormat *storage.Format // from Registry.Detect
	Sink         string
	SinkFormat   *storage.Format

	// Formats are those whose recordings Write.Overwrite may replace; nil: the two above.
	// Whatever it is set to, a run replaces and removes nothing that it reads, and
	// nothing but a recording: one file that a format claims, or a folder that holds the
	// files of one recording and nothing else.
	Formats *storage.Registry

	// Stage, when set, keeps the output until its Commit puts it in place. The files in
	// the report are those that it will have then.
	Stage *Stage

	// DryRun tells what the run would do, and writes nothing: a part of the source is read and
	// converted in memory, and what the report counts is estimated from that. See Report.Share.
	DryRun  bool
	overlay *iox.Overlay // has the output of a dry run

	parts *partsFS // takes the output in place of the disk, see Layout

	Read  storage.ReadOptions  // Strict: damage, an unreadable message or any other loss ends the run
	Write storage.WriteOptions // Compression "": what most blocks of a source in the same format have

	Select selection.Selection // what to take of the source; the rest is not a loss
	Edit   selection.Edit      // what to change of names, times and rates

	// Dedupe leaves messages out that are equal to another in the name and type of their
	// topic, in log time and in bytes, as the output has them, but for a counted Header.seq; with
	// Write.Append also those that the recording has already. It needs OrderTime.
	Dedupe bool

	// Custom is added to what the recording has about itself (Info.Metadata), by key. A key that
	// SinkFormat does not keep is lost.
	Custom map[string]string

	// Encoding of the messages in the output: "" is the native one of SinkFormat, and
	// leaves recordings of that format as they are; else one of Encodings, or EncodingKeep.
	Encoding string

	// Attach are paths of files that become attachments of the output, after those of the
	// source. An output without a place for them is ErrNoPlace.
	Attach []string

	// Extras is a folder for attachments and metadata records of the source that the output
	// has no place for; "" is none, and then they are lost. It stands when the output does,
	// with an index (extras.IndexName) beside the files. Jobs that run together must not
	// share it. Files that are there are replaced as the output is.
	Extras   string
	extrasFS storage.FS // of that folder

	// SkipExtras reports whether the caller writes the attachments and metadata records of the source:
	// the run neither copies nor reports them.
	SkipExtras bool

	Definitions []*defset.Set   // definitions that the user has, in order of preference, if the source has none or wrong ones
	Target      *mapping.Target // the definitions that ROS types shall have in the output; nil: those of the source, or see Distro
	Distro      string          // whose standard definitions to use if the source has none, and to write; "" is DefaultDistro
	Order       Order
	HeaderSeq   HeaderSeq
	Before      []int64        // messages that come before those of the run, by TopicID: they count in HeaderSeq. See CountBefore
	Rosout      mapping.Rosout // what rosgraph_msgs/Log becomes in ROS 2
	Threads     int            // workers, MaxThreads at most; 0 is one per core, one for 20 MB of MaxMemory at most

	// MaxMemory is shared out among blocks on their way, those held back for their
	// order, and the writer, in bytes; 0 is DefaultMemory. Single messages and
	// blocks that are larger are converted all the same, one at a time.
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

// ref names the source of the job.
func (j *Job) ref() recording.Ref {
	return recording.Ref{Path: j.Source, Format: j.SourceFormat, Read: j.Read, Definitions: j.Definitions, Distro: j.Distro, Memory: j.MaxMemory}
}

// DefaultDistro is whose definitions are used if nothing else is chosen.
const DefaultDistro = mapping.DefaultDistro

func (j *Job) distro() string {
	if j.Distro == "" {
		return DefaultDistro
	}
	return j.Distro
}

// ApolloLayouts lists the values of Job.ApolloLayout, the default first.
func ApolloLayouts() []string { return protoapollo.Layouts() }

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

// A Report describes what a run did. It is complete also when Run fails, as far as
// the run came.
type Report struct {
	Source, Sink End
	Elapsed      time.Duration // from the start of RunAll to the end of this output
	Selection    *Selection    // nil when everything was asked for
	Topics       []TopicReport
	Losses       []Loss            // what the output does not carry
	Notes        []Note            // what was decided on the way and may surprise
	Warnings     []storage.Warning // what is odd or damaged in the source
	Lost         storage.Lost      // what damage has cost, as far as the source tells

	// Share is how much of the source a dry run has read, from 0 to 1, and 0 of any other run.
	// If it is less than 1, counts of messages and bytes are estimated, damage of the rest is not
	// known. With a selection by time, a topic without a message in that part counts as one message.
	Share float64
}

// An End is one side of a conversion.
type End struct {
	Path, Format, Version string
	Size, Messages        int64
	Files                 []string // that hold the messages: the path itself, or several
}

// A Selection is what was taken of the source.
type Selection struct {
	First, Last int64    // log times, ns since 1970; all of int64 if it is open
	LeftOut     []string // names of topics that were not asked for, sorted
}

// A TopicReport is what became of one topic of the source that was asked for.
type TopicReport struct {
	Name           string
	Type, Encoding string // in the source
	SinkType       string // "" when the topic was not written
	SinkEncoding   string
	Read, Written  int64  // messages; read are those of the selection
	Thinned        int64  // left out to lower the rate, as was asked
	Duplicates     int64  // left out by Job.Dedupe
	Present        int64  // written, although the recording that was added to has an equal message
	Repeated       int64  // from before a cut, written again at its start
	Definition     string // where the definition came from: "file", or "builtin humble"
}

// A Loss is something that the target does not carry.
type Loss struct {
	Code    string // stable and short: "topic-dropped", "header-seq"
	Topic   string // "" when it is not about one topic
	Count   int64  // messages (or topics) concerned
	Bytes   int64  // of the source that are left out of these messages, 0 if they are not counted
	Message string
	// ByDesign marks what the target format has no place for by its nature, such
	// as Header.seq in ROS 2: it is listed, but does not change the exit status.
	ByDesign bool
	Fields   int // that the target has no place for; 0: it is about something else
}

// An Extra names an attachment or a metadata record. Names may be repeated.
type Extra struct {
	Record bool // it is a metadata record
	Name   string
}

// A Note is a decision worth knowing that loses nothing.
type Note struct {
	Code, Topic, Message string
	Warning              bool  // values may be wrong, or definitions of the user did not help: it must be seen
	Count                int64 // messages concerned; 0: they are not counted
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
