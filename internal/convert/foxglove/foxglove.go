// Package foxglove maps messages of Foxglove's well-known schemas to their counterparts
// among the standard ROS types. It reads messages of the ROS type that was generated
// from the schema, whatever the schema was written in, by the names of its fields, and
// writes ROS 1 serialization or CDR. docs/mapping.md has the rules and the losses.
//
//	p, err := foxglove.ToROS("foxglove.CompressedImage", generated, foxglove.Options{CDR: true})
//	out, err = p.Append(out, message) // in ROS 1 serialization of the generated type
//
//	foxglove.                  ROS
//	CompressedImage            sensor_msgs/CompressedImage
//	RawImage                   sensor_msgs/Image
//	CameraCalibration          sensor_msgs/CameraInfo
//	PointCloud                 sensor_msgs/PointCloud2
//	LaserScan                  sensor_msgs/LaserScan
//	LocationFix                sensor_msgs/NavSatFix
//	FrameTransform, FrameTransforms   tf2_msgs/TFMessage
//	PoseInFrame                geometry_msgs/PoseStamped
//	PosesInFrame               geometry_msgs/PoseArray
//	Log                        rosgraph_msgs/Log, in CDR rcl_interfaces/Log
//
// If the schema lacks a field without which the mapping has no sense, or has a field of
// another kind, compiling the program is an error. Other missing fields are zero or empty.
//
// No length in a message is trusted. Programs do not change, and may be used by any
// number of goroutines.
package foxglove

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// Options are the options of a program.
type Options struct {
	CDR bool // it writes CDR, else ROS 1 serialization
}

// A family is the rules between a schema and a ROS type.
type family struct {
	ros, ros2 string // spelled as in ROS 1; ros2 if ROS 2 has another one
	wants     []want
	elements  []want // of the list of structs
	write     func(r *run) error
	rounded   bool // float64 becomes float32
}

var families = map[string]*family{
	"foxglove.CompressedImage": {ros: "sensor_msgs/CompressedImage", wants: compressedImageWants,
		write: writeCompressedImage},
	"foxglove.RawImage":          {ros: "sensor_msgs/Image", wants: rawImageWants, write: writeRawImage},
	"foxglove.CameraCalibration": {ros: "sensor_msgs/CameraInfo", wants: calibrationWants, write: writeCalibration},
	"foxglove.PointCloud": {ros: "sensor_msgs/PointCloud2", wants: cloudWants, elements: cloudFieldWants,
		write: writeCloud},
	"foxglove.LaserScan":      {ros: "sensor_msgs/LaserScan", wants: scanWants, write: writeScan, rounded: true},
	"foxglove.LocationFix":    {ros: "sensor_msgs/NavSatFix", wants: fixWants, write: writeFix},
	"foxglove.FrameTransform": {ros: "tf2_msgs/TFMessage", wants: transformWants, write: writeTransform},
	"foxglove.FrameTransforms": {ros: "tf2_msgs/TFMessage", wants: transformsWants, elements: transformWants,
		write: writeTransforms},
	"foxglove.PoseInFrame":  {ros: "geometry_msgs/PoseStamped", wants: poseWants, write: writePose},
	"foxglove.PosesInFrame": {ros: "geometry_msgs/PoseArray", wants: posesWants, elements: poseIn(""), write: writePoses},
	"foxglove.Log":          {ros: "rosgraph_msgs/Log", ros2: "rcl_interfaces/Log", wants: logWants, write: writeLog},
}

// ROSType returns the standard ROS type, spelled as in ROS 1, that a schema by its name
// becomes in CDR or in ROS 1; "" if no type does.
func ROSType(name string, cdr bool) string {
	switch f := families[name]; {
	case f == nil:
		return ""
	case cdr && f.ros2 != "":
		return f.ros2
	default:
		return f.ros
	}
}

// A Program makes messages of a standard ROS type.
type Program struct {
	family *family
	o      Options
	layout *structLayout
}

// ToROS makes the program for a schema by its name. src is the ROS type that was
// generated from it. The error names a field that is missing or of another kind.
func ToROS(name string, src *schema.Message, o Options) (*Program, error) {
	f := families[name]
	if f == nil {
		return nil, fmt.Errorf("%s has no counterpart among the standard ROS types", name)
	}
	layout, err := compile(src, f.wants, f.elements)
	if err != nil {
		return nil, err
	}
	slices.Sort(layout.unused)
	return &Program{f, o, layout}, nil
}

// Dropped lists the paths of fields that the ROS type has no place for, sorted.
func (p *Program) Dropped() []string { return p.layout.unused }

// Rounds reports whether numbers of 64 bits become numbers of 32 bits.
func (p *Program) Rounds() bool { return p.family.rounded }

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare.
func (p *Program) SizeHint(n int) int { return n + n/4 + 512 }

// Append re-encodes src and appends it to dst. On error, which wraps
// transcode.ErrMalformed, dst is returned at its old length. It keeps neither slice.
func (p *Program) Append(dst, src []byte) ([]byte, error) {
	c := message.Open(p.layout.typ, src)
	defer c.Close()
	r := run{p: p, w: ros.NewWriter(dst, p.o.CDR), view: view{layout: p.layout}, src: src}
	r.read(c, p.layout.typ)
	if err := c.Err(); err != nil {
		return dst, err
	}
	if err := p.family.write(&r); err != nil {
		return dst, err
	}
	return r.w.Buf, nil
}

// A run is a message on its way.
type run struct {
	p   *Program
	w   ros.Writer
	src []byte
	view
}

// each reads the elements of the list of structs, one after the other.
func (r *run) each(write func(e *view) error) (err error) {
	l := r.p.layout
	c := message.Open(l.typ, r.src)
	defer c.Close()
	if !c.Seek(l.list) {
		r.w.U32(0)
		return c.Err()
	}
	list := l.list.Field
	n := c.Count(list)
	r.w.U32(uint32(n))
	e := view{layout: l.element}
	c.Elements(list, n, func(int) {
		if e.read(c, list.Type); err == nil && c.OK() {
			err = write(&e)
		}
	})
	return cmp.Or(err, c.Err())
}

// header writes a std_msgs/Header.
func (r *run) header(v *view, stamp, frame int) {
	if !r.p.o.CDR {
		r.w.U32(0)
	}
	r.stamp(v, stamp)
	r.w.String(v.text(frame))
}

func (r *run) stamp(v *view, slot int) {
	sec, nsec := v.time(slot)
	r.w.U32(sec)
	r.w.U32(nsec)
}

// floats writes n numbers from slots in a row.
func (r *run) floats(v *view, slot, n int) {
	for i := range n {
		r.w.F64(v.number(slot + i))
	}
}

// array writes a list of numbers as an array of n; an empty list is zeros.
func (r *run) array(slot, n int) error {
	count := r.count(slot)
	if count != 0 && count != n {
		return refused("%s has %d values, not %d", r.p.family.wants[slot].path, count, n)
	}
	for i := range n {
		if count == 0 {
			r.w.F64(0)
		} else {
			r.w.F64(r.element(slot, i))
		}
	}
	return nil
}
