package rosbag2

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// A decoder does with metadata.yaml what one distribution's C++ does: each key
// that it demands at a version must be there and convert, others are ignored.
// Source: yaml.hpp and metadata_io.cpp of ros2/rosbag2 on each branch.
type decoder struct {
	distro string
	newest int // the version that the branch writes; keys of later ones are unknown to it
	err    error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) key(n *yaml.Node, name string, kind yaml.Kind) *yaml.Node {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				if v := n.Content[i+1]; kind == 0 || v.Kind == kind {
					return v
				}
				d.fail("%s: bad conversion", name)
				return &yaml.Node{}
			}
		}
	}
	d.fail("%s: missing", name)
	return &yaml.Node{}
}

func (d *decoder) text(n *yaml.Node, name string) string {
	return d.key(n, name, yaml.ScalarNode).Value
}

func (d *decoder) uint(n *yaml.Node, name string) uint64 {
	v, err := strconv.ParseUint(d.text(n, name), 10, 64)
	if err != nil {
		d.fail("%s: %v", name, err)
	}
	return v
}

func (d *decoder) qos(list *yaml.Node, names bool) {
	if list.Kind == yaml.DocumentNode {
		list = list.Content[0]
	}
	if list.Kind != yaml.SequenceNode {
		d.fail("QoS: no sequence")
	}
	for _, q := range list.Content {
		for _, k := range []string{"history", "reliability", "durability", "liveliness"} {
			v := d.text(q, k)
			if _, err := strconv.Atoi(v); err != nil && !names {
				d.fail("%s: bad conversion of %q", k, v)
			}
		}
		d.uint(q, "depth")
		for _, k := range []string{"deadline", "lifespan", "liveliness_lease_duration"} {
			d.uint(d.key(q, k, yaml.MappingNode), "sec")
			d.uint(d.key(q, k, yaml.MappingNode), "nsec")
		}
		if v := d.text(q, "avoid_ros_namespace_conventions"); v != "true" && v != "false" {
			d.fail("avoid_ros_namespace_conventions: %q", v)
		}
	}
}

// open decodes the file and finds the parts, as `ros2 bag play` does.
func (d *decoder) open(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, metadataName))
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	info := d.key(doc.Content[0], metadataKey, yaml.MappingNode)
	version := int(d.uint(info, "version"))
	since := func(v int) bool { return version >= v && d.newest >= v }
	if id := d.text(info, "storage_identifier"); id != "sqlite3" {
		d.fail("storage %q", id)
	}
	d.uint(d.key(info, "duration", yaml.MappingNode), "nanoseconds")
	d.uint(d.key(info, "starting_time", yaml.MappingNode), "nanoseconds_since_epoch")
	total := d.uint(info, "message_count")
	for _, t := range d.key(info, "topics_with_message_count", yaml.SequenceNode).Content {
		m := d.key(t, "topic_metadata", yaml.MappingNode)
		d.text(m, "name")
		d.text(m, "type")
		d.text(m, "serialization_format")
		switch {
		case since(9):
			d.qos(d.key(m, "offered_qos_profiles", yaml.SequenceNode), true)
		case version >= 4:
			if q := d.text(m, "offered_qos_profiles"); q != "" {
				var n yaml.Node
				if err := yaml.Unmarshal([]byte(q), &n); err != nil {
					d.fail("%v", err)
				} else {
					d.qos(&n, d.newest >= 9)
				}
			}
		}
		if since(7) {
			d.text(m, "type_description_hash")
		}
		total -= d.uint(t, "message_count")
	}
	if total != 0 {
		d.fail("message_count is not the sum of the topics'")
	}
	if d.text(info, "compression_format") != "" || d.text(info, "compression_mode") != "" {
		d.fail("compressed")
	}
	paths := d.key(info, "relative_file_paths", yaml.SequenceNode)
	if since(5) {
		for _, f := range d.key(info, "files", yaml.SequenceNode).Content {
			d.text(f, "path")
			d.uint(d.key(f, "starting_time", yaml.MappingNode), "nanoseconds_since_epoch")
			d.uint(d.key(f, "duration", yaml.MappingNode), "nanoseconds")
			d.uint(f, "message_count")
		}
	}
	if since(6) {
		c := d.key(info, "custom_data", 0)
		if c.Kind != yaml.MappingNode && c.Tag != "!!null" {
			d.fail("custom_data: bad conversion")
		}
		for i := 1; i < len(c.Content); i += 2 {
			if c.Content[i].Kind != yaml.ScalarNode {
				d.fail("custom_data: bad conversion")
			}
		}
	}
	if since(8) {
		d.text(info, "ros_distro")
	}
	for _, p := range paths.Content {
		if _, err := os.Stat(filepath.Join(dir, p.Value)); err != nil || filepath.Base(p.Value) != p.Value {
			d.fail("part %q: %v", p.Value, err)
		}
	}
	return d.err
}

// TestDecoders opens what each profile writes on each distribution: every
// profile on its own and later ones, and "universal" everywhere.
func TestDecoders(t *testing.T) {
	distros := []decoder{{distro: "foxy", newest: 4}, {distro: "galactic", newest: 4}, {distro: "humble", newest: 5}, {distro: "iron", newest: 7},
		{distro: "jazzy", newest: 9}, {distro: "kilted", newest: 9}, {distro: "lyrical", newest: 9}, {distro: "rolling", newest: 9}}
	for _, profile := range profileNames() {
		for _, rows := range [][]storage.Message{nil, sampleRows()} {
			dir := filepath.Join(t.TempDir(), "bag")
			write(t, dir, storage.WriteOptions{Profile: profile}, sampleTopics(), rows)
			p, _ := findProfile(profile)
			for _, d := range distros {
				err := d.open(dir)
				if opens := p.version < 9 || d.newest >= 9; opens != (err == nil) {
					t.Errorf("profile %s on %s with %d rows: %v", profile, d.distro, len(rows), err)
				}
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "bag")
	write(t, dir, storage.WriteOptions{}, nil, nil)
	for _, d := range distros {
		if err := d.open(dir); err != nil {
			t.Errorf("empty recording on %s: %v", d.distro, err)
		}
	}
}

const jazzyText = `rosbag2_bagfile_information:
  version: 9
  storage_identifier: sqlite3
  duration:
    nanoseconds: 5
  starting_time:
    nanoseconds_since_epoch: 9223372036854775807
  message_count: 1
  topics_with_message_count:
    - topic_metadata:
        name: /a
        type: p/msg/T
        serialization_format: cdr
        offered_qos_profiles:
          - history: keep_last
            depth: 10
            reliability: best_effort
            durability: transient_local
            deadline: {sec: 2147483647, nsec: 4294967295}
            lifespan: {sec: 2147483647, nsec: 2147483647}
            liveliness: manual_by_topic
            liveliness_lease_duration: {sec: 1, nsec: 2}
            avoid_ros_namespace_conventions: true
        type_description_hash: RIHS01_00
      message_count: 1
  compression_format: ZSTD
  compression_mode: message
  relative_file_paths:
    - a_0.db3
  files:
    - path: a_0.db3
      starting_time:
        nanoseconds_since_epoch: 7
      duration:
        nanoseconds: 5
      message_count: 1
  custom_data:
    k: v
    n: 5
    e: ~
  ros_distro: jazzy
`

func TestParseMetadata(t *testing.T) {
	m, odd, err := parseMetadata(t.Context(), []byte(jazzyText), qosCache{})
	check(t, err)
	want := &metadata{
		Version: 9, StorageID: "sqlite3", Duration: 5, Start: 9223372036854775807, Messages: 1,
		Topics: []metadataTopic{{Name: "/a", Type: "p/msg/T", Format: "cdr", Hash: "RIHS01_00", Messages: 1, QoS: []storage.QoS{{
			History: storage.HistoryKeepLast, Depth: 10, Reliability: storage.ReliabilityBestEffort, Durability: storage.DurabilityTransientLocal,
			Deadline: storage.QoSInfinite, Lifespan: storage.QoSInfinite, Liveliness: storage.LivelinessManualByTopic,
			Lease: storage.QoSDuration{Sec: 1, NSec: 2}, AvoidROSNamespaceConventions: true,
		}}}},
		Compression: "zstd", Mode: "MESSAGE", Paths: []string{"a_0.db3"},
		Files:  []metadataFile{{Path: "a_0.db3", Start: 7, Duration: 5, Messages: 1}},
		Custom: map[string]string{"k": "v", "n": "5", "e": ""}, Distro: "jazzy",
	}
	if !reflect.DeepEqual(m, want) || odd != nil {
		t.Errorf("got %+v %v\nwant %+v", m, odd, want)
	}
	for _, text := range []string{"", "a: b", "[1]", "rosbag2_bagfile_information: x", "\xff", "a: &a [*a]", "rosbag2_bagfile_information:\n  version: 0\n"} {
		if _, _, err := parseMetadata(t.Context(), []byte(text), qosCache{}); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, odd, err = parseMetadata(t.Context(), []byte(strings.ReplaceAll(jazzyText, "best_effort", "sometimes")), qosCache{})
	if err != nil || len(odd) != 1 || m.Topics[0].QoS != nil {
		t.Errorf("unknown policy: %v %v", odd, err)
	}
}

// TestBadMetadata: a recording is read without its metadata.yaml when that
// cannot be parsed.
func TestBadMetadata(t *testing.T) {
	for text, code := range map[string]string{"{{{": "metadata", strings.ReplaceAll(jazzyText, "version: 9", "version: 10"): "version"} {
		dir := bag(t, sampleRows())
		check(t, os.WriteFile(filepath.Join(dir, metadataName), []byte(strings.ReplaceAll(text, "a_0.db3", "bag_0.db3")), 0o666))
		rows, info := readAll(t, dir, storage.ReadOptions{})
		found := false
		for _, c := range codes(info) {
			found = found || c == code
		}
		if len(rows) != len(sampleRows()) || !found {
			t.Errorf("%d rows, %v", len(rows), info.Warnings)
		}
	}
}

// FuzzMetadata: whatever parses is written and parsed again to the same.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(jazzyText))
	f.Add([]byte("version: 5\ntopics_with_message_count:\n  - topic_metadata: {name: a, offered_qos_profiles: \"- history: 3\\n  depth: 0\"}\n    message_count: 3\ncustom_data: ~\n"))
	f.Add([]byte("version: 1\nrelative_file_paths: [a, b]\nstarting_time: {nanoseconds_since_epoch: -5}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _, err := parseMetadata(t.Context(), text, qosCache{})
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		m.Files = nil
		out, err := m.encode(true)
		if err != nil {
			t.Fatal(err)
		}
		again, odd, err := parseMetadata(t.Context(), []byte(out), qosCache{})
		if err != nil || odd != nil {
			t.Fatalf("%v %v of\n%s", err, odd, out)
		}
		if again.Files = nil; again.Messages != m.Messages || len(again.Topics) != len(m.Topics) || len(again.Custom) != len(m.Custom) {
			t.Fatalf("%+v\n%+v\n%s", m, again, out)
		}
		for i := range m.Topics {
			if a, b := m.Topics[i], again.Topics[i]; a.Name != b.Name || a.Type != b.Type || len(a.QoS) != len(b.QoS) {
				t.Fatalf("%+v\n%+v\n%s", a, b, out)
			}
		}
	})
}

// FuzzQoS: profiles keep their meaning as numbers and as names.
func FuzzQoS(f *testing.F) {
	f.Add(qosText(sampleTopics()[0].QoS, false))
	f.Add(qosText(sampleTopics()[0].QoS, true))
	f.Add("- history: 9\n")
	f.Add("- &a {deadline: {sec: 2147483647, nsec: 4294967295}}\n- *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseQoSText(text)
		if err != nil {
			return
		}
		for _, names := range []bool{false, true} {
			again, err := parseQoSText(qosText(list, names))
			if err != nil || len(again) != len(list) || len(list) > 0 && !reflect.DeepEqual(again, list) {
				t.Fatalf("%v: %+v\n%+v", err, list, again)
			}
		}
	})
}

// FuzzWAL: any log is read without harm, and no page of it lies outside.
func FuzzWAL(f *testing.F) {
	old, now := make([]byte, 2048), make([]byte, 4096)
	now[600] = 1
	f.Add(makeWAL(old, now, 512, true))
	f.Add(makeWAL(old, now, 1024, false))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := readWAL(strings.NewReader(string(b)), int64(len(b)))
		if err != nil {
			return
		}
		for n, at := range w.at {
			if n < 0 || at+w.page > int64(len(b)) {
				t.Fatalf("page %d at %d", n, at)
			}
		}
	})
}
