package render

import (
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/proto"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	basicmsgs "github.com/bagconv/bagconv/proto/apollo/basic_msgs"
	transformmsgs "github.com/bagconv/bagconv/proto/apollo/transform_msgs"
	"github.com/bagconv/bagconv/schema"
)

const benchHeader = "================\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
const benchParts = "================\nMSG: t/V\nfloat64 x\nfloat64 y\nfloat64 z\n================\nMSG: t/Q\nfloat64 " +
	"x\nfloat64 y\nfloat64 z\nfloat64 w\n" +
	"================\nMSG: t/T\nHeader header\nstring child_frame_id\nV translation\nQ rotation\n"
const benchImu = "Header header\nQ orientation\nfloat64[9] orientation_covariance\nV angular_velocity\nfloat64[9] " +
	"angular_velocity_covariance\nV linear_acceleration\nfloat64[9] linear_acceleration_covariance\n"

// The types that recordings are full of, in short.
var benchTypes = []struct {
	name, text string
	n          int // elements of its lists
	o          Options
}{
	{"Imu", benchImu, 0, Options{}},
	{"Imu/yaml", benchImu, 0, Options{Style: YAML}},
	{"Imu/csv", benchImu, 0, Options{Style: CSV}},
	{"Imu/path", benchImu, 0, Options{Style: CSV, Paths: []string{"linear_acceleration.x"}}},
	{"TF", "T[] transforms\n", 20, Options{}},
	{"Scan", "Header header\nfloat32[] ranges\n", 1080, Options{Arrays: true}},
	{"Image", "Header header\nuint8[] data\n", 6_200_000, Options{}},
	{"Image/bytes", "Header header\nuint8[] data\n", 6_200_000, Options{Bytes: true}},
}

// benchMessage makes a message: covariances are zero, other numbers random.
func benchMessage(tb testing.TB, text string, n int) (*schema.Message, []byte) {
	m, err := rosmsg.Parse("t/M", []byte(text+benchHeader+benchParts), rosmsg.ROS1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	w := &writer{maker: maker{rand.New(rand.NewPCG(1, 1))}, layout: layouts["ros1"]}
	var write func(t schema.Type)
	write = func(t schema.Type) {
		switch one := (schema.Type{Kind: t.Kind, Message: t.Message}); {
		case t.Array == schema.Fixed:
			w.out = append(w.out, make([]byte, t.Len*t.Kind.Size())...)
		case t.Array != schema.Single:
			w.number(uint64(n), 4)
			for range n {
				write(one)
			}
		case t.Kind == schema.Struct:
			for _, f := range t.Message.Fields {
				write(f.Type)
			}
		case t.Kind == schema.String:
			w.number(9, 4)
			w.out = append(w.out, "base_link"...)
		case t.Kind == schema.Float64 || t.Kind == schema.Float32:
			w.value(schema.Type{Kind: t.Kind})
		default:
			w.number(w.Uint64()>>34, t.Kind.Size())
		}
	}
	write(schema.Type{Kind: schema.Struct, Message: m})
	return m, w.out
}

// BenchmarkAppend writes messages of the sizes that real ones have; bytes are
// those of the serialized message.
func BenchmarkAppend(b *testing.B) {
	for _, c := range benchTypes {
		b.Run(c.name, func(b *testing.B) {
			m, msg := benchMessage(b, c.text, c.n)
			p, err := compileROS(m, serial.ROS1, c.o)
			if err != nil {
				b.Fatal(err)
			}
			benchAppend(b, p, msg)
		})
	}
}

// BenchmarkProto writes Apollo's tf messages.
func BenchmarkProto(b *testing.B) {
	t := &transformmsgs.TransformStampeds{Header: &basicmsgs.Header{TimestampSec: proto.Float64(1.7e9 + 0.125),
		ModuleName: proto.String("tf"), SequenceNum: proto.Uint32(7)}}
	g := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		t.Transforms = append(t.Transforms, &transformmsgs.TransformStamped{
			Header:       &basicmsgs.Header{TimestampSec: proto.Float64(1.7e9 + 0.125), FrameId: proto.String("base_link")},
			ChildFrameId: proto.String("wheel_l"),
			Transform: &transformmsgs.Transform{
				Translation: &basicmsgs.Point3D{X: proto.Float64(g.NormFloat64()), Y: proto.Float64(g.NormFloat64()),
					Z: proto.Float64(0)},
				Rotation: &basicmsgs.Quaternion{Qx: proto.Float64(0), Qy: proto.Float64(0), Qz: proto.Float64(g.NormFloat64()),
					Qw: proto.Float64(g.NormFloat64())}}})
	}
	msg, err := proto.Marshal(t)
	if err != nil {
		b.Fatal(err)
	}
	p, err := compileProto(t.ProtoReflect().Descriptor(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	benchAppend(b, p, msg)
}

func benchAppend(b *testing.B, p *Program, msg []byte) {
	var out []byte
	var err error
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if out, err = p.Append(out[:0], msg); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(out)), "text-bytes")
}
