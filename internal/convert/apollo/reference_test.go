package apollo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
)

// A naive is a message that is read by reflection, to judge the programs by.
type naive struct{ m protoreflect.Message }

// at returns the field of a path and whether it is set; a field that the type
// lacks is not valid.
func (n naive) at(path string) (protoreflect.Value, bool) {
	m := n.m
	names := strings.Split(path, ".")
	for i, name := range names {
		fd := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		if fd == nil {
			return protoreflect.Value{}, false
		}
		if i == len(names)-1 {
			return m.Get(fd), m.Has(fd)
		}
		m = m.Get(fd).Message()
	}
	panic("no path")
}

func (n naive) has(path string) bool { _, ok := n.at(path); return ok }

func (n naive) real(path string) float64 {
	v, _ := n.at(path)
	switch x := v.Interface().(type) {
	case float64:
		return x
	case float32:
		return float64(x)
	case uint32:
		return float64(x)
	case int32:
		return float64(x)
	}
	return math.NaN()
}

func (n naive) integer(path string) uint64 {
	v, _ := n.at(path)
	switch x := v.Interface().(type) {
	case uint64:
		return x
	case uint32:
		return uint64(x)
	case int32:
		return uint64(x)
	case protoreflect.EnumNumber:
		return uint64(x)
	}
	return 0
}

func (n naive) text(path string) []byte {
	v, _ := n.at(path)
	switch x := v.Interface().(type) {
	case string:
		return []byte(x)
	case []byte:
		return x
	}
	return nil
}

func (n naive) list(name string) (out []naive) {
	v, ok := n.at(name)
	for i := 0; ok && i < v.List().Len(); i++ {
		out = append(out, naive{v.List().Get(i).Message()})
	}
	return out
}

// exactNanos rounds seconds to ns with all digits.
func exactNanos(s float64) int64 {
	if math.IsNaN(s) || s <= 0 || s > 4e9 {
		return 0
	}
	r := new(big.Rat).SetFloat64(s)
	r.Mul(r, big.NewRat(1e9, 1)).Add(r, big.NewRat(1, 2))
	return new(big.Int).Div(r.Num(), r.Denom()).Int64()
}

// stamp is the rule for stamps, in words of the message.
func (n naive) stamp(sensor string, gps bool, latest int64) int64 {
	inside := func(ns int64) int64 {
		if ns >= latest {
			return 0
		}
		return max(ns, 0)
	}
	ints := func(name string) int64 {
		return inside(int64(n.integer("header." + name)))
	}
	if sensor != "" && ints(sensor) > 0 {
		return ints(sensor)
	}
	header, measured := int64(0), int64(0)
	if n.has("header.timestamp_sec") {
		header = inside(exactNanos(n.real("header.timestamp_sec")))
	}
	if n.has("measurement_time") {
		measured = exactNanos(n.real("measurement_time"))
		if gps && measured > 0 {
			measured = measured + (315964800-18)*1e9 // random times are after 2017
		}
		measured = inside(measured)
	}
	ns := header
	if measured > 0 && (!gps || header == 0) {
		ns = measured
	}
	if sensor == "" {
		for _, name := range []string{"lidar_timestamp", "camera_timestamp", "radar_timestamp"} {
			if i := ints(name); i > 0 && (ns == 0 || i-ns <= 1000 && ns-i <= 1000) {
				return i
			}
		}
	}
	return ns
}

func (n naive) vec(path string) []float64 {
	return []float64{n.real(path + ".x"), n.real(path + ".y"), n.real(path + ".z")}
}

func (n naive) isSet(path string) bool {
	return n.has(path+".x") || n.has(path+".y") || n.has(path+".z")
}

func (n naive) quat(path string) (q [4]float64, ok bool) {
	nan, zero := true, true
	for i, name := range []string{".qx", ".qy", ".qz", ".qw"} {
		q[i] = n.real(path + name)
		ok = ok || n.has(path+name)
	}
	if !n.has(path+".qw") && ok && (n.has(path+".qx") || n.has(path+".qy") || n.has(path+".qz")) {
		q[3] = math.Sqrt(1 - q[0]*q[0] - q[1]*q[1] - q[2]*q[2])
		if 1-q[0]*q[0]-q[1]*q[1]-q[2]*q[2] < 0 {
			q[3] = 0
		}
	}
	for _, x := range q {
		nan, zero = nan && math.IsNaN(x), zero && x == 0
	}
	return q, ok && !nan && !zero
}

func (n naive) orientation(pose string) (q [4]float64, ok bool) {
	if q, ok = n.quat(pose + ".orientation"); ok {
		return q, true
	}
	var r quat
	e := n.vec(pose + ".euler_angles")
	switch {
	case n.has(pose+".euler_angles.x") && n.has(pose+".euler_angles.y") && n.has(pose+".euler_angles.z") &&
		finite(e[0]+e[1]+e[2]):
		r = fromEuler(vec{e[0], e[1], e[2]})
	case pose != "imu" && n.has(pose+".heading") && finite(n.real(pose+".heading")):
		r = fromHeading(n.real(pose + ".heading"))
	default:
		return q, false
	}
	return [4]float64{r.x, r.y, r.z, r.w}, true
}

func (n naive) variances(path string) []float64 {
	out := n.vec(path)
	for i, x := range out {
		if out[i] = x * x; math.IsNaN(x) {
			out[i] = 0
		}
	}
	return out
}

// reference writes the ROS message of an Apollo message, by the rules.
func (n naive) reference(fam family, cdr bool) []byte {
	w := newWriter(cdr)
	sensor := map[family]string{image: "camera_timestamp", compressedImage: "camera_timestamp",
		pointCloud: "lidar_timestamp"}[fam]
	latest := int64(1<<32) * second
	if cdr {
		latest = 1 << 31 * second
	}
	stamp := n.stamp(sensor, fam == gnssImu || fam == bestPose, latest)
	frame := n.text("frame_id")
	if len(frame) == 0 {
		frame = n.text("header.frame_id")
	}
	if len(frame) == 0 && (fam == estimate || fam == gps) {
		frame = []byte("world")
	}
	if fam != transforms {
		if stamp == 0 {
			stamp = now
		}
		w.header(uint32(n.integer("header.sequence_num")), stamp, string(frame))
	}
	first := func(paths ...string) (string, float64) {
		for _, p := range paths {
			if n.isSet(p) {
				return p, 0
			}
		}
		return paths[0], -1
	}
	switch fam {
	case image:
		w.U32(uint32(n.integer("height")))
		w.U32(uint32(n.integer("width")))
		w.String(n.text("encoding"))
		w.U8(0)
		step, data := n.integer("step"), uint64(len(n.text("data")))
		if h := n.integer("height"); step == 0 && h > 0 && data%h == 0 {
			step = data / h
		}
		w.U32(uint32(step))
		w.Bytes(n.text("data"))
	case compressedImage:
		w.String(n.text("format"))
		w.Bytes(n.text("data"))
	case pointCloud:
		n.cloud(w)
	case gnssImu, correctedImu:
		pose := ""
		q, ok := [4]float64{3: 1}, false
		if fam == correctedImu {
			pose = "imu."
			if q, ok = n.orientation("imu"); !ok {
				q = [4]float64{3: 1}
			}
		}
		c := make([]float64, 9)
		if !ok {
			c[0] = -1
		}
		w.floats(q[:]...).floats(c...)
		rate, none := first(pose+"angular_velocity", pose+"angular_velocity_vrf")
		w.floats(n.vec(rate)...).floats(none, 0, 0, 0, 0, 0, 0, 0, 0)
		acc, none := first(pose+"linear_acceleration", pose+"linear_acceleration_vrf")
		w.floats(n.vec(acc)...).floats(none, 0, 0, 0, 0, 0, 0, 0, 0)
	case bestPose:
		n.fix(w)
	case estimate, gps:
		pose := map[family]string{estimate: "pose", gps: "localization"}[fam]
		q, _ := n.orientation(pose)
		w.String([]byte("localization"))
		w.floats(n.vec(pose + ".position")...).floats(q[:]...)
		w.floats(diag(append(n.variances("uncertainty.position_std_dev"),
			n.variances("uncertainty.orientation_std_dev")...)...)...)
		rate, _ := first(pose+".angular_velocity", pose+".angular_velocity_vrf")
		w.floats(n.vec(pose + ".linear_velocity")...).floats(n.vec(rate)...)
		w.floats(diag(append(n.variances("uncertainty.linear_velocity_std_dev"),
			n.variances("uncertainty.angular_velocity_std_dev")...)...)...)
	case transforms:
		w.U32(uint32(len(n.list("transforms"))))
		for _, e := range n.list("transforms") {
			at := e.stamp("", false, latest)
			if at == 0 {
				at = stamp
			}
			w.header(uint32(e.integer("header.sequence_num")), at, string(e.text("header.frame_id")))
			w.String(e.text("child_frame_id"))
			q, _ := e.quat("transform.rotation")
			w.floats(e.vec("transform.translation")...).floats(q[:]...)
		}
	}
	return w.Buf
}

func (n naive) fix(w *rosWriter) {
	status := 0
	switch typ := n.integer("sol_type"); {
	case n.integer("sol_status") != 0 || typ == 0:
		status = -1
	case typ == 18 || typ == 52:
		status = 1
	case typ == 48 || typ == 49 || typ == 50 || typ == 56:
		status = 2
	}
	w.U8(uint8(status))
	w.U16(1)
	w.floats(n.real("latitude"), n.real("longitude"), n.real("height_msl")+n.real("undulation"))
	var d [3]float64
	kind := uint8(0)
	for i, name := range []string{"longitude_std_dev", "latitude_std_dev", "height_std_dev"} {
		if n.has(name) {
			kind = 2
		}
		if x := n.real(name); !math.IsNaN(x) {
			d[i] = x * x
		}
	}
	if kind == 0 {
		d = [3]float64{}
	}
	w.floats(diag(d[:]...)...)
	w.U8(kind)
}

func (n naive) cloud(w *rosWriter) {
	points := n.list("point")
	height, width := n.integer("height"), n.integer("width")
	if height*width != uint64(len(points)) || len(points) == 0 {
		height, width = 1, uint64(len(points))
	}
	w.U32(uint32(height))
	w.U32(uint32(width))
	names := []string{"x", "y", "z", "intensity", "timestamp"}
	element := n.m.Descriptor().Fields().ByName("point").Message()
	size := 24
	if element.Fields().ByName("ring") != nil {
		names, size = append(names, "ring"), 26
	}
	w.U32(uint32(len(names)))
	for i, name := range names {
		w.String([]byte(name))
		w.U32([]uint32{0, 4, 8, 12, 16, 24}[i])
		w.U8([]byte{7, 7, 7, 7, 8, 4}[i])
		w.U32(1)
	}
	w.U8(0)
	w.U32(uint32(size))
	w.U32(uint32(width) * uint32(size))
	rows := newWriter(false)
	dense := true
	for _, p := range points {
		for _, name := range names[:3] {
			dense = dense && finite(float64(float32(p.real(name))))
			rows.F32(float32(p.real(name)))
		}
		rows.F32(float32(p.real("intensity")))
		s, _ := new(big.Rat).SetFrac(new(big.Int).SetUint64(p.integer("timestamp")), big.NewInt(1e9)).Float64()
		rows.F64(s)
		if size == 26 {
			rows.U16(uint16(min(p.integer("ring"), 65535)))
		}
	}
	w.Bytes(rows.Buf)
	w.Bool(dense)
}

// randomMessage fills fields of m with values that matter to the rules.
func randomMessage(r *rand.Rand, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if r.IntN(4) == 0 && fd.Kind() != protoreflect.MessageKind || r.IntN(12) == 0 {
			continue
		}
		switch {
		case fd.IsList():
			for range r.IntN(6) {
				randomMessage(r, m.Mutable(fd).List().AppendMutable().Message())
			}
		case fd.Kind() == protoreflect.MessageKind:
			randomMessage(r, m.Mutable(fd).Message())
		default:
			m.Set(fd, randomValue(r, fd))
		}
	}
}

func randomValue(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	x := []float64{0, math.NaN(), r.Float64() - 0.5, r.NormFloat64() * 1000, -1, math.Inf(1), 1e300}[min(r.IntN(30), 6)]
	if r.IntN(4) > 0 {
		x = r.Float64() - 0.5
	}
	if name := string(fd.Name()); strings.HasPrefix(name, "t") || strings.HasPrefix(name, "measurement") {
		x = []float64{0, math.NaN(), -5, 1e300, 1.7e9 + r.Float64()*1e6, 3e9 + r.Float64()*1e6}[min(r.IntN(9), 5)]
		if r.IntN(3) > 0 {
			x = float64(now+int64(r.IntN(1500))) / 1e9
		}
	}
	i := []uint64{0, 1, r.Uint64(), uint64(now) + r.Uint64N(1000), 300, 70000, 48, 18}[r.IntN(8)]
	switch fd.Kind() {
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(x)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(x))
	case protoreflect.Uint32Kind:
		if fd.Name() == "step" {
			i |= 1 // 0 is tested elsewhere
		}
		if fd.Name() == "width" || fd.Name() == "height" {
			i = r.Uint64N(4)
		}
		return protoreflect.ValueOfUint32(uint32(i))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(i)
	case protoreflect.Sint32Kind, protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(i & 0xffffff))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(i&1 != 0)
	case protoreflect.EnumKind:
		values := fd.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(r.IntN(values.Len())).Number())
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(make([]byte, r.IntN(20)))
	}
	return protoreflect.ValueOfString([]string{"", "a", "velodyne", "x y"}[r.IntN(4)])
}

// TestAgainstReference compares the programs with reflection, on random messages
// of Apollo's descriptors and of those of vendors, also when a message is the
// concatenation of two, which protobuf merges.
func TestAgainstReference(t *testing.T) {
	mds := []protoreflect.MessageDescriptor{vendorCloud(t), ringCloud(t)}
	for _, typ := range types {
		mds = append(mds, protoapollo.Message(typ.proto))
	}
	for i, md := range mds {
		fam, _ := familyOf(string(md.FullName()))
		for _, cdr := range []bool{false, true} {
			p, err := ToROS(md, Options{CDR: cdr})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(uint64(i), 7))
			count := 1000
			if testing.Short() {
				count = 100
			}
			for range count {
				var b []byte
				for range 1 + r.IntN(2) {
					m := dynamicpb.NewMessage(md)
					randomMessage(r, m)
					if b, err = (proto.MarshalOptions{}).MarshalAppend(b, m); err != nil {
						t.Fatal(err)
					}
				}
				whole := dynamicpb.NewMessage(md)
				if err := proto.Unmarshal(b, whole); err != nil {
					t.Fatal(err)
				}
				want := naive{whole}.reference(fam, cdr)
				got, err := p.AppendAt(nil, b, now)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != string(want) {
					t.Fatalf("%s cdr=%v %v\ngot  %x\nwant %x", md.FullName(), cdr, whole, got, want)
				}
			}
		}
	}
}
