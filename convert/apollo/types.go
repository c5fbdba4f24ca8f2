package apollo

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A compiled is an Apollo type with its tables, as a program of either direction
// needs it.
type compiled struct {
	md      protoreflect.MessageDescriptor
	top     *table
	initial values
	list    protowire.Number // of the repeated field, 0 when there is none
	element *table
	blank   values
	unused  []string // paths of fields that no rule knows
}

// compileType compiles the tables of a family for md.
func compileType(fam family, md protoreflect.MessageDescriptor) (*compiled, error) {
	var c compiler
	t := &compiled{md: md}
	var err error
	if t.top, err = c.table(md, familyFields[fam], ""); err != nil {
		return nil, err
	}
	t.initial = c.initial
	for _, w := range familyFields[fam] {
		if !w.list {
			continue
		}
		fd := md.Fields().ByName(protoreflect.Name(w.name))
		t.list = fd.Number()
		var e compiler
		if t.element, err = e.table(fd.Message(), elements[fam], w.name+"."); err != nil {
			return nil, err
		}
		t.blank = e.initial
		c.unused = append(c.unused, e.unused...)
	}
	t.unused = c.unused
	return t, nil
}

// alternatives lists, per family, fields in groups: each group is read up to its first field that is set.
func (f family) alternatives(o Options) [][]string {
	frame := []string{"frame_id", "header.frame_id"}
	attitude := func(pose string) []string {
		return []string{pose + ".orientation", pose + ".euler_angles", pose + ".heading"}
	}
	rate := func(pose string) []string {
		if o.Frames == FramesREP103 {
			return []string{pose + ".angular_velocity_vrf", pose + ".angular_velocity"}
		}
		return []string{pose + ".angular_velocity", pose + ".angular_velocity_vrf"}
	}
	others := []string{"header.camera_timestamp", "header.radar_timestamp"}
	switch f {
	case image, compressedImage:
		return [][]string{{"header.camera_timestamp", "measurement_time", "header.timestamp_sec"}, frame}
	case pointCloud:
		return [][]string{{"header.lidar_timestamp", "measurement_time", "header.timestamp_sec"}, frame}
	case gnssImu, bestPose:
		return [][]string{{"header.timestamp_sec", "measurement_time"}, append([]string{"header.lidar_timestamp"}, others...)}
	case correctedImu:
		return [][]string{{"imu.orientation", "imu.euler_angles"}, {"imu.linear_acceleration", "imu.linear_acceleration_vrf"},
			{"imu.angular_velocity", "imu.angular_velocity_vrf"}, append([]string{"header.lidar_timestamp"}, others...)}
	case estimate:
		return [][]string{{"measurement_time", "header.timestamp_sec"}, attitude("pose"), rate("pose"), append([]string{"header.lidar_timestamp"}, others...)}
	case gps:
		return [][]string{attitude("localization"), rate("localization"), append([]string{"header.lidar_timestamp"}, others...)}
	}
	return [][]string{{"transforms.header.timestamp_sec", "header"},
		{"transforms.header.lidar_timestamp", "transforms.header.camera_timestamp", "transforms.header.radar_timestamp"}}
}

// unread lists the fields that are written only, and those that are read only when
// a better one is not set.
func (t *compiled) unread(fam family, o Options) []string {
	var out []string
	add := func(path string) {
		if t.hasPath(path) {
			out = append(out, path)
		}
	}
	if fam == bestPose {
		add("datum_id")
	}
	if o.CDR { // a Header of ROS 2 has no counter
		if fam == transforms {
			add("transforms.header.sequence_num")
		} else {
			add("header.sequence_num")
		}
	}
	for _, group := range fam.alternatives(o) {
		first := true
		for _, path := range group {
			if !t.hasPath(path) {
				continue
			}
			if !first {
				out = append(out, path)
			}
			first = false
		}
	}
	return out
}

// hasPath reports whether the type has a field.
func (t *compiled) hasPath(path string) bool {
	md := t.md
	for {
		name, rest, more := strings.Cut(path, ".")
		fd := md.Fields().ByName(protoreflect.Name(name))
		if fd == nil || !more {
			return fd != nil
		}
		md, path = fd.Message(), rest
	}
}

// outermost sorts paths, and leaves out those below another one and its parts.
func outermost(paths []string) []string {
	slices.Sort(paths)
	out := paths[:0]
	for _, p := range paths {
		if len(out) == 0 || p != out[len(out)-1] && !strings.HasPrefix(p, out[len(out)-1]+".") && !strings.HasPrefix(p, out[len(out)-1]+" ") {
			out = append(out, p)
		}
	}
	return out
}
