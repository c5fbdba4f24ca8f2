package apollo

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	basicmsgs "github.com/bagconv/bagconv/proto/apollo/basic_msgs"
	localizationmsgs "github.com/bagconv/bagconv/proto/apollo/localization_msgs"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
	transformmsgs "github.com/bagconv/bagconv/proto/apollo/transform_msgs"
)

const (
	second = int64(nsPerSec)
	now    = int64(1700000000*nsPerSec + 123456789)
)

func TestEmptyPayloads(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		for _, typ := range types {
			p, err := ToROS(protoapollo.Message(typ.proto), Options{CDR: cdr})
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.AppendAt(nil, nil, now)
			if err != nil {
				t.Fatal(typ.proto, err)
			}
			r := newReader(t, out, cdr)
			if typ.family == transforms {
				if r.U32() != 0 {
					t.Error("transforms in an empty message")
				}
				r.end()
				continue
			}
			if h := r.header(); h.stamp != now {
				t.Errorf("%s: stamp %d, want the log time", typ.proto, h.stamp)
			}
		}
	})
}

func TestImage(t *testing.T) {
	for _, c := range []struct {
		encoding, want   string
		step, wantStep   uint32
		width, height, n int
	}{
		{"rgb8", "rgb8", 6, 6, 2, 1, 6},
		{"rgb8", "rgb8", 0, 6, 2, 1, 6},
		{"gray", "mono8", 0, 2, 2, 2, 4},
		{"y", "mono8", 0, 2, 2, 2, 4},
		{"yuyv", "yuv422_yuy2", 0, 4, 2, 2, 8},
		{"uyvy", "yuv422", 0, 4, 2, 2, 8},
		{"YUV422", "yuv422", 0, 4, 2, 2, 8},
		{"mono8", "mono8", 4, 4, 2, 2, 8},
		{"odd", "odd", 0, 5, 2, 2, 10},
		{"odd", "odd", 0, 0, 2, 0, 10},
	} {
		bothWires(t, func(t *testing.T, cdr bool) {
			data := make([]byte, c.n)
			for i := range data {
				data[i] = byte(i)
			}
			r := toROS(t, &sensormsgs.Image{
				Header: &basicmsgs.Header{SequenceNum: proto.Uint32(7), TimestampSec: proto.Float64(2),
					FrameId: proto.String("outer")},
				FrameId: proto.String("camera"), MeasurementTime: proto.Float64(1.5), Height: proto.Uint32(uint32(c.height)),
				Width:    proto.Uint32(uint32(c.width)),
				Encoding: proto.String(c.encoding), Step: proto.Uint32(c.step), Data: data,
			}, Options{CDR: cdr})
			h := r.header()
			if h.stamp != 1500000000 || h.frame != "camera" || !cdr && h.seq != 7 {
				t.Errorf("header %+v", h)
			}
			if height, width := r.U32(), r.U32(); height != uint32(c.height) || width != uint32(c.width) {
				t.Errorf("%d x %d", width, height)
			}
			encoding, big, step := string(r.String()), r.U8(), r.U32()
			if encoding != c.want || big != 0 || step != c.wantStep {
				t.Errorf("%s: %s %d %d", c.encoding, encoding, big, step)
			}
			if string(r.Bytes()) != string(data) {
				t.Error("data differ")
			}
			r.end()
		})
	}
}

func TestCompressedImage(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		r := toROS(t, &sensormsgs.CompressedImage{
			Header: &basicmsgs.Header{CameraTimestamp: proto.Uint64(uint64(now) + 1), FrameId: proto.String("outer")},
			Format: proto.String("rgb8; jpeg compressed bgr8"), Data: []byte("jpeg"), MeasurementTime: proto.Float64(5),
			FrameType: proto.Uint32(1),
		}, Options{CDR: cdr})
		if h := r.header(); h.stamp != now+1 || h.frame != "outer" {
			t.Errorf("header %+v", h)
		}
		if format, data := string(r.String()), string(r.Bytes()); format != "rgb8; jpeg compressed bgr8" || data != "jpeg" {
			t.Error(format, data)
		}
		r.end()
	})
}

func point(x, y, z, yaw float64) (*basicmsgs.Point3D, *basicmsgs.Quaternion) {
	return &basicmsgs.Point3D{X: &x, Y: &y, Z: &z}, &basicmsgs.Quaternion{Qx: proto.Float64(0), Qy: proto.Float64(0),
		Qz: proto.Float64(math.Sin(yaw / 2)), Qw: proto.Float64(math.Cos(yaw / 2))}
}

func p3(x, y, z float64) *basicmsgs.Point3D { p, _ := point(x, y, z, 0); return p }

func TestImu(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		m := &sensormsgs.Imu{Header: &basicmsgs.Header{TimestampSec: proto.Float64(1700000000.25)},
			MeasurementTime: proto.Float64(1), LinearAcceleration: p3(1, 2, 3), AngularVelocity: p3(4, 5, 6)}
		r := toROS(t, m, Options{CDR: cdr})
		if h := r.header(); h.stamp != 1700000000*second+second/4 || h.frame != "" {
			t.Errorf("header %+v", h)
		}
		none, known := []float64{-1, 0, 0, 0, 0, 0, 0, 0, 0}, make([]float64, 9)
		near(t, "orientation", r.floats(4), 0, 0, 0, 1)
		near(t, "its covariance", r.floats(9), none...)
		near(t, "rate", r.floats(3), 4, 5, 6)
		near(t, "its covariance", r.floats(9), known...)
		near(t, "acceleration", r.floats(3), 1, 2, 3)
		near(t, "its covariance", r.floats(9), known...)
		r.end()

		r = toROS(t, m, Options{CDR: cdr, Frames: FramesREP103})
		r.header()
		r.floats(13)
		near(t, "rate", r.floats(3), 5, -4, 6)
		r.floats(9)
		near(t, "acceleration", r.floats(3), 2, -1, 3)

		m.LinearAcceleration = nil
		r = toROS(t, m, Options{CDR: cdr})
		r.header()
		r.floats(13 + 12)
		near(t, "no acceleration", r.floats(12), append([]float64{math.NaN(), math.NaN(), math.NaN()}, none...)...)
	})
}

func TestCorrectedImuOrientation(t *testing.T) {
	yaw := 0.3
	_, q := point(0, 0, 0, yaw)
	euler := fromEuler(vec{0.1, 0.2, yaw})
	half := math.Sqrt2 / 2
	for name, c := range map[string]struct {
		pose *localizationmsgs.Pose
		want quat
		none bool
	}{
		"quaternion": {&localizationmsgs.Pose{Orientation: q, EulerAngles: p3(1, 1, 1)},
			quat{0, 0, math.Sin(yaw / 2), math.Cos(yaw / 2)}, false},
		"qw derived": {&localizationmsgs.Pose{Orientation: &basicmsgs.Quaternion{Qx: proto.Float64(0), Qy: proto.Float64(0),
			Qz: proto.Float64(half)}}, quat{0, 0, half, half}, false},
		"euler": {&localizationmsgs.Pose{EulerAngles: p3(0.1, 0.2, yaw)}, euler, false},
		"euler, nan q": {&localizationmsgs.Pose{Orientation: &basicmsgs.Quaternion{Qw: proto.Float64(math.NaN())},
			EulerAngles: p3(0.1, 0.2, yaw)}, euler, false},
		"euler, quaternion 0": {&localizationmsgs.Pose{Orientation: &basicmsgs.Quaternion{Qx: proto.Float64(0),
			Qy: proto.Float64(0), Qz: proto.Float64(0), Qw: proto.Float64(0)},
			EulerAngles: p3(0.1, 0.2, yaw)}, euler, false},
		"none": {&localizationmsgs.Pose{}, quat{w: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, frames := range []Frames{FramesApollo, FramesREP103} {
				r := toROS(t, &localizationmsgs.CorrectedImu{Imu: c.pose}, Options{Frames: frames})
				r.header()
				want, first := c.want, 0.0
				if c.none {
					first = -1
				} else if frames == FramesREP103 {
					want = want.mul(quarter)
				}
				near(t, "orientation", r.floats(4), want.x, want.y, want.z, want.w)
				near(t, "covariance", r.floats(1), first)
			}
		})
	}
}

func TestTransforms(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		at, rot := point(1, 2, 3, 0.5)
		r := toROS(t, &transformmsgs.TransformStampeds{
			Header: &basicmsgs.Header{TimestampSec: proto.Float64(100)},
			Transforms: []*transformmsgs.TransformStamped{
				{Header: &basicmsgs.Header{TimestampSec: proto.Float64(50), FrameId: proto.String("world")},
					ChildFrameId: proto.String("a"),
					Transform:    &transformmsgs.Transform{Translation: at, Rotation: rot}},
				{ChildFrameId: proto.String("b")},
			}}, Options{CDR: cdr, Frames: FramesREP103})
		if n := r.U32(); n != 2 {
			t.Fatal(n, "transforms")
		}
		if h := r.header(); h.stamp != 50*second || h.frame != "world" || string(r.String()) != "a" {
			t.Errorf("first %+v", h)
		}
		near(t, "first", r.floats(7), 1, 2, 3, 0, 0, math.Sin(0.25), math.Cos(0.25))
		if h := r.header(); h.stamp != 100*second || h.frame != "" || string(r.String()) != "b" {
			t.Errorf("second %+v", h)
		}
		nan := math.NaN()
		near(t, "second", r.floats(7), nan, nan, nan, nan, nan, nan, nan)
		r.end()

		r = toROS(t, &transformmsgs.TransformStampeds{Transforms: []*transformmsgs.TransformStamped{{}}}, Options{CDR: cdr})
		if r.U32(); r.header().stamp != 0 {
			t.Error("a static transform has a stamp")
		}
	})
}

func TestFix(t *testing.T) {
	status := func(s sensormsgs.SolutionStatus) *sensormsgs.SolutionStatus { return &s }
	for _, c := range []struct {
		typ    sensormsgs.SolutionType
		status sensormsgs.SolutionStatus
		want   int8
	}{
		{0, 0, -1}, {16, 0, 0}, {16, 1, -1}, {18, 0, 1}, {52, 0, 1}, {48, 0, 2}, {49, 0, 2}, {50, 0, 2}, {56, 0, 2}, {55, 0,
			0}, {50, 18, -1},
	} {
		bothWires(t, func(t *testing.T, cdr bool) {
			r := toROS(t, &sensormsgs.GnssBestPose{SolType: &c.typ, SolStatus: status(c.status), Latitude: proto.Float64(1),
				Longitude: proto.Float64(2),
				HeightMsl: proto.Float64(10), Undulation: proto.Float32(-0.5), LatitudeStdDev: proto.Float32(2),
				LongitudeStdDev: proto.Float32(3), HeightStdDev: proto.Float32(4)},
				Options{CDR: cdr})
			r.header()
			if got, service := int8(r.U8()), r.U16(); got != c.want || service != 1 {
				t.Errorf("%v %v: status %d service %d", c.typ, c.status, got, service)
			}
			near(t, "place", r.floats(3), 1, 2, 9.5)
			near(t, "covariance", r.floats(9), diag(9, 4, 16)...)
			if kind := r.U8(); kind != 2 {
				t.Error("covariance type", kind)
			}
			r.end()
		})
	}
}

func TestTypes(t *testing.T) {
	for proto, ros := range map[string]string{
		"apollo.drivers.Image": "sensor_msgs/Image", "apollo.drivers.gnss.Imu": "sensor_msgs/Imu",
		"apollo.localization.CorrectedImu": "sensor_msgs/Imu",
		"apollo.localization.Gps":          "nav_msgs/Odometry", "apollo.canbus.Chassis": "", "": "",
	} {
		if got := ROSType(proto); got != ros {
			t.Errorf("%s becomes %q", proto, got)
		}
	}
	for ros, proto := range map[string]string{
		"sensor_msgs/Imu":   "apollo.localization.CorrectedImu",
		"nav_msgs/Odometry": "apollo.localization.LocalizationEstimate",
		"tf/tfMessage":      "apollo.transform.TransformStampeds", "tf2_msgs/TFMessage": "apollo.transform.TransformStampeds",
		"std_msgs/String": "",
	} {
		if got := ProtoType(ros); got != proto {
			t.Errorf("%s becomes %q", ros, got)
		}
	}
	if _, err := ToROS(protoapollo.Message("apollo.common.Header"), Options{}); err == nil {
		t.Error("a header alone is converted")
	}
	if _, err := FromROS(standard("sensor_msgs/Imu", Options{}), protoapollo.Message("apollo.drivers.Image"),
		Options{}); err == nil {
		t.Error("an IMU becomes an image")
	}
}

func TestDropped(t *testing.T) {
	for name, want := range map[string][]string{
		"apollo.drivers.Image": {"header.frame_id", "header.lidar_timestamp", "header.module_name", "header.radar_timestamp",
			"header.status",
			"header.timestamp_sec", "header.version", "measurement_time"},
		"apollo.drivers.gnss.GnssBestPose": {"base_station_id", "datum_id", "differential_age", "header.camera_timestamp",
			"header.module_name",
			"header.radar_timestamp", "header.status", "header.version", "measurement_time", "num_sats_in_solution",
			"num_sats_tracked", "solution_age"},
		"apollo.transform.TransformStampeds": {"header", "transforms.header.camera_timestamp",
			"transforms.header.module_name",
			"transforms.header.radar_timestamp", "transforms.header.status", "transforms.header.version"},
	} {
		p, err := ToROS(protoapollo.Message(name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Dropped(), want) {
			t.Errorf("%s: %q", name, p.Dropped())
		}
	}
	p, err := ToROS(protoapollo.Message("apollo.transform.TransformStampeds"), Options{CDR: true})
	if err != nil || !slices.Contains(p.Dropped(), "transforms.header.sequence_num") {
		t.Error(err, p.Dropped())
	}
	p, err = ToROS(vendorCloud(t), Options{})
	if err != nil || !slices.Contains(p.Dropped(), "point.label") {
		t.Error(err, p.Dropped())
	}
	for name, want := range map[string][]string{
		"apollo.localization.Gps": {"child_frame_id", "pose.covariance", "twist.covariance"},
		"apollo.drivers.gnss.Imu": {"angular_velocity_covariance", "linear_acceleration_covariance", "orientation",
			"orientation_covariance"},
		"apollo.drivers.PointCloud": {"fields: all but x, y, z, intensity, timestamp (time, t, offset) and ring",
			"points.intensity: fractions", "points.ring"},
	} {
		p, err := FromROS(standard(ROSType(name), Options{}), protoapollo.Message(name), Options{})
		if err != nil || !slices.Equal(p.Dropped(), want) {
			t.Errorf("%s: %v %q", name, err, p.Dropped())
		}
	}
}

// TestOtherDescriptors refuses what has no sense, and takes what lacks only
// fields that it can do without.
func TestOtherDescriptors(t *testing.T) {
	edit := func(field string, f func(m *descriptorpb.DescriptorProto, i int)) protoreflect.MessageDescriptor {
		return vendorFile(t, "apollo.drivers.Image", func(file *descriptorpb.FileDescriptorProto) {
			for _, m := range file.MessageType {
				for i, fd := range m.Field {
					if m.GetName() == "Image" && fd.GetName() == field {
						f(m, i)
						return
					}
				}
			}
		})
	}
	remove := func(m *descriptorpb.DescriptorProto, i int) { m.Field = slices.Delete(m.Field, i, i+1) }
	if _, err := ToROS(edit("data", remove), Options{}); err == nil || !strings.Contains(err.Error(), "no field data") {
		t.Error("an image without data:", err)
	}
	for _, name := range []string{"header", "frame_id", "encoding", "step", "measurement_time"} {
		p, err := ToROS(edit(name, remove), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.AppendAt(nil, nil, now); err != nil || newReader(t, out, false).header().stamp != now {
			t.Error(name, err)
		}
		if from, err := FromROS(standard("sensor_msgs/Image", Options{}), edit(name, remove), Options{}); err != nil ||
			name == "encoding" && !slices.Contains(from.Dropped(), "encoding") {
			t.Error(name, err)
		}
	}
	for name, kind := range map[string]descriptorpb.FieldDescriptorProto_Type{
		"height": descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, "encoding": descriptorpb.FieldDescriptorProto_TYPE_INT32,
		"measurement_time": descriptorpb.FieldDescriptorProto_TYPE_UINT64,
		"data":             descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	} {
		md := edit(name, func(m *descriptorpb.DescriptorProto, i int) { m.Field[i].Type = kind.Enum() })
		if _, err := ToROS(md, Options{}); err == nil || !strings.Contains(err.Error(), "expected kind") {
			t.Error(name, err)
		}
	}
	repeated := edit("step", func(m *descriptorpb.DescriptorProto, i int) {
		m.Field[i].Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	})
	if _, err := ToROS(repeated, Options{}); err == nil {
		t.Error("a list of steps is taken")
	}
}

// TestMalformed cuts messages at every byte, and changes their lengths.
func TestMalformed(t *testing.T) {
	for _, m := range testMessages() {
		if len(testBytes(t, m)) > 10000 {
			m = testCloud(3, 2)
		}
		b := testBytes(t, m)
		p, err := ToROS(m.ProtoReflect().Descriptor(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for n := range len(b) {
			dst, err := p.AppendAt([]byte("old"), b[:n], now)
			if string(dst[:3]) != "old" {
				t.Fatal("old bytes are overwritten")
			}
			if err != nil {
				if failed++; len(dst) != 3 || !errors.Is(err, ErrMalformed) {
					t.Fatal(len(dst), err)
				}
			}
		}
		if failed < len(b)/2 {
			t.Errorf("%T: only %d of %d cut messages are refused", m, failed, len(b))
		}
	}
}

func testBytes(t testing.TB, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
