package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// A rig is a vehicle with sensors: streams of messages with a rate each.
type rig struct {
	rng     *rand.Rand
	noise   []byte // random bytes 0..7 to take slices of
	streams []*stream
	buf     []byte
	px      []byte
	sparse  bool // pixels and points are zeros

	camera       [2]int // width and height of the colour camera
	mono         [2]int
	rings, steps int // of the lidar
}

// A stream is one topic of the rig.
type stream struct {
	topic   storage.Topic
	id      storage.TopicID
	period  int64 // ns; 0: one message only
	due     int64 // log time of the next message
	lag     int64 // ns from the sensor's stamp to the recorder
	count   uint32
	quiet   [2]int64                   // from when to when it sends nothing
	message func(*rig, *stream) []byte // serialized; valid until the next call
}

const once = math.MaxInt64 / 2

// uniform returns a stream of messages of one size: an array of bytes, or nothing at all.
func (r *rig) uniform(name string, size int) *stream {
	typ := "acme_msgs/Blob"
	if size < 4 {
		typ = "std_msgs/Empty"
	}
	return r.stream(name, typ, 1000, 0, func(r *rig, _ *stream) []byte {
		r.begin()
		if size >= 4 {
			r.u32(uint32(size - 4))
			if r.sparse {
				r.zeros(size - 4)
				return r.buf
			}
			at := int(r.rng.Uint32N(1 << 20))
			for n := size - 4; n > 0; {
				b := r.noise[at:min(at+n, len(r.noise))]
				r.buf = append(r.buf, b...)
				n -= len(b)
				at = 0
			}
		}
		return r.buf
	})
}

// newRig makes the streams of a profile: of ROS, or of Apollo.
func newRig(k kind, apollo bool, seed uint64) (*rig, error) {
	r := &rig{sparse: k.sparse, rng: rand.New(rand.NewPCG(seed, 0)), camera: [2]int{1920, 1080}, mono: [2]int{1920, 1200},
		rings: 128, steps: 1024}
	small := []*stream{
		r.stream("/tf_static", "tf2_msgs/TFMessage", 0, 0, (*rig).tfStatic),
		r.stream("/imu/data", "sensor_msgs/Imu", 400, 200_000, (*rig).imu),
		r.stream("/tf", "tf2_msgs/TFMessage", 100, 400_000, (*rig).tf),
		r.stream("/odom", "nav_msgs/Odometry", 50, 300_000, (*rig).odometry),
		r.stream("/acme/status", "acme_msgs/Status", 50, 300_000, (*rig).status),
		r.stream("/gps/fix", "sensor_msgs/NavSatFix", 10, 40_000_000, (*rig).fix),
	}
	large := []*stream{
		r.stream("/lidar/points", "sensor_msgs/PointCloud2", 10, 95_000_000, (*rig).cloud),
		r.stream("/cam_a/image_raw", "sensor_msgs/Image", 5, 30_000_000, (*rig).colour),
		r.stream("/cam_b/image_raw", "sensor_msgs/Image", 10, 15_000_000, (*rig).grey),
	}
	if apollo {
		small, large = r.apollo()
		r.steps = 940 // 120,320 points
	}
	switch k.profile {
	case "mixed":
		r.streams = append(small, large...)
	case "small", "tiny":
		r.streams = small
	case "uniform":
		if apollo {
			return nil, fmt.Errorf("the profile uniform is for bags")
		}
		for i := range k.topics {
			r.streams = append(r.streams, r.uniform(fmt.Sprintf("/topic_%05d", i), k.size))
		}
	case "drive":
		r.streams = r.drive()
	case "demo":
		r.streams = append(small, large...)
		r.camera, r.mono, r.rings, r.steps = [2]int{64, 36}, [2]int{48, 30}, 8, 64
	default:
		return nil, fmt.Errorf("unknown profile %q: mixed, small, uniform, demo, drive or tiny", k.profile)
	}
	r.noise = make([]byte, r.camera[0]*r.camera[1]*3+1<<20)
	for i := range r.noise {
		r.noise[i] = byte(r.rng.Uint32()) & 7
	}
	for i, s := range r.streams {
		s.due = start + int64(i)*137_000
		define := s.define
		if apollo {
			define = s.defineProto
		}
		if err := define(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *rig) stream(name, typ string, hz, lag int64, message func(*rig, *stream) []byte) *stream {
	s := &stream{period: once, lag: lag, message: message}
	if hz > 0 {
		s.period = 1_000_000_000 / hz
	}
	s.topic = storage.Topic{Name: name, Type: typ, Encoding: "ros1", Metadata: map[string]string{
		storage.MetaCallerID: "/driver" + name, storage.MetaLatching: "0"}}
	if name == "/tf_static" {
		s.topic.Metadata[storage.MetaLatching] = "1"
	}
	return s
}

// acme is a type that no standard package has, with one field of each shape.
var acme = map[string]string{
	"acme_msgs/Status": `uint8 KIND_A=1
Header header
string name
float32[4] wheel_speed
duration latency
uint16[] codes
Part[] parts
bool ok
`,
	"acme_msgs/Blob": "uint8[] data\n",
	"acme_msgs/Part": "int64 id\nfloat64[2] xy\n",
}

// define fills in the definition and its md5sum.
func (s *stream) define() error {
	msg, err := rosmsg.Parse(s.topic.Type, nil, rosmsg.ROS1, func(name string) (string, bool) {
		if text, ok := acme[name]; ok {
			return text, true
		}
		return builtin.Lookup("noetic", name)
	})
	if err != nil {
		return err
	}
	s.topic.Schema = storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(msg, rosmsg.ROS1)}
	s.topic.Metadata[storage.MetaMD5Sum] = schema.MD5(msg)
	return nil
}

// next returns the stream whose message is due first.
func (r *rig) next() *stream {
	first := r.streams[0]
	for _, s := range r.streams[1:] {
		if s.due < first.due {
			first = s
		}
	}
	return first
}
