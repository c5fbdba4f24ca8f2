package storage

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Info describes a recording, as it was found when it was opened.
type Info struct {
	Format  string   // Format.Name
	Version string   // of the file format: "2.0"; rosbag2: metadata version and schema
	Path    string   // as given to Open
	Size    int64    // bytes of all its files
	Files   []string // the files that hold the messages, in order, as paths; one entry for a single file

	Messages   int64 // in all topics
	Start, End int64 // least and greatest LogTime; both 0 when there is no message

	// Estimated is set if not all messages were looked at: Messages and the counts of the topics
	// are about right, and so are Start and End if no index has them. It is never set unless
	// ReadOptions.InfoOnlyAbove allows it.
	Estimated bool

	// Locked is set if the recording is encrypted and there is no key: Info has what is not
	// encrypted, and reading is refused.
	Locked bool

	// Encrypted is set if the recording is encrypted, with a key or without one.
	Encrypted bool

	// Compression counts the blocks (chunks, files or messages, as the format
	// compresses) by codec name, "none" included.
	Compression map[string]int64

	// Facts are further lines of `bagconv info` that only this format has, such as the
	// state of its index, in the order in which they are shown.
	Facts []Fact

	Topics   []TopicInfo       // index = TopicID
	Metadata map[string]string // recording level; see MetaDistro; other keys as the file has them

	// Damage was found when the recording was opened. Reader.Damage also has the damage
	// found since.
	Damage
}

// Clone returns a copy that shares nothing with i but definitions.
func (i *Info) Clone() *Info {
	c := *i
	c.Files, c.Facts, c.Warnings = slices.Clone(i.Files), slices.Clone(i.Facts), slices.Clone(i.Warnings)
	c.Compression, c.Metadata = maps.Clone(i.Compression), maps.Clone(i.Metadata)
	c.Topics = slices.Clone(i.Topics)
	for k := range c.Topics {
		t := &c.Topics[k]
		t.Metadata, t.QoS = maps.Clone(t.Metadata), slices.Clone(t.QoS)
	}
	return &c
}

// A Fact is a line about a recording. Keys are short, in lower
// case and without spaces: "index", "chunks".
type Fact struct{ Key, Value string }

// Facts are, in JSON, an object with its keys in their order. A key that is there again has its number after it.
type Facts []Fact

// MarshalJSON returns the object.
func (f Facts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	seen := map[string]int{}
	b.WriteByte('{')
	for i, x := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if seen[x.Key]++; seen[x.Key] > 1 {
			x.Key += "#" + strconv.Itoa(seen[x.Key])
		}
		for k, text := range []string{x.Key, x.Value} {
			if k > 0 {
				b.WriteByte(':')
			}
			if err := enc.Encode(text); err != nil {
				return nil, err
			}
			b.Truncate(b.Len() - 1) // the end of the line
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Damage is the oddities and damage of a recording, and what is lost by them.
type Damage struct {
	Warnings []Warning // in the order of offset
	Lost     Lost
}

// Lost is what damage has cost, as far as the recording itself shows: by a header,
// an index or the size that a file should have. The zero value is nothing.
type Lost struct {
	Bytes     int64 `json:"bytes"`     // that were skipped, or that a file should have and does not
	Blocks    int64 `json:"blocks"`    // chunks or pages that miss something
	Messages  int64 `json:"messages"`  // that a header or an index counts and that cannot be read
	Uncounted bool  `json:"uncounted"` // more messages than these are or may be missing, and nothing counts them
	// of the recording in which no message is left: at its ends, or between two parts
	Duration int64 `json:"duration_ns,string"`
}

// Add adds what was lost in another place.
func (l *Lost) Add(o Lost) {
	l.Bytes += o.Bytes
	l.Blocks += o.Blocks
	l.Messages += o.Messages
	l.Duration += o.Duration
	l.Uncounted = l.Uncounted || o.Uncounted
}

// TopicInfo is a topic with what the recording's index has about it.
type TopicInfo struct {
	Topic
	ID       TopicID
	Messages int64
}

// CodeOnePart is the code of a warning that the recording is one part of another, which
// Layout.RecordingOf names. It is the only code that has a meaning outside the formats.
const CodeOnePart = "one-part"

// A Warning is about what is odd or damaged in a file. Its Message reads well
// after the path: lower case, with numbers, and the next step if there is one.
type Warning struct {
	Code    string `json:"code"` // stable and short: "truncated", "unindexed"; listed in docs/formats
	Message string `json:"message"`
	Hint    string `json:"-"`      // what to do, as a sentence without a full stop; "" when there is nothing to do
	Offset  Known  `json:"offset"` // byte offset in the file, or -1
	Damage  bool   `json:"damage"` // something is or may be missing: a conversion exits with status 3
}

// A Known is a number, or -1 if the number is not known or does not exist. In JSON -1 is null.
type Known int64

// MarshalJSON returns the number, or null.
func (n Known) MarshalJSON() ([]byte, error) {
	if n < 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}
