package apollo

import (
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	basicmsgs "github.com/bagconv/bagconv/proto/apollo/basic_msgs"
	localizationmsgs "github.com/bagconv/bagconv/proto/apollo/localization_msgs"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
	transformmsgs "github.com/bagconv/bagconv/proto/apollo/transform_msgs"
)

// testCloud is a cloud of n points as a lidar of Apollo sends it; every nan-th
// point is not a number.
func testCloud(n, nan int) *sensormsgs.PointCloud {
	r := rand.New(rand.NewPCG(1, 2))
	m := &sensormsgs.PointCloud{Header: testHeader(), FrameId: proto.String("velodyne128"), IsDense: proto.Bool(false),
		MeasurementTime: proto.Float64(float64(now) / 1e9), Width: proto.Uint32(uint32(n)), Height: proto.Uint32(1)}
	m.Header.LidarTimestamp = proto.Uint64(uint64(now))
	points := make([]sensormsgs.PointXYZIT, n)
	for i := range points {
		p := &points[i]
		x, y, z := float32(r.NormFloat64()*30), float32(r.NormFloat64()*30), float32(r.NormFloat64())
		if nan > 0 && i%nan == nan-1 {
			x, y, z = float32(math.NaN()), float32(math.NaN()), float32(math.NaN())
		}
		p.X, p.Y, p.Z = &x, &y, &z
		p.Intensity, p.Timestamp = proto.Uint32(r.Uint32N(256)), proto.Uint64(uint64(now)-uint64(n-i)*833)
		m.Point = append(m.Point, p)
	}
	return m
}

func testHeader() *basicmsgs.Header {
	return &basicmsgs.Header{TimestampSec: proto.Float64(float64(now) / 1e9), ModuleName: proto.String("driver"),
		SequenceNum: proto.Uint32(12),
		FrameId:     proto.String("imu"), Version: proto.Uint32(1)}
}

// testMessages is a message of each type, all fields set.
func testMessages() map[string]proto.Message {
	at, q := point(1, 2, 3, 0.5)
	pose := &localizationmsgs.Pose{Position: &basicmsgs.PointENU{X: at.X, Y: at.Y, Z: at.Z}, Orientation: q,
		LinearVelocity: at, LinearAcceleration: at,
		AngularVelocity: at, Heading: proto.Float64(1), LinearAccelerationVrf: at, AngularVelocityVrf: at, EulerAngles: at}
	tf := &transformmsgs.TransformStampeds{Header: testHeader()}
	for range 20 {
		tf.Transforms = append(tf.Transforms, &transformmsgs.TransformStamped{Header: testHeader(),
			ChildFrameId: proto.String("localization"),
			Transform:    &transformmsgs.Transform{Translation: at, Rotation: q}})
	}
	status, typ := sensormsgs.SolutionStatus_SOL_COMPUTED, sensormsgs.SolutionType_NARROW_INT
	f := proto.Float32(0.25)
	return map[string]proto.Message{
		"Image": &sensormsgs.Image{Header: testHeader(), FrameId: proto.String("front"), Height: proto.Uint32(1080),
			Width:           proto.Uint32(1920),
			MeasurementTime: proto.Float64(1700000000), Encoding: proto.String("rgb8"), Step: proto.Uint32(5760),
			Data: make([]byte, 1080*5760)},
		"CompressedImage": &sensormsgs.CompressedImage{Header: testHeader(), FrameId: proto.String("front"),
			Format: proto.String("jpeg"), Data: make([]byte, 300000)},
		"PointCloud": testCloud(120000, 97),
		"Imu": &sensormsgs.Imu{Header: testHeader(), MeasurementTime: proto.Float64(1384035218),
			LinearAcceleration: at, AngularVelocity: at},
		"CorrectedImu": &localizationmsgs.CorrectedImu{Header: testHeader(), Imu: pose},
		"GnssBestPose": &sensormsgs.GnssBestPose{Header: testHeader(), MeasurementTime: proto.Float64(1384035218),
			SolStatus: &status, SolType: &typ,
			Latitude: proto.Float64(37.5), Longitude: proto.Float64(-122), HeightMsl: proto.Float64(30), Undulation: f,
			LatitudeStdDev: f, LongitudeStdDev: f, HeightStdDev: f},
		"LocalizationEstimate": &localizationmsgs.LocalizationEstimate{Header: testHeader(), Pose: pose,
			MeasurementTime: proto.Float64(1700000000),
			Uncertainty: &localizationmsgs.Uncertainty{PositionStdDev: at, OrientationStdDev: at, LinearVelocityStdDev: at,
				LinearAccelerationStdDev: at, AngularVelocityStdDev: at}},
		"Gps":               &localizationmsgs.Gps{Header: testHeader(), Localization: pose},
		"TransformStampeds": tf,
	}
}

type program interface {
	AppendAt(dst, src []byte, logTime int64) ([]byte, error)
}

func run(b *testing.B, p program, src []byte) []byte {
	dst, err := p.AppendAt(nil, src, now)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if dst, err = p.AppendAt(dst[:0], src, now); err != nil {
			b.Fatal(err)
		}
	}
	return dst
}

func BenchmarkToROS(b *testing.B) {
	for name, m := range testMessages() {
		src, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		for wire, cdr := range map[string]bool{"ros1": false, "cdr": true} {
			b.Run(name+"/"+wire, func(b *testing.B) {
				p, err := ToROS(m.ProtoReflect().Descriptor(), Options{CDR: cdr})
				if err != nil {
					b.Fatal(err)
				}
				run(b, p, src)
			})
		}
	}
}

func BenchmarkFromROS(b *testing.B) {
	for name, m := range testMessages() {
		src, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		md := m.ProtoReflect().Descriptor()
		for wire, cdr := range map[string]bool{"ros1": false, "cdr": true} {
			b.Run(name+"/"+wire, func(b *testing.B) {
				to, err := ToROS(md, Options{CDR: cdr})
				if err != nil {
					b.Fatal(err)
				}
				msg, err := to.AppendAt(nil, src, now)
				if err != nil {
					b.Fatal(err)
				}
				p, err := FromROS(standard(ROSType(string(md.FullName())), Options{CDR: cdr}), md, Options{CDR: cdr})
				if err != nil {
					b.Fatal(err)
				}
				run(b, p, msg)
			})
		}
	}
}

// BenchmarkCloudLongWay is a cloud whose descriptor has other numbers.
func BenchmarkCloudLongWay(b *testing.B) {
	md := vendorCloud(b)
	own := protoapollo.Message("apollo.drivers.PointCloud")
	src, _ := proto.Marshal(testCloud(120000, 97))
	to, _ := ToROS(own, Options{})
	msg, _ := to.AppendAt(nil, src, now)
	from, err := FromROS(standard("sensor_msgs/PointCloud2", Options{}), md, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("FromROS", func(b *testing.B) { src = run(b, from, msg) })
	b.Run("ToROS", func(b *testing.B) {
		p, err := ToROS(md, Options{})
		if err != nil {
			b.Fatal(err)
		}
		run(b, p, src)
	})
}

// TestNoAllocations: nothing is allocated per message once dst is large
// enough.
func TestNoAllocations(t *testing.T) {
	for name, m := range testMessages() {
		src, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		md := m.ProtoReflect().Descriptor()
		for _, o := range []Options{{}, {CDR: true}, {Frames: FramesREP103}} {
			to, err := ToROS(md, o)
			if err != nil {
				t.Fatal(err)
			}
			msg, err := to.AppendAt(nil, src, now)
			if err != nil {
				t.Fatal(err)
			}
			from, err := FromROS(standard(ROSType(string(md.FullName())), o), md, o)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, 0, 8<<20)
			for what, c := range map[string]struct {
				p   program
				src []byte
			}{"to ROS": {to, src}, "from ROS": {from, msg}} {
				if n := testing.AllocsPerRun(5, func() { _, _ = c.p.AppendAt(dst, c.src, now) }); n > 0 {
					t.Errorf("%s %s: %v allocations", name, what, n)
				}
			}
		}
	}
}
