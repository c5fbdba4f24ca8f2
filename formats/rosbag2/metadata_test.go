package rosbag2

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
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
	text, err := os.ReadFile(filepath.Join(dir, ros2bag.MetadataName))
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	info := d.key(doc.Content[0], "rosbag2_bagfile_information", yaml.MappingNode)
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
	distros := []decoder{{distro: "foxy", newest: 4}, {distro: "galactic", newest: 4}, {distro: "humble", newest: 5},
		{distro: "iron", newest: 7},
		{distro: "jazzy", newest: 9}, {distro: "kilted", newest: 9}, {distro: "lyrical", newest: 9},
		{distro: "rolling", newest: 9}}
	for _, profile := range ros2bag.ProfileNames() {
		for _, rows := range [][]storage.Message{nil, sampleRows()} {
			dir := filepath.Join(t.TempDir(), "bag")
			write(t, dir, storage.WriteOptions{Profile: profile}, sampleTopics(), rows)
			p, _ := ros2bag.FindProfile(profile)
			for _, d := range distros {
				err := d.open(dir)
				if opens := p.Version < 9 || d.newest >= 9; opens != (err == nil) {
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

// TestBadMetadata: a recording is read without its metadata.yaml when that
// cannot be parsed.
func TestBadMetadata(t *testing.T) {
	for code, change := range map[string][2]string{"metadata": {"rosbag2", "{{{"},
		"version": {" version: 5", " version: 10"}} {
		dir := bag(t, sampleRows())
		rewrite(t, filepath.Join(dir, ros2bag.MetadataName), change[0], change[1])
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
