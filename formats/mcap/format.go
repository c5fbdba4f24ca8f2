package mcap

import (
	"unicode/utf8"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

const (
	formatName  = ros2bag.FormatFile
	profileROS1 = "ros1"
	profileROS2 = "ros2"
)

// metaProfile is the key of the recording's metadata for the profile of a file, if it is not the
// profile that its encodings have.
const metaProfile = "mcap_profile"

// options are in a variable of their own, as Create asks for them.
var options = storage.Options{
	{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"zstd", "lz4", "none"},
		Help: "codec of the chunks"},
	{Name: storage.NameLevel, Kind: storage.OptionInteger, Help: "compression level; 0 is the default of the codec"},
	{Name: storage.NameChunkSize, Kind: storage.OptionSize,
		Help: "message data per chunk: 768K, 4M (times 1024), or 4MB (times 1000)"},
	{Name: storage.NamePreset, Kind: storage.OptionChoice, Values: presetNames(),
		Help: "a preset of rosbag2 for codec, level and chunks"},
	{Name: storage.NameProfile, Kind: storage.OptionChoice, Values: ros2bag.ProfileNames(),
		Help: "the distribution that the output is made for"},
}

// native is the encoding of messages in a file that is written here.
const native = "cdr"

// Format is MCAP.
var Format = &storage.Format{
	Name:       formatName,
	Help:       "MCAP file",
	Extensions: []string{".mcap"},
	Holds: storage.Capacity{
		Native:        native,
		Carries:       func(string, string) bool { return true },
		Metadata:      []string{"*"},
		QoS:           true,
		TopicMetadata: func(string) bool { return true },
		PublishTime:   true,
		Sequence:      true,
		Extras:        true,
		TopicName:     utf8.ValidString,
	},
	Options:  options,
	Layout:   storage.Layout{Streamable: true, RecordingOf: mcapStorage.Whole},
	Sniff:    sniff,
	Open:     openReader,
	Reindex:  reindex,
	Create:   createWriter,
	AppendTo: appendTo,
	Choose:   ros2bag.Choose,
}

// sniff knows MCAP files by their magic, or by the Header if the magic is damaged. It also knows
// files that Open refuses, so that they are refused by name.
func sniff(_ storage.FS, _ string, head []byte) bool { return headKind(head) != headOther }

// profileOf is the profile of a file whose channels have these encodings: "ros1" or "ros2" if it
// has nothing else.
func profileOf(encodings []string) string {
	profile := ""
	for i, e := range encodings {
		p := ""
		switch e {
		case "ros1":
			p = profileROS1
		case "cdr":
			p = profileROS2
		}
		if i > 0 && p != profile {
			return ""
		}
		profile = p
	}
	return profile
}
