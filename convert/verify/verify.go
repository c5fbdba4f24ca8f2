// Package verify reports whether two recordings hold the same messages, whatever
// their formats: the same topics, and on each the same messages at the same times
// in the same order, and the same attachments and metadata records. ROS 1 serialization, CDR and protobuf of the same values are
// equal; so are types that a conversion maps to each other.
//
//	res, err := verify.Run(ctx, verify.Job{A: verify.Side{Path: "drive", Format: bag}, B: ...})
//	if err == nil && !res.Equal { res.Topics[i].First is the first difference }
//
// Both recordings are read once, at the same time and in order of time. Workers
// read each message into canonical bytes by a program that was compiled for its
// topic (package content, whose programs are not those of a conversion),
// and these into a SHA-256; what is compared are digests, so memory does not depend
// on the recordings. The first difference of a topic is then read again, to find in
// which field it is.
//
// Messages of Apollo's types that are compared with standard ROS types go through
// the program of the conversion first. A fault in it is not found here.
//
//	pairs.go    which topic is compared with which
//	define.go   what the messages of a topic are, and what is wrong with that
//	migrate.go  A as if it had other definitions, by package content
//	link.go     the type that both are brought to, and the programs
//	select.go   which part of a recording is compared
//	digest.go   message to digest, in the workers
//	compare.go  two streams of digests side by side
//	locate.go   the field in which two messages differ
//	extras.go   attachments and metadata records
//
// Nothing is written but, for recordings far out of order, a temporary file. Run
// may be called concurrently.
package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/apollo"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// Level is how much is compared.
type Level uint8

// The levels.
const (
	Content Level = iota // topics, types, all times, and all fields as values
	Counts               // topics, types, number of messages, first and last time
	Bytes                // topics, types, all times, and all messages byte by byte
)

var levelNames = []string{"content", "counts", "bytes"}

// Levels lists the names of the levels, the default first.
func Levels() []string { return slices.Clone(levelNames) }

// ParseLevel returns the level of that name.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index(levelNames, name)
	return Level(max(i, 0)), i >= 0
}

func (l Level) String() string { return levelNames[l] }

// A Code names something in which two recordings may differ by design. As an
// exception it is named in the result and the recordings are equal; what is in
// Job.Exact makes them different.
type Code string

// The codes.
const (
	HeaderSeq     Code = "header-seq"    // Header.seq is compared if both sides have it
	Types         Code = "types"         // a topic has types that a conversion maps to each other
	Fields        Code = "fields"        // fields that the other type has no place for
	Presence      Code = "presence"      // which protobuf fields are set, when they have their default
	PublishTime   Code = "publish-time"  // the time of sending beside the log time
	Encoding      Code = "encoding"      // bytes without content: padding, NaN, order of protobuf fields
	Times         Code = "times"         // the same time in other seconds and nanoseconds
	Renamed       Code = "renamed"       // a second topic of one name has another name
	EmptyTopics   Code = "empty-topics"  // topics without messages that one side does not have
	Definitions   Code = "definitions"   // one side has no definition of the messages
	Flaws         Code = "flaws"         // what is wrong with a topic of A, and not of B: see KindFlaw
	Extras        Code = "extras"        // attachments and metadata records: the other format has no place for any
	Unconvertible Code = "unconvertible" // what a conversion leaves out and reports: a difference, unless ignored
)

// Codes lists all codes.
func Codes() []Code {
	return []Code{HeaderSeq, Types, Fields, Presence, PublishTime, Encoding, Times, Renamed, EmptyTopics, Definitions, Flaws, Extras, Unconvertible}
}

// A Side is a recording.
type Side struct {
	Path   string
	Format *storage.Format

	Select selection.Selection // compare this part of it
	Edit   selection.Edit      // as if this had been done to it; not with selection.RestampLog
	Attach []string            // as if these files were attached to it
}

// A Job describes what to compare and how. The zero value of all but A and B is the
// default.
type Job struct {
	A, B  Side
	Level Level

	// Exact lists codes that make a difference, and Ignore those that make none:
	// that matters for HeaderSeq, which is compared if it can be, and
	// Unconvertible.
	Exact, Ignore []Code

	// Refused are extras of A that B need not have, see convert.Job.Verify.
	Refused []convert.Extra

	Definitions []*defset.Set   // as convert.Job.Definitions
	Target      *mapping.Target // as convert.Job.Target: A is compared as if its messages had these definitions
	Distro      string          // whose definitions to use if a recording has none; "" is its own or the default
	Frames      apollo.Frames   // of Apollo's types as standard ROS types
	Read        storage.ReadOptions
	Threads     int // workers; 0 is one per core
	Progress    func(convert.Progress)

	apart bool // of tests: the messages of both sides are always read each for itself
}

// A Result is what was found.
type Result struct {
	Level      Level
	A, B       End
	Equal      bool
	Topics     []Topic     // by name
	Extras     []Extra     // attachments and metadata records that differ, by name
	Exceptions []Exception // by topic, then code
}

// An End is what is known of a side.
type End struct {
	Path, Format, Version string
	Size, Messages        int64
	Selection             *convert.Selection // what Side.Select has taken; nil: everything
	Warnings              []storage.Warning
	Doubts                []storage.Warning // definitions that may be wrong, of topics with messages
	Attachments           int               // that can be read
	MetadataRecords       int               // the same

	// Damaged is set when not all of it could be read: what is lost there was not
	// compared, and recordings that are equal are so but for that.
	Damaged bool
}

// A Topic is what is compared as one: the topics of a name and type on either side.
type Topic struct {
	Name      string // in A, else in B
	A, B      TopicEnd
	Basis     string // what is compared: "content", "bytes", "counts"; "" when there is nothing to compare with
	Equal     bool
	Different int64 // messages that differ, are missing or too many
	First     *Difference
	Demanded  []Code // exceptions that are differences by Job.Exact, or Unconvertible without Job.Ignore
}

// A TopicEnd is a topic on one side. Type is "" if the side does not have it.
type TopicEnd struct {
	Name, Type, Encoding string
	Messages             int64
	Hash                 string // content hash in hex; "" at level counts
	Sum                  string // content sum in hex, the same; see content.Sum
}

// An Extra is an attachment or a metadata record that differs. Those of one name are
// compared in their order, but for those that are equal.
type Extra struct {
	Record bool // a metadata record
	Name   string
	Kind   Kind   // KindMissing, KindExtra, KindTime or KindContent
	Path   string // what differs: "media type", "log time", "create time", "size" or "content"
	A, B   string // both values
}

// A Difference is the first one of a topic.
type Difference struct {
	Kind Kind

	// Index is the number of the message in the topic, by time, from 0; -1 when it
	// is about the topic as a whole. Time is that of A's message, else of B's.
	Index int64
	Time  int64

	Path string // of the field, as "poses[2].position.x"; "byte 12" at level bytes
	A, B string // both values
}

// A Kind is what is different.
type Kind string

// The kinds.
const (
	KindMissingTopic Kind = "missing-topic" // B does not have it
	KindExtraTopic   Kind = "extra-topic"   // A does not have it
	KindType         Kind = "type"          // types that do not become each other
	KindEncoding     Kind = "encoding"      // level bytes, and the encodings differ
	KindCount        Kind = "count"         // level counts
	KindTime         Kind = "time"          // the same message at another time
	KindMissing      Kind = "missing"       // a message of A that B does not have
	KindExtra        Kind = "extra"         // a message of B that A does not have
	KindContent      Kind = "content"       // a field
	KindException    Kind = "exception"     // see Topic.Demanded

	// KindFlaw is what other readers refuse in B, and not in A: a definition that has a
	// type twice, an md5sum or type hash that is not that of the definition, an index
	// that counts other messages than there are.
	KindFlaw Kind = "flaw"
)

// An Exception is a difference by design, or one that is ignored.
type Exception struct {
	Code    Code
	Topic   string
	Count   int64 // messages, or topics if it is about a whole one
	Message string
	Fields  int // that the other side has no place for; 0: it is about something else
}

// A SelectionError is an error of Side.Select or Side.Edit, with its side.
type SelectionError struct {
	Path string
	Err  error // *selection.UnknownError, *selection.EmptyError, or convert.ErrNothing
}

func (e *SelectionError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *SelectionError) Unwrap() error { return e.Err }

// Run compares. An error means that a side could not be read, or its selection is
// not in it (*SelectionError), or ctx was cancelled; damage that could be passed
// over is in the result.
func Run(ctx context.Context, job Job) (*Result, error) {
	if job.A.Format == nil || job.B.Format == nil {
		panic("internal error: verify: a side without a format")
	}
	var res *Result
	err := recording.Use(ctx, []recording.Ref{job.ref(0), job.ref(1)}, func(sources []*recording.Source) (err error) {
		res, err = run(ctx, &job, sources)
		return err
	})
	if err == nil && res.A.Messages == 0 && res.A.Selection != nil {
		return nil, &SelectionError{job.A.Path, convert.ErrNothing} // nothing would be equal to nothing
	}
	return res, err
}

// ref names a side.
func (job *Job) ref(i int) recording.Ref {
	s := job.side(i)
	return recording.Ref{Path: s.Path, Format: s.Format, Read: job.Read, Definitions: job.Definitions, Distro: job.Distro}
}

func run(ctx context.Context, job *Job, sources []*recording.Source) (*Result, error) {
	c := &comparison{job: job, sources: sources}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	if err := c.compareAgain(ctx, c.undecided(), false, func(*pair) bool { return true }); err != nil {
		return nil, err
	}
	if len(c.undecided()) > 0 {
		return nil, errors.New("internal error: verify: the topics of a recording were not the same when it was read again")
	}
	if err := c.compareAgain(ctx, c.doubtful(), true, func(p *pair) bool { return p.first == nil }); err != nil {
		return nil, err
	}
	return c.result(), nil
}

// ParseCodes reads codes with commas between them; "all" is all of them.
func ParseCodes(text string) ([]Code, error) {
	var out []Code
	for _, name := range strings.Split(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "all":
			out = append(out, Codes()...)
		case slices.Contains(Codes(), Code(name)):
			out = append(out, Code(name))
		default:
			return nil, fmt.Errorf("unknown word %q", name)
		}
	}
	return out, nil
}
