package convert

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// Types of fields of a Job, and of what goes into them, by names that other modules can use.
type (
	// Select is what to take of a recording: patterns of topics and types, and times. See Patterns and At.
	Select = selection.Selection

	// Edit is what to change of names, rates and times. See ParseRename.
	Edit = selection.Edit

	// A Pattern names topics or types. See Patterns.
	Pattern = selection.Pattern

	// A Time is a point in a recording. See At and ParseTime.
	Time = selection.Time

	// A Rename is another name for topics. See ParseRename.
	Rename = selection.Rename

	// A Rate is what lowers the rate of topics. See ParseThrottle and ParseEvery.
	Rate = selection.Rate

	// A Window is a range of times. See Windows.
	Window = selection.Window

	// A Ref is a recording and how it is read. See verify.Side.
	Ref = recording.Ref

	// Definitions are message definitions of one place. See ReadDefinitions.
	Definitions = defset.Set

	// A Target is the definitions that types shall have in the output.
	Target = mapping.Target

	// ProtoTypes is what protobuf messages become in ROS, and ROS messages in protobuf.
	ProtoTypes = mapping.ProtoTypes

	// Rosout is what rosgraph_msgs/Log becomes in ROS 2.
	Rosout = mapping.Rosout

	// Frames are the axes of Apollo's types in ROS.
	Frames = apollo.Frames

	// A Through has programs change messages. See Job.Through.
	Through = recording.Through

	// Counts are what a run reads and writes. See Report.IO.
	Counts = iox.Counts
)

// Values of ProtoTypes, Rosout and Frames; the first of each is the default.
const (
	ProtoMapped    = mapping.ProtoMapped    // types that correspond to a ROS type become that
	ProtoGenerated = mapping.ProtoGenerated // all become a ROS type that is made of their descriptor
	ProtoRaw       = mapping.ProtoRaw       // they stay protobuf
	RosoutKeep     = mapping.RosoutKeep     // rosgraph_msgs/Log stays as it is
	RosoutROS2     = mapping.RosoutROS2     // it becomes rcl_interfaces/msg/Log
	FramesApollo   = apollo.FramesApollo    // values are as Apollo has them
	FramesREP103   = apollo.FramesREP103    // turned to forward, left, up, and back
)

// Patterns reads patterns of topics or types: a name, a glob such as /camera/*, or re: and a regular expression that
// matches the whole name.
func Patterns(words ...string) (patterns []Pattern, err error) {
	for _, word := range words {
		p, err := selection.ParsePattern(word)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", word, err)
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// At returns a time of a recording, ns since 1970.
func At(ns int64) Time { return selection.At(ns) }

// ParseTime reads a time as people write it: seconds after the start such as 10 or 1m30s, before the end such as -30s,
// or as in RFC 3339.
func ParseTime(word string) (Time, error) { return selection.ParseTime(word) }

// ParseRename reads OLD:=NEW, where OLD may be a glob whose parts NEW has, too: /camera/*:=/cam/*.
func ParseRename(word string) (Rename, error) { return selection.ParseRename(word) }

// ParseThrottle reads TOPIC=HZ: so many messages per second at most, such as /imu=10. The topic is a pattern.
func ParseThrottle(word string) (Rate, error) { return selection.ParseThrottle(word) }

// ParseEvery reads TOPIC=N: one message of N, such as /camera/*=3.
func ParseEvery(word string) (Rate, error) { return selection.ParseEvery(word) }

// ReadDefinitions reads the message definitions of a folder, an archive or a file of definitions in
// fsys; nil: the operating system's. What cannot be read there is in Problems. .proto files may
// import the .proto files of the places before.
func ReadDefinitions(fsys storage.FS, place string, before ...*Definitions) (*Definitions, error) {
	return defset.Read(fsys, place, before...)
}
