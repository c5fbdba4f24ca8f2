// Package verify reports whether two recordings hold the same messages, whatever
// their formats: the same topics, and on each the same messages at the same times
// in the same order, and the same attachments and metadata records. ROS 1 serialization, CDR and
// protobuf of the same values are equal; so are types that a conversion maps to each other.
//
//	res, err := verify.Files(ctx, all.Registry(), a, b, verify.Job{})
//	if err == nil && !res.Equal { res.Topics[i].First is the first difference }
//
// Both recordings are read once, at the same time and in order of time. Workers read each message
// into canonical bytes by a program that was compiled for its topic (package content, whose
// programs are not the programs of a conversion), and these into a SHA-256; what is compared are
// digests, so memory does not depend on the recordings. The first difference of a topic is then
// read again, to find in which field it is.
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
	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
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

// MarshalText returns the name of the level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

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
	return []Code{HeaderSeq, Types, Fields, Presence, PublishTime, Encoding, Times, Renamed, EmptyTopics, Definitions,
		Flaws, Extras, Unconvertible}
}

// A Side is a recording.
type Side struct {
	recording.Ref

	Select selection.Selection // compare this part of it
	Edit   selection.Edit      // as if this had been done to it; not with selection.RestampLog
	Attach []string            // as if these files were attached to it
}

// A Job describes what to compare and how. The zero value of all but A and B is the
// default.
type Job struct {
	A, B  Side
	Level Level

	// Exact lists codes that make a difference, and Ignore codes that make no difference: that
	// matters for HeaderSeq, which is compared if it can be, and Unconvertible.
	Exact, Ignore []Code

	// Refused are extras of A that B need not have, see convert.Job.Verify.
	Refused []convert.Extra

	Target   *mapping.Target // as convert.Job.Target: A is compared as if its messages had these definitions
	Frames   apollo.Frames   // of Apollo's types as standard ROS types
	Threads  int             // workers; 0 is one per core
	Progress func(convert.Progress)

	apart bool // of tests: the messages of both sides are always read each for itself
}

// A Result is what was found. docs/json.md describes its JSON.
type Result struct {
	Level      Level       `json:"level"`
	Equal      bool        `json:"equal"`
	A          End         `json:"a"`
	B          End         `json:"b"`
	Topics     []Topic     `json:"topics"`     // by name
	Extras     []Extra     `json:"extras"`     // attachments and metadata records that differ, by name
	Exceptions []Exception `json:"exceptions"` // by topic, then code
}

// NewResult returns the result of a comparison of which nothing is known yet but the job.
func NewResult(job *Job) *Result {
	end := func(s *Side) End { return End{Path: s.Path, Format: s.Format.Name, Warnings: []storage.Warning{}} }
	return &Result{Level: job.Level, A: end(&job.A), B: end(&job.B), Topics: []Topic{}, Extras: []Extra{},
		Exceptions: []Exception{}}
}

// An End is what is known of a side.
type End struct {
	Path      string             `json:"path"`
	Format    string             `json:"format"`
	Version   string             `json:"version"`
	Size      int64              `json:"size"`
	Messages  int64              `json:"messages"`
	Selection *convert.Selection `json:"selection"` // what Side.Select has taken; nil: everything
	// the last are about definitions that may be wrong, of topics with messages
	Warnings []storage.Warning `json:"warnings"`

	// Damaged is set when not all of it could be read: equal recordings are equal except for what could not be read.
	Damaged         bool `json:"damaged"`
	Attachments     int  `json:"attachments"`      // that can be read
	MetadataRecords int  `json:"metadata_records"` // the same
}

// A Topic is what is compared as one: the topics of a name and type on either side.
type Topic struct {
	Name  string `json:"name"` // in A, else in B
	Equal bool   `json:"equal"`
	// what is compared: "content", "bytes", "counts"; "" when there is nothing to compare with
	Basis     string      `json:"basis"`
	A         *TopicEnd   `json:"a"` // nil if it does not have the topic
	B         *TopicEnd   `json:"b"`
	Different int64       `json:"different"` // messages that differ, are missing or too many
	First     *Difference `json:"first"`     // nil if they are equal
	// exceptions that are differences by Job.Exact, or Unconvertible without Job.Ignore
	Demanded []Code `json:"demanded"`
}

// A TopicEnd is a topic on one side.
type TopicEnd struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Messages int64  `json:"messages"`
	Hash     string `json:"hash"` // content hash in hex; "" at level counts
	Sum      string `json:"sum"`  // content sum in hex, the same; see content.Sum
}

// An Extra is an attachment or a metadata record that differs. Extras of one name are compared in
// their order, except equal ones.
type Extra struct {
	Record bool   `json:"metadata_record"` // else it is an attachment
	Name   string `json:"name"`
	Kind   Kind   `json:"kind"` // KindMissing, KindExtra, KindTime or KindContent
	Path   string `json:"path"` // what differs: "media type", "log time", "create time", "size" or "content"
	A      string `json:"a"`    // both values
	B      string `json:"b"`
}

// A Difference is the first one of a topic.
type Difference struct {
	Kind Kind `json:"kind"`

	// Index is the number of the message in the topic, by time, from 0; -1 when it is about the
	// topic as a whole. Time is the time of A's message, else of B's; nil then, too.
	Index storage.Known `json:"index"`
	Time  *int64        `json:"time_ns,string"`

	Path string `json:"path"` // of the field, as "poses[2].position.x"; "byte 12" at level bytes
	A    string `json:"a"`    // both values
	B    string `json:"b"`
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

	// KindFlaw is what other readers refuse in B, and not in A: a definition that has a type twice,
	// an md5sum or type hash that is not of the definition, an index that counts other messages
	// than there are.
	KindFlaw Kind = "flaw"
)

// An Exception is a difference by design, or one that is ignored.
type Exception struct {
	Code    Code   `json:"code"`
	Topic   string `json:"topic"`
	Count   int64  `json:"count"` // messages, or topics if it is about a whole one
	Message string `json:"message"`
	Fields  int    `json:"fields,omitempty"` // that the other side has no place for; 0: it is about something else
}

// Run compares. An error means that a side could not be read, or its selection is
// not in it (a *storage.Error with its path), or ctx was cancelled; damage that could be passed
// over is in the result.
func Run(ctx context.Context, job Job) (*Result, error) {
	if job.A.Format == nil || job.B.Format == nil {
		panic("internal error: verify: a side without a format")
	}
	var res *Result
	err := recording.Use(ctx, []recording.Ref{job.A.Ref, job.B.Ref}, func(sources []*recording.Source) (err error) {
		res, err = run(ctx, &job, sources)
		return err
	})
	if err == nil && res.A.Messages == 0 && res.A.Selection != nil {
		return nil, &storage.Error{Path: job.A.Path, Offset: -1, Err: convert.ErrNothing} // nothing would be equal to nothing
	}
	return res, err
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
