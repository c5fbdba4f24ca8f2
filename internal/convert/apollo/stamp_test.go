package apollo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	basicmsgs "github.com/bagconv/bagconv/proto/apollo/basic_msgs"
	localizationmsgs "github.com/bagconv/bagconv/proto/apollo/localization_msgs"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
)

func TestStampOrder(t *testing.T) {
	const base = 1600000000
	f, u := proto.Float64, func(ns int64) *uint64 { return proto.Uint64(uint64(ns)) }
	for name, c := range map[string]struct {
		m    proto.Message
		cdr  bool
		want int64
	}{
		"cloud: lidar": {&sensormsgs.PointCloud{MeasurementTime: f(5),
			Header: &basicmsgs.Header{TimestampSec: f(6), LidarTimestamp: u(7), CameraTimestamp: u(8)}}, false, 7},
		"cloud: lidar 0": {&sensormsgs.PointCloud{MeasurementTime: f(5),
			Header: &basicmsgs.Header{TimestampSec: f(6), LidarTimestamp: u(0), CameraTimestamp: u(8)}}, false, 5 * second},
		"cloud: publish time": {&sensormsgs.PointCloud{Header: &basicmsgs.Header{TimestampSec: f(6)}}, false,
			6 * second},
		"cloud: measured nan": {&sensormsgs.PointCloud{MeasurementTime: f(math.NaN()),
			Header: &basicmsgs.Header{TimestampSec: f(6)}}, false, 6 * second},
		"cloud: measured negative": {&sensormsgs.PointCloud{MeasurementTime: f(-1),
			Header: &basicmsgs.Header{TimestampSec: f(6)}}, false, 6 * second},
		"cloud: measured absurd": {&sensormsgs.PointCloud{MeasurementTime: f(1e30),
			Header: &basicmsgs.Header{TimestampSec: f(6)}}, false, 6 * second},
		"cloud: all absurd": {&sensormsgs.PointCloud{MeasurementTime: f(math.Inf(1)),
			Header: &basicmsgs.Header{TimestampSec: f(-3)}}, false, now},
		"year 2040 in ROS 1": {&sensormsgs.PointCloud{MeasurementTime: f(2.2e9)}, false, 2200000000 * second},
		"year 2040 in ROS 2": {&sensormsgs.PointCloud{MeasurementTime: f(2.2e9)}, true, now},
		"image: camera": {&sensormsgs.Image{Header: &basicmsgs.Header{LidarTimestamp: u(7),
			CameraTimestamp: u(8)}}, false, 8},
		"imu: gps time is not used": {&sensormsgs.Imu{MeasurementTime: f(1284035218),
			Header: &basicmsgs.Header{TimestampSec: f(base)}}, false, base * second},
		"imu: gps time as fallback": {&sensormsgs.Imu{MeasurementTime: f(base - 315964800 + 18)}, false, base * second},
		"fix: gps time in 2016": {&sensormsgs.GnssBestPose{MeasurementTime: f(1480000000 - 315964800 + 17)}, false,
			1480000000 * second},
		"imu: finer integer": {&sensormsgs.Imu{Header: &basicmsgs.Header{TimestampSec: f(base),
			RadarTimestamp: u(base*second + 900)}}, false, base*second + 900},
		"imu: other instant": {&sensormsgs.Imu{Header: &basicmsgs.Header{TimestampSec: f(base),
			LidarTimestamp: u(base*second + 2000)}}, false, base * second},
		"imu: only an integer": {&sensormsgs.Imu{Header: &basicmsgs.Header{LidarTimestamp: u(base * second)}}, false,
			base * second},
		"estimate: measured": {&localizationmsgs.LocalizationEstimate{MeasurementTime: f(base),
			Header: &basicmsgs.Header{TimestampSec: f(9)}}, false, base * second},
		"nothing": {&localizationmsgs.Gps{}, false, now},
	} {
		t.Run(name, func(t *testing.T) {
			if h := toROS(t, c.m, Options{CDR: c.cdr}).header(); h.stamp != c.want {
				t.Errorf("%d, want %d", h.stamp, c.want)
			}
		})
	}
}

// TestStampRoundTrip goes from ROS to Apollo and back, to the nanosecond.
func TestStampRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, typ := range types {
		if typ.family != correctedImu && typ.family != gnssImu && typ.family != estimate && typ.family != gps {
			continue // the others have their own test or the same rules
		}
		write := func(stamp int64) []byte { return writeTestImu(false, stamp, true) }
		if typ.family == estimate || typ.family == gps {
			write = func(stamp int64) []byte { return writeTestOdometry(false, stamp) }
		}
		for _, stamp := range []int64{1, 999, second - 1, second, now, now + 1, 4294967295*second + 999999999} {
			out := newReader(t, again(t, typ.ros, protoapollo.Message(typ.proto), write(stamp), Options{}), false)
			if got := out.header().stamp; got != stamp {
				t.Errorf("%s: %d became %d", typ.proto, stamp, got)
			}
		}
		if out := newReader(t, again(t, typ.ros, protoapollo.Message(typ.proto), write(0), Options{}),
			false); out.header().stamp != now {
			t.Error("no stamp does not become the log time")
		}
	}
	for range 100000 {
		ns := r.Int64N(1 << 62)
		var v values
		v.setStamp(estimate, ns)
		o := Options{}
		if got := v.stamp(estimate, &o); o.sane(ns) && got != ns {
			t.Fatalf("%d became %d", ns, got)
		}
	}
}

func TestSeconds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 200000 {
		ns := r.Uint64() >> (i % 64)
		if i%3 == 0 {
			ns = uint64(now) + r.Uint64N(1<<40)
		}
		want, _ := new(big.Rat).SetFrac(new(big.Int).SetUint64(ns), big.NewInt(nsPerSec)).Float64()
		if got := seconds(ns); got != want {
			t.Fatalf("%d ns are %v s, not %v", ns, want, got)
		}
		if ns < 1<<63-1 {
			if back, ok := Nanoseconds(want); ok && back != exactNanos(want) && want < 4e9 {
				t.Fatalf("%v s are %d ns, not %d", want, exactNanos(want), back)
			}
		}
	}
	for _, s := range []float64{math.NaN(), -1, math.Inf(1), math.Inf(-1), 1e300, 9.3e9} {
		if ns, ok := Nanoseconds(s); ok {
			t.Errorf("%v s are %d ns", s, ns)
		}
	}
}

func TestLeapSeconds(t *testing.T) {
	for _, c := range []struct {
		day   string
		ahead int64
	}{
		{"1998-12-01", 13}, {"1999-01-01", 13}, {"2005-12-31", 13}, {"2006-01-01", 14}, {"2009-01-01", 15}, {"2012-06-30",
			15},
		{"2012-07-01", 16}, {"2015-07-01", 17}, {"2016-12-31", 17}, {"2017-01-01", 18}, {"2024-02-29", 18},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		gps := day.UnixNano() - 315964800*second + c.ahead*second
		if got := gpsFromUnix(day.UnixNano()); got != gps {
			t.Errorf("%s: GPS time %d, want %d", c.day, got, gps)
		}
		if got := unixFromGPS(gps); got != day.UnixNano() {
			t.Errorf("%s: Unix time %d, want %d", c.day, got, day.UnixNano())
		}
	}
}

func TestEuler(t *testing.T) {
	// Level and to the north, Apollo's axes are those of the map.
	if q := fromEuler(vec{}); q != (quat{w: 1}) {
		t.Error(q)
	}
	near(t, "yaw 0 is north", []float64{fromEuler(vec{}).heading()}, math.Pi/2)
	near(t, "west", []float64{fromEuler(vec{0, 0, math.Pi / 2}).heading()}, -math.Pi)
	// Roll turns right down; pitch turns forward up.
	right, forward := vec{1, 0, 0}, vec{0, 1, 0}
	if down := fromEuler(vec{x: 0.1}).matrix().apply(right); down.z >= 0 {
		t.Error("roll", down)
	}
	if up := fromEuler(vec{y: 0.1}).matrix().apply(forward); up.z <= 0 {
		t.Error("pitch", up)
	}
	r := rand.New(rand.NewPCG(8, 9))
	for range 1000 {
		e := vec{(r.Float64() - 0.5) * 3, (r.Float64() - 0.5) * 3, (r.Float64() - 0.5) * 6}
		got := fromEuler(e).euler()
		near(t, "there and back", []float64{got.x, got.y, got.z}, e.x, e.y, e.z)
		h := (r.Float64() - 0.5) * 6
		near(t, "heading", []float64{fromHeading(h).heading()}, h)
		// REP 103: forward is x.
		q := fromEuler(e)
		a, b := q.matrix().apply(forward), q.mul(quarter).matrix().apply(vec{1, 0, 0})
		near(t, "turned", []float64{a.x, a.y, a.z}, b.x, b.y, b.z)
	}
}
