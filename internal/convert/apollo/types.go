package apollo

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Rules are what programs of both directions have: a family and the tables of an Apollo type.
type rules struct {
	family  family
	o       Options
	t       *table
	initial values // what the slots hold if no field is set

	list    protowire.Number // of the repeated field, 0 without one
	element *table
	blank   values // what the slots of an element hold when it is empty
	layout  pointLayout

	dropped []string
}

// compile compiles the tables of a family for md; unused are the paths of fields that no rule knows.
func (p *rules) compile(md protoreflect.MessageDescriptor) (unused []string, err error) {
	var c compiler
	if p.t, err = c.table(md, familyFields[p.family], ""); err != nil {
		return nil, err
	}
	p.initial = c.initial
	for _, w := range familyFields[p.family] {
		if !w.list {
			continue
		}
		fd := md.Fields().ByName(protoreflect.Name(w.name))
		p.list = fd.Number()
		var e compiler
		if p.element, err = e.table(fd.Message(), elements[p.family], w.name+"."); err != nil {
			return nil, err
		}
		p.blank = e.initial
		c.unused = append(c.unused, e.unused...)
	}
	if p.family == pointCloud {
		p.layout = layoutOf(p.element, p.list)
	}
	return c.unused, nil
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
		return [][]string{{"measurement_time", "header.timestamp_sec"}, attitude("pose"), rate("pose"),
			append([]string{"header.lidar_timestamp"}, others...)}
	case gps:
		return [][]string{attitude("localization"), rate("localization"), append([]string{"header.lidar_timestamp"},
			others...)}
	}
	return [][]string{{"transforms.header.timestamp_sec", "header"},
		{"transforms.header.lidar_timestamp", "transforms.header.camera_timestamp", "transforms.header.radar_timestamp"}}
}

// unread lists the fields that are only written, and the fields that are only read
// when a better one is not set.
func (f family) unread(md protoreflect.MessageDescriptor, o Options) (out []string) {
	var written []string
	if f == bestPose {
		written = append(written, "datum_id")
	}
	switch { // a Header of ROS 2 has no counter
	case o.CDR && f == transforms:
		written = append(written, "transforms.header.sequence_num")
	case o.CDR:
		written = append(written, "header.sequence_num")
	}
	missing := func(path string) bool { return !hasPath(md, path) }
	out = slices.DeleteFunc(written, missing)
	for _, group := range f.alternatives(o) {
		group = slices.DeleteFunc(group, missing)
		out = append(out, group[min(1, len(group)):]...)
	}
	return out
}

// hasPath reports whether a type has a field.
func hasPath(md protoreflect.MessageDescriptor, path string) bool {
	for {
		name, rest, more := strings.Cut(path, ".")
		fd := md.Fields().ByName(protoreflect.Name(name))
		if fd == nil || !more {
			return fd != nil
		}
		md, path = fd.Message(), rest
	}
}

// outermost sorts paths, and leaves out paths below another one and its parts.
func outermost(paths []string) []string {
	slices.Sort(paths)
	out := paths[:0]
	for _, p := range paths {
		if len(out) == 0 || p != out[len(out)-1] && !strings.HasPrefix(p, out[len(out)-1]+".") && !strings.HasPrefix(p,
			out[len(out)-1]+" ") {
			out = append(out, p)
		}
	}
	return out
}
