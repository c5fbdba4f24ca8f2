package apollo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	localizationmsgs "github.com/bagconv/bagconv/proto/apollo/localization_msgs"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
)

// rosWriter writes messages for tests.
type rosWriter struct{ ros.Writer }

func newWriter(cdr bool) *rosWriter { return &rosWriter{ros.NewWriter(nil, cdr)} }

func (w *rosWriter) header(seq uint32, stamp int64, frame string) *rosWriter {
	if !w.CDR() {
		w.U32(seq)
	}
	w.Time(stamp)
	w.String([]byte(frame))
	return w
}

func (w *rosWriter) floats(x ...float64) *rosWriter {
	for _, f := range x {
		w.F64(f)
	}
	return w
}

// diag returns an n x n matrix.
func diag(x ...float64) []float64 {
	out := make([]float64, len(x)*len(x))
	for i, d := range x {
		out[i*len(x)+i] = d
	}
	return out
}

// standard returns the definition of a ROS type, spelled as in ROS 1, on the ROS side of a program.
func standard(ros string, o Options) *schema.Message {
	distro, dialect := "noetic", rosmsg.ROS1
	if o.CDR {
		distro, dialect, ros = "humble", rosmsg.ROS2, strings.Replace(ros, "/", "/msg/", 1)
	}
	msg, err := rosmsg.Parse(ros, nil, dialect, func(name string) (string, bool) { return builtin.Lookup(distro, name) })
	if err != nil {
		panic(err)
	}
	return msg
}

// fromROS converts b into m.
func fromROS(t *testing.T, ros string, b []byte, m proto.Message, o Options) {
	t.Helper()
	p, err := FromROS(standard(ros, o), m.ProtoReflect().Descriptor(), o)
	if err != nil {
		t.Fatal(err)
	}
	prefix := []byte("prefix")
	out, err := p.AppendAt(slices.Clone(prefix), b, now)
	if err != nil {
		t.Fatal(err)
	}
	if string(out[:len(prefix)]) != string(prefix) {
		t.Fatal("what dst had is overwritten")
	}
	out = out[len(prefix):]
	if err := proto.Unmarshal(out, m); err != nil {
		t.Fatal(err)
	}
	canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if string(canonical) != string(out) {
		t.Fatalf("not canonical:\n%x\n%x", out, canonical)
	}
}

// again converts b to md and back.
func again(t *testing.T, ros string, md protoreflect.MessageDescriptor, b []byte, o Options) []byte {
	t.Helper()
	p, err := FromROS(standard(ros, o), md, o)
	if err != nil {
		t.Fatal(err)
	}
	mid, err := p.AppendAt(nil, b, now)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ToROS(md, o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := q.AppendAt(nil, mid, now)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeTestImu(cdr bool, stamp int64, turned bool) []byte {
	w := newWriter(cdr).header(3, stamp, "imu").floats(0.5, 0.5, -0.5, 0.5)
	if turned {
		w.floats(diag(0, 0, 0)...)
	} else {
		w.floats(diag(-1, 0, 0)...)
	}
	return w.floats(1, 2, 3).floats(diag(0, 0, 0)...).floats(4, 5, 6).floats(diag(0, 0, 0)...).Buf
}

func writeTestOdometry(cdr bool, stamp int64) []byte {
	w := newWriter(cdr).header(3, stamp, "map")
	w.String([]byte("localization"))
	return w.floats(500000.5, 4000000.25, 30, 0.5, 0.5, -0.5, 0.5).floats(diag(1, 4, 9, 16, 25, 36)...).
		floats(1, 2, 3, 4, 5, 6).floats(diag(0.25, 1, 4, 9, 16, 25)...).Buf
}

func TestImuBack(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		var g sensormsgs.Imu
		fromROS(t, "sensor_msgs/Imu", writeTestImu(cdr, now, true), &g, Options{CDR: cdr})
		near(t, "time", []float64{g.GetHeader().GetTimestampSec(), g.GetMeasurementTime()}, 1700000000.123456789,
			1700000000.123456789-315964800+18)
		near(t, "rate", []float64{g.AngularVelocity.GetX(), g.AngularVelocity.GetY(), g.AngularVelocity.GetZ()}, 1, 2, 3)
		near(t, "acceleration", []float64{g.LinearAcceleration.GetX(), g.LinearAcceleration.GetY(),
			g.LinearAcceleration.GetZ()}, 4, 5, 6)
		if g.GetHeader().GetFrameId() != "imu" || (g.Header.SequenceNum != nil) == cdr ||
			g.GetHeader().GetLidarTimestamp() != uint64(now) {
			t.Errorf("header %v", g.Header)
		}
		var c localizationmsgs.CorrectedImu
		fromROS(t, "sensor_msgs/Imu", writeTestImu(cdr, now, true), &c, Options{CDR: cdr, Frames: FramesREP103})
		near(t, "rate", []float64{c.Imu.AngularVelocity.GetX(), c.Imu.AngularVelocity.GetY(), c.Imu.AngularVelocity.GetZ()},
			-2, 1, 3)
		q := quat{c.Imu.Orientation.GetQx(), c.Imu.Orientation.GetQy(), c.Imu.Orientation.GetQz(), c.Imu.Orientation.GetQw()}
		q = q.mul(quarter)
		near(t, "orientation", []float64{q.x, q.y, q.z, q.w}, 0.5, 0.5, -0.5, 0.5)
	})
}

// TestRoundTripROS goes from ROS to Apollo and back: what comes back is the same
// but for what is listed as dropped, which these messages do not have.
func TestRoundTripROS(t *testing.T) {
	for name, c := range map[string]struct {
		ros, proto string
		write      func(cdr bool) []byte
	}{
		"imu": {"sensor_msgs/Imu", "apollo.localization.CorrectedImu",
			func(cdr bool) []byte { return writeTestImu(cdr, now, true) }},
		"corrected, no orientation": {"sensor_msgs/Imu", "apollo.localization.CorrectedImu", func(cdr bool) []byte {
			w := newWriter(cdr).header(3, now+1, "imu").floats(0, 0, 0, 1).floats(diag(-1, 0, 0)...)
			return w.floats(1, 2, 3).floats(diag(0, 0, 0)...).floats(4, 5, 6).floats(diag(0, 0, 0)...).Buf
		}},
		"gnss imu": {"sensor_msgs/Imu", "apollo.drivers.gnss.Imu", func(cdr bool) []byte {
			w := newWriter(cdr).header(3, now+2, "imu").floats(0, 0, 0, 1).floats(diag(-1, 0, 0)...)
			return w.floats(1, 2, 3).floats(diag(0, 0, 0)...).floats(4, 5, 6).floats(diag(0, 0, 0)...).Buf
		}},
		"odometry": {"nav_msgs/Odometry", "apollo.localization.LocalizationEstimate",
			func(cdr bool) []byte { return writeTestOdometry(cdr, now) }},
		"image": {"sensor_msgs/Image", "apollo.drivers.Image", func(cdr bool) []byte {
			w := newWriter(cdr).header(9, now, "cam")
			w.U32(2)
			w.U32(3)
			w.String([]byte("mono8"))
			w.U8(0)
			w.U32(4)
			w.Bytes([]byte("12345678"))
			return w.Buf
		}},
		"compressed": {"sensor_msgs/CompressedImage", "apollo.drivers.CompressedImage", func(cdr bool) []byte {
			w := newWriter(cdr).header(9, now, "")
			w.String([]byte("png"))
			w.Bytes([]byte("data"))
			return w.Buf
		}},
		"fix": {"sensor_msgs/NavSatFix", "apollo.drivers.gnss.GnssBestPose", func(cdr bool) []byte {
			w := newWriter(cdr).header(9, now, "gps")
			w.U8(2)
			w.U16(1)
			w.floats(37.5, -122.25, 30).floats(diag(4, 9, 16)...)
			w.U8(2)
			return w.Buf
		}},
		"no fix": {"sensor_msgs/NavSatFix", "apollo.drivers.gnss.GnssBestPose", func(cdr bool) []byte {
			w := newWriter(cdr).header(9, now, "gps")
			w.U8(0xff)
			w.U16(1)
			w.floats(0, 0, 0).floats(diag(0, 0, 0)...)
			w.U8(0)
			return w.Buf
		}},
		"tf": {"tf2_msgs/TFMessage", "apollo.transform.TransformStampeds", func(cdr bool) []byte {
			w := newWriter(cdr)
			w.U32(3)
			for i, stamp := range []int64{0, now, now + 1} {
				w.header(uint32(i), stamp, "world")
				w.String([]byte("child"))
				w.floats(1, 2, 3, 0.5, 0.5, 0.5, 0.5)
			}
			return w.Buf
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, cdr bool) {
				b := c.write(cdr)
				got := again(t, c.ros, protoapollo.Message(c.proto), b, Options{CDR: cdr})
				if string(got) != string(b) {
					t.Errorf("\n%x\n%x", b, got)
				}
			})
		})
	}
}

func TestOdometryRoundTripREP103(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		b := writeTestOdometry(cdr, now)
		o := Options{CDR: cdr, Frames: FramesREP103}
		for _, proto := range []string{"apollo.localization.LocalizationEstimate", "apollo.localization.Gps"} {
			got := newReader(t, again(t, "nav_msgs/Odometry", protoapollo.Message(proto), b, o), cdr)
			if h := got.header(); h.stamp != now {
				t.Error("stamp", h.stamp)
			}
			if child := string(got.String()); child != "base_link" {
				t.Error("child", child)
			}
			near(t, "pose", got.floats(7), 500000.5, 4000000.25, 30, 0.5, 0.5, -0.5, 0.5)
			cov := got.floats(36)
			near(t, "twist", got.floats(6), 1, 2, 3, 4, 5, 6)
			twist := got.floats(36)
			if proto == "apollo.localization.Gps" {
				near(t, "covariance", cov, make([]float64, 36)...)
				continue
			}
			near(t, "covariance", cov, diag(1, 4, 9, 16, 25, 36)...)
			near(t, "covariance", twist, diag(0.25, 1, 4, 9, 16, 25)...)
			got.end()
		}
	})
}

func TestOdometryREP103(t *testing.T) {
	// The vehicle looks north-west, drives forward at 2 m/s and turns left.
	yaw := 3 * math.Pi / 4
	apollo := fromHeading(yaw)
	east, north := 2*math.Cos(yaw), 2*math.Sin(yaw)
	pose := &localizationmsgs.Pose{Position: nil, LinearVelocity: p3(east, north, 0), AngularVelocity: p3(0, 0, 0.5),
		Heading: proto.Float64(yaw)}
	r := toROS(t, &localizationmsgs.LocalizationEstimate{Pose: pose}, Options{Frames: FramesREP103})
	if h := r.header(); h.frame != "world" || string(r.String()) != "base_link" {
		t.Error(h)
	}
	near(t, "position", r.floats(3), math.NaN(), math.NaN(), 0)
	near(t, "orientation", r.floats(4), 0, 0, math.Sin(yaw/2), math.Cos(yaw/2))
	r.floats(36)
	near(t, "twist", r.floats(6), 2, 0, 0, 0, 0, 0.5)

	r = toROS(t, &localizationmsgs.LocalizationEstimate{Pose: pose}, Options{})
	r.header()
	r.String()
	near(t, "pose", r.floats(7), math.NaN(), math.NaN(), 0, apollo.x, apollo.y, apollo.z, apollo.w)
	r.floats(36)
	near(t, "twist", r.floats(6), east, north, 0, 0, 0, 0.5)
	if h := apollo.heading(); math.Abs(h-yaw) > 1e-12 {
		t.Error("heading", h)
	}
}

// TestMalformedROS cuts messages at every byte.
func TestMalformedROS(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		o := Options{CDR: cdr}
		for _, m := range seeds(t) {
			md := m.ProtoReflect().Descriptor()
			to, err := ToROS(md, o)
			if err != nil {
				t.Fatal(err)
			}
			b, err := to.AppendAt(nil, testBytes(t, m), now)
			if err != nil {
				t.Fatal(err)
			}
			p, err := FromROS(standard(ROSType(string(md.FullName())), o), md, o)
			if err != nil {
				t.Fatal(err)
			}
			for n := range len(b) {
				if out, err := p.AppendAt([]byte("old"), b[:n], now); !errors.Is(err, ErrMalformed) || string(out) != "old" {
					t.Fatalf("%T cut to %d of %d bytes: %v", m, n, len(b), err)
				}
			}
			if _, err := p.AppendAt(nil, append(slices.Clone(b), 0), now); (err == nil) != cdr {
				t.Errorf("%T with a byte more: %v", m, err)
			}
		}
	})
}

// TestOtherCDR reads CDR in big endian.
func TestOtherCDR(t *testing.T) {
	b := []byte{0, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, uint32(now/second))
	b = binary.BigEndian.AppendUint32(b, uint32(now%second))
	b = append(binary.BigEndian.AppendUint32(b, 4), "cam\x00"...)
	b = append(binary.BigEndian.AppendUint32(b, 5), "jpeg\x00\x00\x00\x00"...)
	b = append(binary.BigEndian.AppendUint32(b, 3), "abc"...)
	var m sensormsgs.CompressedImage
	fromROS(t, "sensor_msgs/CompressedImage", b, &m, Options{CDR: true})
	if m.GetFrameId() != "cam" || m.GetFormat() != "jpeg" || string(m.GetData()) != "abc" ||
		m.GetHeader().GetCameraTimestamp() != uint64(now) {
		t.Error(&m)
	}
	b[1] = 2
	p, err := FromROS(standard("sensor_msgs/CompressedImage", Options{CDR: true}), m.ProtoReflect().Descriptor(),
		Options{CDR: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.AppendAt(nil, b, now); !errors.Is(err, ErrMalformed) {
		t.Error("a parameter list is read:", err)
	}
}

// clearPath removes the field of a path, in all elements of lists.
func clearPath(m protoreflect.Message, path string) {
	name, rest, more := strings.Cut(path, ".")
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(name))
	switch {
	case !more:
		m.Clear(fd)
	case fd.IsList():
		for i := range m.Get(fd).List().Len() {
			clearPath(m.Get(fd).List().Get(i).Message(), rest)
		}
	case m.Has(fd):
		clearPath(m.Mutable(fd).Message(), rest)
	}
}

// within reports whether all that a has is in b, with the same value.
func within(a, b protoreflect.Message) (bad string) {
	a.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(fd.Name())
		switch {
		case !b.Has(fd) && fd.Message() != nil && !fd.IsList():
			bad = within(v.Message(), b.Get(fd).Message())
		case !b.Has(fd):
			bad = "is not set"
		case fd.IsList() && v.List().Len() != b.Get(fd).List().Len():
			bad = "has another length"
		case fd.IsList():
			for i := 0; i < v.List().Len() && bad == ""; i++ {
				bad = within(v.List().Get(i).Message(), b.Get(fd).List().Get(i).Message())
			}
		case fd.Message() != nil:
			bad = within(v.Message(), b.Get(fd).Message())
		case !v.Equal(b.Get(fd)):
			bad = fmt.Sprintf("is %v, not %v", b.Get(fd), v)
		}
		if bad != "" {
			bad = name + " " + bad
		}
		return bad == ""
	})
	return bad
}

// TestRoundTripApollo goes from Apollo to ROS and back: all that is not listed as
// dropped is there again.
func TestRoundTripApollo(t *testing.T) {
	for _, m := range seeds(t) {
		if _, ok := m.(*sensormsgs.PointCloud); ok {
			continue // TestCloudRoundTrip
		}
		bothWires(t, func(t *testing.T, cdr bool) {
			md := m.ProtoReflect().Descriptor()
			to, err := ToROS(md, Options{CDR: cdr})
			if err != nil {
				t.Fatal(err)
			}
			mid, err := to.AppendAt(nil, testBytes(t, m), now)
			if err != nil {
				t.Fatal(err)
			}
			want, got := proto.Clone(m), m.ProtoReflect().New().Interface()
			fromROS(t, ROSType(string(md.FullName())), mid, got, Options{CDR: cdr})
			for _, path := range to.Dropped() {
				clearPath(want.ProtoReflect(), path)
				clearPath(got.ProtoReflect(), path)
			}
			if fix, ok := want.(*sensormsgs.GnssBestPose); ok { // altitude is one number
				fix.HeightMsl, fix.Undulation = proto.Float64(fix.GetHeightMsl()+float64(fix.GetUndulation())), proto.Float32(0)
			}
			if bad := within(want.ProtoReflect(), got.ProtoReflect()); bad != "" {
				t.Errorf("%T: %s", m, bad)
			}
		})
	}
}
