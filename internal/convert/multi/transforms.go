package multi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// apolloTransforms is the type of messages of transforms in Apollo.
const apolloTransforms = "apollo.transform.TransformStampeds"

// A transform is one of a message.
type transform struct {
	child string
	data  []byte // in ROS without padding, as in ROS 1, with the seq of a header; in protobuf without its length
}

// replaced returns the list with a transform, in the place of the transform to its frame if there is one.
func replaced(list []transform, t transform) []transform {
	for i := range list {
		if list[i].child == t.child {
			list[i] = t
			return list
		}
	}
	return append(list, t)
}

// transformTopic returns the topic of the message: in CDR if the recording has CDR, in ROS 1 serialization if it has
// that, else in protobuf if it has transforms of Apollo.
func transformTopic(info *storage.Info, f *storage.Format) (t storage.Topic, err error) {
	has := func(test func(t *storage.TopicInfo) bool) *storage.TopicInfo {
		if i := slices.IndexFunc(info.Topics, func(t storage.TopicInfo) bool { return test(&t) }); i >= 0 {
			return &info.Topics[i]
		}
		return nil
	}
	apollo := has(func(t *storage.TopicInfo) bool { return t.Type == apolloTransforms && t.Encoding == "protobuf" })
	ros1 := has(func(t *storage.TopicInfo) bool { return t.Encoding == "ros1" }) != nil
	cdr := has(func(t *storage.TopicInfo) bool { return t.Encoding == "cdr" }) != nil
	switch {
	case cdr || ros1 || apollo == nil && f.Holds.Native != "protobuf":
		t, err = rosTopic(cdr || !ros1)
	case apollo == nil:
		return t, errors.New("--static: the recording has no transforms, of which the type is taken")
	default:
		t = storage.Topic{Name: "/tf_static", Type: apollo.Type, Encoding: apollo.Encoding, Schema: apollo.Schema}
	}
	if has(func(t *storage.TopicInfo) bool { return t.Name == "tf_static" }) != nil {
		t.Name = "tf_static"
	}
	return t, err
}

// rosTopic returns the topic in ROS 1 or ROS 2.
func rosTopic(cdr bool) (storage.Topic, error) {
	distro, name, dialect := "noetic", "tf2_msgs/TFMessage", rosmsg.ROS1
	t := storage.Topic{Name: "/tf_static", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg"}}
	if cdr {
		distro, name, dialect = "humble", "tf2_msgs/msg/TFMessage", rosmsg.ROS2
		t.Encoding, t.Schema.Encoding = "cdr", "ros2msg"
	}
	text, _ := builtin.Lookup(distro, name)
	def, err := rosmsg.Parse(name, []byte(text), dialect, func(name string) (string, bool) {
		return builtin.Lookup(distro, name)
	})
	if err != nil {
		return t, err
	}
	t.Type, t.Schema.Data = def.Name, rosmsg.Format(def, dialect)
	if !cdr {
		t.Metadata = map[string]string{storage.MetaMD5Sum: schema.MD5(def), storage.MetaLatching: "1",
			storage.MetaCallerID: "/bagconv"}
		return t, nil
	}
	t.QoS = []storage.QoS{{History: storage.HistoryKeepLast, Depth: 1, Reliability: storage.ReliabilityReliable,
		Durability: storage.DurabilityTransientLocal, Deadline: storage.QoSInfinite, Lifespan: storage.QoSInfinite,
		Lease: storage.QoSInfinite, Liveliness: storage.LivelinessAutomatic}}
	if hash, err := schema.RIHS01(def); err == nil {
		t.Metadata = map[string]string{storage.MetaTypeHash: hash}
	}
	return t, nil
}

// bytes returns a transform as transform.data has it.
func (t *Transform) bytes(encoding string, at int64) []byte {
	if encoding == "protobuf" {
		double := func(b []byte, n protowire.Number, x float64) []byte {
			return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), math.Float64bits(x))
		}
		header := double(nil, 1, float64(at)/1e9)
		header = protowire.AppendString(protowire.AppendTag(header, 9, protowire.BytesType), t.Parent)
		var place, rotation []byte
		for i, x := range t.numbers {
			if i < 3 {
				place = double(place, protowire.Number(i+1), x)
			} else {
				rotation = double(rotation, protowire.Number(i-2), x)
			}
		}
		part := func(b []byte, n protowire.Number, content []byte) []byte {
			return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), content)
		}
		both := part(part(nil, 1, place), 2, rotation)
		return part(part(part(nil, 1, header), 2, []byte(t.Child)), 3, both)
	}
	w := ros.NewWriter(nil, false)
	w.U32(0)
	w.Time(at)
	w.String([]byte(t.Parent))
	w.String([]byte(t.Child))
	for _, x := range t.numbers {
		w.F64(x)
	}
	return w.Buf
}

// transformMessage returns the message.
func transformMessage(encoding string, list []transform) []byte {
	if encoding == "protobuf" {
		var out []byte
		for _, t := range list {
			out = protowire.AppendBytes(protowire.AppendTag(out, 2, protowire.BytesType), t.data)
		}
		return out
	}
	w := ros.NewWriter(nil, encoding == "cdr")
	w.U32(uint32(len(list)))
	for _, t := range list {
		if !w.CDR() {
			w.Buf = append(w.Buf, t.data...)
			continue
		}
		r := ros.NewReader(t.data, false)
		copyTransform(&r, &w, true, false)
	}
	return w.Buf
}

// copyTransform copies a transform from a message to another, and returns its frame. seq says whether there is a
// counter in its header, in and out.
func copyTransform(r *ros.Reader, w *ros.Writer, in, out bool) (child string) {
	var seq uint32
	if in {
		seq = r.U32()
	}
	if out {
		w.U32(seq)
	}
	w.U32(r.U32())
	w.U32(r.U32())
	w.String(text(r, in))
	name := text(r, in)
	w.String(name)
	for range 7 {
		w.U64(r.U64())
	}
	return string(name)
}

// text reads a string: of CDR with its NUL, which goes.
func text(r *ros.Reader, ros1 bool) []byte {
	p := r.Bytes()
	if last := len(p) - 1; !ros1 && last >= 0 && p[last] == 0 {
		return p[:last]
	}
	return p
}

// gather reads all transforms of the recording on the topic; the last to a frame counts.
func gather(ctx context.Context, f *storage.Format, path string, o storage.ReadOptions, real storage.Reader,
	topic *storage.Topic) (list []transform, err error) {
	info := real.Info()
	var ids []storage.TopicID
	for _, t := range info.Topics {
		if !IsStatic(t.Name) {
			continue
		}
		short := func(name string) string { return strings.Replace(name, "/msg/", "/", 1) }
		if t.Encoding != topic.Encoding || short(t.Type) != short(topic.Type) {
			return nil, fmt.Errorf("--static-once: topic %s has type %s in encoding %q, and the message would have %s in %q",
				t.Name, t.Type, t.Encoding, topic.Type, topic.Encoding)
		}
		ids = append(ids, t.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	add := func(m *storage.Message) error {
		if list, err = appendTransforms(list, topic.Encoding, m.Data); err != nil {
			return fmt.Errorf("--static-once: topic %s, message at time %d: %w", topic.Name, m.LogTime, err)
		}
		if len(list) > 1<<16 {
			return errors.New("--static-once: there are more than 65,536 frames on /tf_static")
		}
		return nil
	}
	if q := storage.ReaderCapabilities(real).Query; q != nil {
		for m, err := range q.Query(ctx, storage.Query{Topics: ids}) {
			if err == nil {
				err = add(m)
			}
			if err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	again, err := f.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer again.Close() // it was only read
	for {
		m, err := again.ReadNext()
		switch {
		case err == io.EOF:
			return list, nil
		case err == nil && slices.Contains(ids, m.Topic):
			err = add(m)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
	}
}

// appendTransforms appends the transforms of a message.
func appendTransforms(list []transform, encoding string, data []byte) ([]transform, error) {
	if encoding == "protobuf" {
		s := pb.Scan(data)
		for s.Next() {
			if s.Num != 2 || s.Wire != protowire.BytesType {
				continue
			}
			t := transform{data: slices.Clone(s.Content())}
			inner := pb.Scan(t.data)
			for inner.Next() {
				if inner.Num == 2 && inner.Wire == protowire.BytesType {
					t.child = string(inner.Content())
				}
			}
			if _, what := inner.Wrong(); what != "" {
				return nil, errors.New(what)
			}
			list = replaced(list, t)
		}
		if _, what := s.Wrong(); what != "" {
			return nil, errors.New(what)
		}
		return list, nil
	}
	cdr := encoding == "cdr"
	var r ros.Reader
	if err := r.Open(data, cdr); err != nil {
		return nil, err
	}
	if l := r.Layout; cdr && l.Sizes {
		return nil, errors.New("it is in XCDR2, of which transforms are not gathered")
	}
	n := r.Count(70)
	for i := 0; i < n && r.OK(); i++ {
		w := ros.NewWriter(nil, false)
		child := copyTransform(&r, &w, !cdr, true)
		list = replaced(list, transform{child, w.Buf})
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if !cdr && r.Len() > 0 || !ros.IsPadding(r.Rest()) {
		return nil, fmt.Errorf("%d bytes are left over", r.Len())
	}
	return list, nil
}
