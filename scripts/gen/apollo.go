package main

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/proto/apollo"
	basic "github.com/bagconv/bagconv/proto/apollo/basic_msgs"
	localization "github.com/bagconv/bagconv/proto/apollo/localization_msgs"
	sensor "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
	transform "github.com/bagconv/bagconv/proto/apollo/transform_msgs"
)

// The streams of a record: Apollo's messages, in protobuf.

// leap is Unix time less GPS time, in s, since 2017.
const leap = 315964800 - 18

func (r *rig) apollo() (small, large []*stream) {
	small = []*stream{
		r.stream("/tf_static", "apollo.transform.TransformStampeds", 0, 0, (*rig).apolloStatic),
		r.stream("/apollo/sensor/gnss/imu", "apollo.drivers.gnss.Imu", 200, 200_000, (*rig).apolloImu),
		r.stream("/apollo/sensor/gnss/corrected_imu", "apollo.localization.CorrectedImu", 100, 300_000,
			(*rig).apolloCorrected),
		r.stream("/apollo/sensor/gnss/best_pose", "apollo.drivers.gnss.GnssBestPose", 10, 40_000_000, (*rig).apolloFix),
		r.stream("/apollo/sensor/gnss/odometry", "apollo.localization.Gps", 10, 40_000_000, (*rig).apolloGps),
		r.stream("/apollo/localization/pose", "apollo.localization.LocalizationEstimate", 100, 400_000, (*rig).apolloPose),
		r.stream("/apollo/canbus/chassis", "apollo.canbus.Chassis", 100, 300_000, (*rig).apolloChassis),
		r.stream("/tf", "apollo.transform.TransformStampeds", 100, 400_000, (*rig).apolloTF),
	}
	large = []*stream{
		r.stream("/apollo/sensor/lidar128/PointCloud2", "apollo.drivers.PointCloud", 10, 95_000_000, (*rig).apolloCloud),
		r.stream("/apollo/sensor/camera/front_6mm/image", "apollo.drivers.Image", 5, 30_000_000, (*rig).apolloImage),
		r.stream("/apollo/sensor/camera/rear/image/compressed", "apollo.drivers.CompressedImage", 10, 30_000_000,
			(*rig).apolloCompressed),
	}
	if r.sparse {
		large[0] = r.stream("/apollo/sensor/camera/front_12mm/image", "apollo.drivers.Image", 5, 30_000_000,
			(*rig).apolloImage)
	}
	return small, large
}

// chassis is a type that has no counterpart in ROS, with a field of each shape.
var chassis = func() protoreflect.MessageDescriptor {
	field := func(n int32, name string, kind descriptorpb.FieldDescriptorProto_Type, typ string,
		repeated bool) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(n), Type: kind.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
		if typ != "" {
			f.TypeName = proto.String(typ)
		}
		if repeated {
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		return f
	}
	const (
		double = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
		float  = descriptorpb.FieldDescriptorProto_TYPE_FLOAT
		i32    = descriptorpb.FieldDescriptorProto_TYPE_INT32
		s64    = descriptorpb.FieldDescriptorProto_TYPE_SINT64
		boolT  = descriptorpb.FieldDescriptorProto_TYPE_BOOL
		str    = descriptorpb.FieldDescriptorProto_TYPE_STRING
		enum   = descriptorpb.FieldDescriptorProto_TYPE_ENUM
		msg    = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	speed := field(5, "speed_mps", float, "", false)
	speed.DefaultValue = proto.String("nan")
	signalLeft, signalRight := field(30, "turn_left", boolT, "", false), field(31, "beam", str, "", false)
	signalLeft.OneofIndex, signalRight.OneofIndex = proto.Int32(0), proto.Int32(0)
	fd, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("modules/common_msgs/chassis_msgs/chassis.proto"), Package: proto.String("apollo.canbus"),
		Dependency: []string{apollo.Message("apollo.common.Header").ParentFile().Path()},
		MessageType: []*descriptorpb.DescriptorProto{
			{
				Name: proto.String("Chassis"),
				Field: []*descriptorpb.FieldDescriptorProto{
					field(3, "engine_started", boolT, "", false), field(4, "engine_rpm", float, "", false), speed,
					field(6, "odometer_m", double, "", false), field(12, "gear", enum, ".apollo.canbus.Chassis.Gear", false),
					field(20, "wheel", msg, ".apollo.canbus.Wheel", true), field(21, "codes", i32, "", true),
					field(22, "offset_ns", s64, "", false), field(25, "header", msg, ".apollo.common.Header", false),
					signalLeft, signalRight, field(32, "notes", str, "", true),
				},
				OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: proto.String("signal")}},
				EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Gear"),
					Value: []*descriptorpb.EnumValueDescriptorProto{
						{Name: proto.String("GEAR_NEUTRAL"), Number: proto.Int32(0)}, {Name: proto.String("GEAR_DRIVE"),
							Number: proto.Int32(1)},
						{Name: proto.String("GEAR_REVERSE"), Number: proto.Int32(2)},
					}}},
			},
			{Name: proto.String("Wheel"), Field: []*descriptorpb.FieldDescriptorProto{
				field(1, "direction", i32, "", false), field(2, "speed", double, "", false),
			}},
		},
	}, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return fd.Messages().ByName("Chassis")
}()

// defineProto fills in the descriptors, with the file names that Apollo has.
func (s *stream) defineProto() (err error) {
	md := chassis
	if s.topic.Type != string(md.FullName()) {
		md = apollo.Message(s.topic.Type)
	}
	s.topic.Encoding, s.topic.Metadata = "protobuf", nil
	s.topic.Schema.Encoding = "protobuf"
	s.topic.Schema.Data, err = protoschema.FileSet(md,
		func(name string) string { return apollo.FileName(apollo.Layouts()[0], name) })
	return err
}

func (r *rig) marshal(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(r.buf[:0], m)
	if err != nil {
		panic(err)
	}
	r.buf = b
	return b
}

func (r *rig) apolloHeader(s *stream, module, frame string) *basic.Header {
	h := &basic.Header{
		TimestampSec: proto.Float64(float64(s.due-s.lag) / 1e9), ModuleName: proto.String(module),
		SequenceNum: proto.Uint32(s.count),
	}
	if frame != "" {
		h.FrameId = proto.String(frame)
	}
	return h
}

func (r *rig) point(scale float64) *basic.Point3D {
	return &basic.Point3D{
		X: proto.Float64(r.rng.NormFloat64() * scale), Y: proto.Float64(r.rng.NormFloat64() * scale),
		Z: proto.Float64(r.rng.NormFloat64() * scale),
	}
}

func quaternion(yaw float64) *basic.Quaternion {
	return &basic.Quaternion{Qx: proto.Float64(0), Qy: proto.Float64(0), Qz: proto.Float64(math.Sin(yaw / 2)),
		Qw: proto.Float64(math.Cos(yaw / 2))}
}

func (r *rig) pose(s *stream) *localization.Pose {
	t := float64(s.count) / 100
	return &localization.Pose{
		Position:    &basic.PointENU{X: proto.Float64(587000 + 8*t), Y: proto.Float64(4141000 + t), Z: proto.Float64(-31)},
		Orientation: quaternion(t / 50), Heading: proto.Float64(t/50 + math.Pi/2),
		LinearVelocity: r.point(5), LinearAcceleration: r.point(1), AngularVelocity: r.point(.1),
		LinearAccelerationVrf: r.point(1), AngularVelocityVrf: r.point(.1), EulerAngles: r.point(.1),
	}
}

func (r *rig) apolloImu(s *stream) []byte {
	return r.marshal(&sensor.Imu{
		Header: r.apolloHeader(s, "gnss", ""), MeasurementTime: proto.Float64(float64(s.due-s.lag)/1e9 - leap),
		MeasurementSpan: proto.Float32(.005), LinearAcceleration: r.point(.1), AngularVelocity: r.point(.01),
	})
}

func (r *rig) apolloCorrected(s *stream) []byte {
	return r.marshal(&localization.CorrectedImu{Header: r.apolloHeader(s, "localization", "imu"), Imu: r.pose(s)})
}

func (r *rig) apolloGps(s *stream) []byte {
	return r.marshal(&localization.Gps{Header: r.apolloHeader(s, "gnss", "world"), Localization: r.pose(s)})
}

func (r *rig) apolloPose(s *stream) []byte {
	std := &basic.Point3D{X: proto.Float64(.01), Y: proto.Float64(.02), Z: proto.Float64(.03)}
	return r.marshal(&localization.LocalizationEstimate{
		Header: r.apolloHeader(s, "localization", "world"), Pose: r.pose(s),
		MeasurementTime: proto.Float64(float64(s.due-s.lag) / 1e9),
		Uncertainty:     &localization.Uncertainty{PositionStdDev: std, OrientationStdDev: std, LinearVelocityStdDev: std},
	})
}

func (r *rig) apolloFix(s *stream) []byte {
	return r.marshal(&sensor.GnssBestPose{
		Header: r.apolloHeader(s, "gnss", ""), MeasurementTime: proto.Float64(float64(s.due-s.lag)/1e9 - leap),
		SolStatus: sensor.SolutionStatus_SOL_COMPUTED.Enum(), SolType: sensor.SolutionType_NARROW_INT.Enum(),
		Latitude: proto.Float64(37.4 + float64(s.count)*1e-7), Longitude: proto.Float64(-122.1), HeightMsl: proto.Float64(20),
		Undulation: proto.Float32(-32), LatitudeStdDev: proto.Float32(.01), LongitudeStdDev: proto.Float32(.02),
		HeightStdDev:   proto.Float32(.03),
		NumSatsTracked: proto.Uint32(20), NumSatsInSolution: proto.Uint32(18),
	})
}

func (r *rig) apolloTransforms(s *stream, children ...string) []byte {
	m := &transform.TransformStampeds{Header: r.apolloHeader(s, "tf", "")}
	for i, child := range children {
		m.Transforms = append(m.Transforms, &transform.TransformStamped{
			Header: r.apolloHeader(s, "", "localization"), ChildFrameId: proto.String(child),
			Transform: &transform.Transform{
				Translation: &basic.Point3D{X: proto.Float64(float64(i)), Y: proto.Float64(0), Z: proto.Float64(1.5)},
				Rotation:    quaternion(float64(i)),
			},
		})
	}
	return r.marshal(m)
}

func (r *rig) apolloTF(s *stream) []byte { return r.apolloTransforms(s, "novatel") }
func (r *rig) apolloStatic(s *stream) []byte {
	return r.apolloTransforms(s, "lidar128", "front_6mm", "rear", "imu")
}

// apolloChassis has no Go type: its fields are written in the order of numbers.
func (r *rig) apolloChassis(s *stream) []byte {
	header, err := proto.MarshalOptions{Deterministic: true}.Marshal(r.apolloHeader(s, "canbus", ""))
	if err != nil {
		panic(err)
	}
	b := r.buf[:0]
	varint := func(n protowire.Number, v uint64) {
		b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	varint(3, 1)
	b = protowire.AppendFixed32(protowire.AppendTag(b, 4, protowire.Fixed32Type),
		math.Float32bits(float32(1500+s.count%100)))
	if s.count%10 > 0 { // else its default, nan
		b = protowire.AppendFixed32(protowire.AppendTag(b, 5, protowire.Fixed32Type), math.Float32bits(8.25))
	}
	b = protowire.AppendFixed64(protowire.AppendTag(b, 6, protowire.Fixed64Type), math.Float64bits(float64(s.count)*.08))
	varint(12, uint64(s.count%3))
	for i := range 4 {
		wheel := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(i&1))
		wheel = protowire.AppendFixed64(protowire.AppendTag(wheel, 2, protowire.Fixed64Type),
			math.Float64bits(8.2+float64(i)))
		b = protowire.AppendBytes(protowire.AppendTag(b, 20, protowire.BytesType), wheel)
	}
	for i := range s.count % 4 {
		varint(21, uint64(i*100))
	}
	varint(22, protowire.EncodeZigZag(-int64(s.count)))
	b = protowire.AppendBytes(protowire.AppendTag(b, 25, protowire.BytesType), header)
	if s.count%2 == 0 {
		varint(30, uint64(s.count/2%2))
	} else {
		b = protowire.AppendString(protowire.AppendTag(b, 31, protowire.BytesType), "low")
	}
	r.buf = b
	return b
}

// apolloCloud is one turn of a lidar, point by point.
func (r *rig) apolloCloud(s *stream) []byte {
	stamp := uint64(s.due - s.lag)
	header := r.apolloHeader(s, "lidar128", "lidar128")
	header.LidarTimestamp = &stamp
	b := append([]byte(nil), r.marshal(&sensor.PointCloud{Header: header, FrameId: proto.String("lidar128"),
		IsDense: proto.Bool(false)})...)
	n := r.rings * r.steps
	at := int(r.rng.Uint32N(uint32(len(r.noise) - n)))
	point := make([]byte, 0, 40)
	float := func(num protowire.Number, v float64) {
		point = protowire.AppendFixed32(protowire.AppendTag(point, num, protowire.Fixed32Type), math.Float32bits(float32(v)))
	}
	for i := range r.steps {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(r.steps))
		for ring := range r.rings {
			noise := r.noise[at+i*r.rings+ring]
			d := 12 + .005*float64(noise)
			if (i*r.rings+ring)%97 == 96 {
				d = math.NaN()
			}
			point = point[:0]
			float(1, d*cos)
			float(2, d*sin)
			float(3, d*(float64(ring)/float64(r.rings)-.6))
			point = protowire.AppendVarint(protowire.AppendTag(point, 4, protowire.VarintType), uint64(noise)*30)
			point = protowire.AppendVarint(protowire.AppendTag(point, 5, protowire.VarintType),
				stamp-uint64(100_000_000-i*100_000_000/r.steps))
			b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), point)
		}
	}
	tail := r.marshal(&sensor.PointCloud{
		MeasurementTime: proto.Float64(float64(stamp) / 1e9), Width: proto.Uint32(uint32(r.steps)),
		Height: proto.Uint32(uint32(r.rings)),
	})
	return append(b, tail...)
}

func (r *rig) apolloImage(s *stream) []byte {
	px := r.pixels(s, r.camera, 3)
	stamp := uint64(s.due - s.lag)
	h := r.apolloHeader(s, "camera", "front_6mm")
	h.CameraTimestamp = &stamp
	return append([]byte(nil), r.marshal(&sensor.Image{
		Header: h, FrameId: proto.String("front_6mm"), MeasurementTime: proto.Float64(float64(stamp) / 1e9),
		Height: proto.Uint32(uint32(r.camera[1])), Width: proto.Uint32(uint32(r.camera[0])), Encoding: proto.String("rgb8"),
		Step: proto.Uint32(uint32(3 * r.camera[0])), Data: px,
	})...)
}

// apolloCompressed holds noise or zeros, with the marks of a JPEG at both ends: nobody
// looks at it here.
func (r *rig) apolloCompressed(s *stream) []byte {
	n := r.camera[0] * r.camera[1] / 10
	at := int(r.rng.Uint32N(uint32(len(r.noise) - n)))
	data := append([]byte{0xff, 0xd8}, r.noise[at:at+n]...)
	if r.sparse {
		clear(data[2:])
	}
	return r.marshal(&sensor.CompressedImage{
		Header: r.apolloHeader(s, "camera", "rear"), FrameId: proto.String("rear"),
		Format: proto.String("rgb8; jpeg compressed bgr8"),
		Data:   append(data, 0xff, 0xd9), MeasurementTime: proto.Float64(float64(s.due-s.lag) / 1e9),
	})
}
