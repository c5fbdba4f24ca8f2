package rosbag2

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// metadata is the content of metadata.yaml, of any version from 1 to 9. Each
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
type metadata struct {
	Version     int
	StorageID   string
	Duration    int64 // ns
	Start       int64 // ns since 1970
	Messages    int64
	Topics      []metadataTopic
	Compression string // codec, lower case
	Mode        string // FILE, MESSAGE or ""; upper case
	Paths       []string
	Files       []metadataFile
	Custom      map[string]string
	Distro      string
}

type metadataTopic struct {
	Name, Type, Format, Hash string
	QoS                      []storage.QoS
	Messages                 int64
}

type metadataFile struct {
	Path                      string
	Start, Duration, Messages int64
}

// metadataName is the name of the file in the recording's folder.
const metadataName = "metadata.yaml"

// metadataKey wraps the content in metadata.yaml, but not in the metadata table.
const metadataKey = "rosbag2_bagfile_information"

// newestMetadata is the newest version that is known here.
const newestMetadata = 9

// maxMetadata bounds the bytes of a metadata.yaml that is read.
const maxMetadata = 64 << 20

type metadataYAML struct {
	Version   yaml.Node `yaml:"version"`
	StorageID string    `yaml:"storage_identifier"`
	Duration  struct {
		NS yaml.Node `yaml:"nanoseconds"`
	} `yaml:"duration"`
	Start struct {
		NS yaml.Node `yaml:"nanoseconds_since_epoch"`
	} `yaml:"starting_time"`
	Messages    yaml.Node      `yaml:"message_count"`
	Topics      []topicYAML    `yaml:"topics_with_message_count"`
	Compression string         `yaml:"compression_format"`
	Mode        string         `yaml:"compression_mode"`
	Paths       []string       `yaml:"relative_file_paths"`
	Files       []fileYAML     `yaml:"files"`
	Custom      map[string]any `yaml:"custom_data"`
	Distro      string         `yaml:"ros_distro"`
}

type topicYAML struct {
	Topic struct {
		Name   string    `yaml:"name"`
		Type   string    `yaml:"type"`
		Format string    `yaml:"serialization_format"`
		QoS    yaml.Node `yaml:"offered_qos_profiles"`
		Hash   string    `yaml:"type_description_hash"`
	} `yaml:"topic_metadata"`
	Messages yaml.Node `yaml:"message_count"`
}

type fileYAML struct {
	Path  string `yaml:"path"`
	Start struct {
		NS yaml.Node `yaml:"nanoseconds_since_epoch"`
	} `yaml:"starting_time"`
	Duration struct {
		NS yaml.Node `yaml:"nanoseconds"`
	} `yaml:"duration"`
	Messages yaml.Node `yaml:"message_count"`
}

// A qosCache parses each text once: the topics of a recording share few.
type qosCache map[string]qosResult

type qosResult struct {
	list []storage.QoS
	err  error
}

func (c qosCache) parse(text string) ([]storage.QoS, error) {
	r, ok := c[text]
	if !ok {
		r.list, r.err = parseQoSText(text)
		c[text] = r
	}
	return r.list, r.err
}

// parseMetadata reads metadata.yaml, or the text of the metadata table, which
// has no outer key. Numbers that are no numbers are 0: what they count is
// counted again. Profiles that do not parse are left out, and said in odd.
func parseMetadata(text []byte, cache qosCache) (m *metadata, odd []string, err error) {
	defer func() {
		if p := recover(); p != nil { // yaml.v3 panics on some broken documents
			m, err = nil, fmt.Errorf("YAML: %v: %w", p, storage.ErrCorrupt)
		}
	}()
	var outer struct {
		Info yaml.Node `yaml:"rosbag2_bagfile_information"`
	}
	var y metadataYAML
	if err := yaml.Unmarshal(text, &outer); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", err, storage.ErrCorrupt)
	}
	if outer.Info.Kind != 0 {
		err = outer.Info.Decode(&y)
	} else {
		err = yaml.Unmarshal(text, &y)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", err, storage.ErrCorrupt)
	}
	m = &metadata{
		Version: int(min(integer(&y.Version), math.MaxInt32)), StorageID: y.StorageID,
		Duration: integer(&y.Duration.NS), Start: integer(&y.Start.NS), Messages: integer(&y.Messages),
		Compression: lower(y.Compression), Mode: upper(y.Mode), Paths: y.Paths, Distro: y.Distro,
	}
	if m.Version <= 0 {
		return nil, nil, fmt.Errorf("no version of %s: %w", metadataKey, storage.ErrCorrupt)
	}
	if m.Compression == "none" {
		m.Compression = ""
	}
	if m.Mode == "NONE" {
		m.Mode = ""
	}
	for i := range y.Topics {
		t := &y.Topics[i]
		out := metadataTopic{
			Name: t.Topic.Name, Type: t.Topic.Type, Format: t.Topic.Format, Hash: t.Topic.Hash, Messages: integer(&t.Messages),
		}
		var e error
		switch q := &t.Topic.QoS; q.Kind {
		case yaml.ScalarNode:
			out.QoS, e = cache.parse(q.Value)
		case yaml.SequenceNode:
			out.QoS, e = parseQoSNode(q)
		}
		if e != nil {
			odd = append(odd, fmt.Sprintf("topic %.200q: %v", out.Name, e))
		}
		m.Topics = append(m.Topics, out)
	}
	for i := range y.Files {
		f := &y.Files[i]
		m.Files = append(m.Files, metadataFile{
			Path: f.Path, Start: integer(&f.Start.NS), Duration: integer(&f.Duration.NS), Messages: integer(&f.Messages),
		})
	}
	for k, v := range y.Custom {
		if m.Custom == nil {
			m.Custom = map[string]string{}
		}
		if s, ok := v.(string); ok {
			m.Custom[k] = s
		} else if v != nil {
			m.Custom[k] = fmt.Sprint(v)
		} else {
			m.Custom[k] = ""
		}
	}
	return m, odd, nil
}

// withoutTopics leaves the topics out of the text of the metadata table, where they
// are most of it: the lines behind their key, up to the next key.
func withoutTopics(text string) string {
	const key = "\ntopics_with_message_count:\n"
	before, rest, ok := strings.Cut(text, key)
	for ok && rest != "" && (rest[0] == ' ' || rest[0] == '-') {
		_, rest, ok = strings.Cut(rest, "\n")
	}
	if !ok {
		return text
	}
	return before + "\n" + rest
}

// integer is a number of 64 bits; some were written as unsigned, or by builds
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
