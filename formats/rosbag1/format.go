package rosbag1

import (
	"math"
	"strings"

	"github.com/bagconv/bagconv/formats/rosbag1/internal/oldbag"
	"github.com/bagconv/bagconv/storage"
)

const (
	formatName     = "bag"
	encoding       = "ros1"
	schemaEncoding = "ros1msg"
	extension      = ".bag"
)

// maxTime is the last time that two 32-bit words can hold, in February 2106.
const maxTime = math.MaxUint32*1e9 + 999999999

// options are in a variable of their own, as Create asks for them.
var options = storage.Options{
	{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none", "lz4", "bz2"},
		Help: "codec of the chunks; from bag to bag the default is the codec of IN, and chunks are copied unchanged"},
	{Name: storage.NameLevel, Kind: storage.OptionInteger, Help: "compression level; 0 is the default of the codec"},
	{Name: storage.NameChunkSize, Kind: storage.OptionSize,
		Help: "message data per chunk: 768K, 4M (times 1024), or 4MB (times 1000)"},
	{Name: storage.NameEncrypt, Kind: storage.OptionText, Help: "encrypt as rosbag does. gpg:USER: with a new key, " +
		"which OUT has, encrypted for that user of gpg; key:@FILE: with the key in FILE, which OUT does not have"},
}

// Format is the ROS 1 bag.
var Format = &storage.Format{
	Name:       formatName,
	Help:       "ROS 1 bag of any version, written as 2.0",
	Aliases:    []string{"ros1", "rosbag", "rosbag1"},
	Extensions: []string{extension},
	Holds: storage.Capacity{
		Native:        encoding,
		TopicMetadata: headerField,
		MinTime:       0,
		MaxTime:       maxTime,
		MaxMessage:    maxChunk - messageFixed,
	},
	Options:  options,
	Layout:   storage.Layout{Stem: stem},
	Sniff:    sniff,
	Open:     openReader,
	Reindex:  reindex,
	Create:   createWriter,
	AppendTo: appendTo,
}

// headerField reports whether a key of a topic's metadata can be a field of the
// connection header. Some fields have a place of their own in storage.Topic.
func headerField(key string) bool {
	return key != "" && key != "type" && key != "message_definition" && !strings.Contains(key, "=")
}

// stem also knows the name that rosbag gives a bag until it is closed, and the name of a bag that
// is compressed as a whole.
func stem(name string) string {
	for _, p := range packings {
		if s := storage.TrimExtension(name, extension+p.extension); s != name {
			return s
		}
	}
	closed := strings.TrimSuffix(name, ".active")
	if s := storage.TrimExtension(closed, extension); s != closed {
		return s
	}
	return name
}

// sniff knows bags of all versions by their first line, or by what follows if that line is damaged.
// It also knows bags that Open refuses, so that they are refused by name.
func sniff(fsys storage.FS, path string, head []byte) bool {
	if p := packingOf(head); p != nil {
		return sniffPacked(fsys, path, p)
	}
	return sniffHead(head)
}

// sniffHead does the same with the first bytes of what is not compressed as a whole.
func sniffHead(head []byte) bool {
	if strings.HasPrefix(string(head), magicV2) || looksLikeBag(head) {
		return true
	}
	v, err := oldbag.Detect(head)
	return v.Name != "" || err != nil
}
