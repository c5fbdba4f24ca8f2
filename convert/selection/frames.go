package selection

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// childFrames returns a function that lists the child frames of a topic's
// messages, nil when these are not lists of transforms.
func childFrames(t *storage.Topic) func([]string, []byte) ([]string, bool) {
	switch schema.ShortName(t.Type) {
	case "tf2_msgs/TFMessage", "tf/tfMessage":
		switch t.Encoding {
		case "ros1":
			return func(dst []string, data []byte) ([]string, bool) { return transforms(dst, data, false) }
		case "cdr":
			return func(dst []string, data []byte) ([]string, bool) { return transforms(dst, data, true) }
		}
	case "apollo.transform.TransformStampeds":
		if t.Encoding == "protobuf" {
			return apolloTransforms
		}
	}
	return nil
}

// transforms walks over a TFMessage: geometry_msgs/TransformStamped[], each a
// Header, a child_frame_id, and seven float64.
func transforms(dst []string, data []byte, cdr bool) ([]string, bool) {
	const least = 8 + 8 + 56 // bytes of a transform with empty names
	var r ros.Reader
	if r.Open(data, cdr) != nil {
		return dst, false
	}
	end := r.Struct() // the message
	r.Size()
	for n := r.Count(least); n > 0 && r.OK(); n-- {
		transform, header, stamp := r.Struct(), r.Struct(), r.Struct()
		if !cdr {
			r.U32() // Header.seq
		}
		r.Numbers(2, 4)
		r.End(stamp)
		_ = r.String() // frame_id
		r.End(header)
		dst = append(dst, string(r.String())) // a copy
		if !r.Delimited {
			r.Numbers(7, 8)
		}
		r.End(transform)
	}
	r.End(end)
	return dst, r.OK() && ros.IsPadding(r.Rest()) // else its structs have other sizes than those around them
}

// apolloTransforms walks over an apollo.transform.TransformStampeds: transforms
// = 2, in each child_frame_id = 2 (transform_msgs/transform.proto).
func apolloTransforms(dst []string, data []byte) ([]string, bool) {
	const transforms, childFrameID = 2, 2
	ok := fields(data, transforms, func(transform []byte) bool {
		name := ""
		ok := fields(transform, childFrameID, func(b []byte) bool { name = string(b); return true })
		dst = append(dst, name)
		return ok
	})
	return dst, ok
}

// fields calls f with the content of each length-delimited field of that number.
func fields(data []byte, number protowire.Number, f func([]byte) bool) bool {
	s := pb.Scan(data)
	for s.Next() {
		if s.Num == number && s.Wire == protowire.BytesType && !f(s.Content()) {
			return false
		}
	}
	_, wrong := s.Wrong()
	return wrong == ""
}
