package ros2bag

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/yaml"
	"github.com/bagconv/bagconv/storage"
)

// Metadata is the content of metadata.yaml, of any version from 1 to 9. Each
// version added keys, and only version 9 changed one: offered_qos_profiles went
// from a string to a sequence. Sources: ros2/rosbag2
// rosbag2_storage/include/rosbag2_storage/yaml.hpp and, for version 4,
// rosbag2_storage/src/rosbag2_storage/metadata_io.cpp on branch foxy.
//
//	rosbag2_bagfile_information:
//	  version                    since 1, as all without a number
//	  storage_identifier         sqlite3, mcap, ...
//	  duration.nanoseconds       uint64
//	  starting_time.nanoseconds_since_epoch   uint64
//	  message_count              uint64
//	  topics_with_message_count  - {topic_metadata{name, type, serialization_format,
//	                               offered_qos_profiles (4), type_description_hash (7)}, message_count}
//	  compression_format         (3) "", zstd
//	  compression_mode           (3) "", FILE, MESSAGE
//	  relative_file_paths
//	  files                      (5) - {path, starting_time{}, duration{}, message_count}
//	  custom_data                (6) map of strings, or null
//	  ros_distro                 (8)
type Metadata struct {
	Version     int
	StorageID   string
	Duration    int64 // ns
	Start       int64 // ns since 1970
	Messages    int64
	Topics      []Topic
	Compression string // codec, lower case
	Mode        string // FILE, MESSAGE or ""; upper case
	Paths       []string
	Files       []File
	Custom      map[string]string
	Distro      string
}

// Topic is a topic with its number of messages. Format is the encoding of its messages.
type Topic struct {
	Name, Type, Format, Hash string
	QoS                      []storage.QoS
	Messages                 int64
}

// File is a part: its path as it is listed, when it begins and how long it is.
type File struct {
	Path                      string
	Start, Duration, Messages int64
}

// MetadataName is the name of the file in the recording's folder.
const MetadataName = "metadata.yaml"

// metadataKey wraps the content in metadata.yaml, but not in the metadata table.
const metadataKey = "rosbag2_bagfile_information"

// newestMetadata is the newest version that is known here.
const newestMetadata = 9

// topicsKey is the list of topics, most of the text.
const topicsKey = "topics_with_message_count"

// maxMetadata bounds the bytes of a metadata.yaml that is read.
const maxMetadata = 512 << 20

// A QoSCache parses each text once: the topics of a recording share few.
type QoSCache map[string]qosResult

type qosResult struct {
	list []storage.QoS
	err  error
}

// Parse is ParseQoS.
func (c QoSCache) Parse(text string) ([]storage.QoS, error) {
	r, ok := c[text]
	if !ok {
		r.list, r.err = ParseQoS(text)
		c[text] = r
	}
	return r.list, r.err
}

// ParseMetadata reads metadata.yaml, or the text of the metadata table, which has no outer key.
// Numbers that are not numbers are 0: what they count is counted again. Profiles that do not parse
// are left out, and named in odd. The error is the error of ctx, or wraps storage.ErrCorrupt.
func ParseMetadata(ctx context.Context, text []byte, cache QoSCache) (m *Metadata, odd []string, err error) {
	rest, pieces := cutTopics(text)
	m, odd, err = parsePieces(ctx, rest, pieces, cache)
	// it is a whole that the cuts have broken, or broken itself
	if err != nil && ctx.Err() == nil && pieces != nil && simple(text) {
		m, odd, err = parsePieces(ctx, text, nil, cache)
	}
	if err == nil && m.Version <= 0 {
		err = fmt.Errorf("%s has no version: %w", metadataKey, storage.ErrCorrupt)
	}
	if err != nil {
		return nil, nil, err
	}
	return m, odd, nil
}

// parsePieces reads metadata whose topics were cut out.
func parsePieces(ctx context.Context, rest []byte, pieces [][]byte, cache QoSCache) (*Metadata, []string, error) {
	r := &metadataReader{cache: cache}
	root, err := r.parse(ctx, rest)
	if err != nil {
		return nil, nil, err
	}
	r.fields(root, func(key string, v *yaml.Node) {
		if key == metadataKey {
			root = v
		}
	})
	m := r.metadata(root)
	if len(pieces) > 0 && m.Topics != nil {
		r.fail(root, "key %q appears twice", topicsKey)
	}
	for _, piece := range pieces {
		if r.err != nil {
			break
		}
		if root, err = r.parse(ctx, piece); err != nil {
			return nil, nil, err
		}
		r.topics(m, root)
	}
	return m, r.odd, r.err
}

// parse parses a text that is simple, and makes the reader ready for it.
func (r *metadataReader) parse(ctx context.Context, text []byte) (*yaml.Node, error) {
	if !simple(text) {
		return nil, fmt.Errorf("over %d MB of keys and values: %w", maxSimple>>20, storage.ErrUnsupported)
	}
	r.yamlReader = newYAMLReader(len(text))
	return parseYAML(ctx, text)
}

// A metadataReader takes metadata from YAML.
type metadataReader struct {
	yamlReader
	cache QoSCache
	odd   []string
}

func (r *metadataReader) metadata(n *yaml.Node) *Metadata {
	m := &Metadata{}
	r.fields(n, func(key string, v *yaml.Node) {
		switch key {
		case "version":
			m.Version = int(min(integer(v), math.MaxInt32))
		case "storage_identifier":
			m.StorageID = r.text(v)
		case "duration":
			m.Duration = r.number(v, "nanoseconds")
		case "starting_time":
			m.Start = r.number(v, "nanoseconds_since_epoch")
		case "message_count":
			m.Messages = integer(v)
		case topicsKey:
			r.topics(m, v)
		case "compression_format":
			if m.Compression = strings.ToLower(strings.TrimSpace(r.text(v))); m.Compression == "none" {
				m.Compression = ""
			}
		case "compression_mode":
			if m.Mode = strings.ToUpper(strings.TrimSpace(r.text(v))); m.Mode == "NONE" {
				m.Mode = ""
			}
		case "relative_file_paths":
			m.Paths = r.texts(v)
		case "files":
			for _, f := range r.items(v) {
				m.Files = append(m.Files, r.file(f))
			}
		case "custom_data":
			r.fields(v, func(key string, v *yaml.Node) {
				if m.Custom == nil {
					m.Custom = map[string]string{}
				}
				m.Custom[key] = r.anyText(v)
			})
		case "ros_distro":
			m.Distro = r.text(v)
		}
	})
	return m
}

func (r *metadataReader) topics(m *Metadata, n *yaml.Node) {
	for _, t := range r.items(n) {
		m.Topics = append(m.Topics, r.topic(t))
	}
}

func (r *metadataReader) topic(n *yaml.Node) (t Topic) {
	var odd error
	r.fields(n, func(key string, v *yaml.Node) {
		switch key {
		case "topic_metadata":
			r.fields(v, func(key string, v *yaml.Node) {
				switch key {
				case "name":
					t.Name = r.text(v)
				case "type":
					t.Type = r.text(v)
				case "serialization_format":
					t.Format = r.text(v)
				case qosKey:
					t.QoS, odd = r.qos(v)
				case "type_description_hash":
					t.Hash = r.text(v)
				}
			})
		case "message_count":
			t.Messages = integer(v)
		}
	})
	if odd != nil {
		r.odd = append(r.odd, fmt.Sprintf("topic %.200q: %v", t.Name, odd))
	}
	return t
}

// qos returns the profiles of a topic: a list, or up to version 8 the text of a list.
func (r *metadataReader) qos(n *yaml.Node) (list []storage.QoS, err error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return r.cache.Parse(n.Value)
	case yaml.SequenceNode:
		inner := yamlReader{left: r.left}
		list, err = inner.profiles(n)
		r.left = inner.left
	}
	return list, err
}

func (r *metadataReader) file(n *yaml.Node) (f File) {
	r.fields(n, func(key string, v *yaml.Node) {
		switch key {
		case "path":
			f.Path = r.text(v)
		case "starting_time":
			f.Start = r.number(v, "nanoseconds_since_epoch")
		case "duration":
			f.Duration = r.number(v, "nanoseconds")
		case "message_count":
			f.Messages = integer(v)
		}
	})
	return f
}

// integer returns a number of 64 bits; some were written as unsigned, or by builds
// with 32 bits.
func integer(n *yaml.Node) int64 {
	if v, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
		return v
	}
	if v, err := strconv.ParseUint(n.Value, 10, 64); err == nil && v > math.MaxInt64 {
		return math.MaxInt64
	}
	return 0
}
