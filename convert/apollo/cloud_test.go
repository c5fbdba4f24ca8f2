package apollo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
)

// vendorFile returns the file of an Apollo type, changed by edit.
func vendorFile(t testing.TB, name string, edit func(f *descriptorpb.FileDescriptorProto)) protoreflect.MessageDescriptor {
	t.Helper()
	md := protoapollo.Message(name)
	f := protodesc.ToFileDescriptorProto(md.ParentFile())
	edit(f)
	fd, err := protodesc.NewFile(f, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().ByName(md.Name())
}

func scalar(name string, num int32, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
	return &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(num), Type: kind.Enum(),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
}

// vendorCloud is a PointCloud whose points have other numbers, doubles for
// coordinates, a signed intensity and a ring.
func vendorCloud(t testing.TB) protoreflect.MessageDescriptor {
	return vendorFile(t, "apollo.drivers.PointCloud", func(f *descriptorpb.FileDescriptorProto) {
		for _, m := range f.MessageType {
			for _, fd := range m.Field {
				if m.GetName() == "PointXYZIT" {
					fd.Number = proto.Int32(40 - fd.GetNumber())
					if fd.GetType() == descriptorpb.FieldDescriptorProto_TYPE_FLOAT {
						fd.Type = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE.Enum()
					}
					if fd.GetName() == "intensity" {
						fd.Type = descriptorpb.FieldDescriptorProto_TYPE_SINT32.Enum()
					}
				} else {
					fd.Number = proto.Int32(100 - fd.GetNumber())
				}
			}
			if m.GetName() == "PointXYZIT" {
				m.Field = append(m.Field, scalar("ring", 3, descriptorpb.FieldDescriptorProto_TYPE_INT32), scalar("label", 4, descriptorpb.FieldDescriptorProto_TYPE_STRING))
			}
		}
	})
}

// ringCloud is a PointCloud whose points have a ring behind the usual fields.
func ringCloud(t testing.TB) protoreflect.MessageDescriptor {
	return vendorFile(t, "apollo.drivers.PointCloud", func(f *descriptorpb.FileDescriptorProto) {
		for _, m := range f.MessageType {
			if m.GetName() == "PointXYZIT" {
				m.Field = append(m.Field, scalar("ring", 6, descriptorpb.FieldDescriptorProto_TYPE_UINT32))
			}
		}
	})
}

// A cloudReader is what a PointCloud2 says.
type cloudReader struct {
	rosHeader
	height, width, step, rowStep uint32
	fields                       string
	rows                         []byte
	dense                        bool
}

func readCloud(r *rosReader) (c cloudReader) {
	c.rosHeader = r.header()
	c.height, c.width = r.U32(), r.U32()
	for range r.U32() {
		c.fields += fmt.Sprintf("%s@%d:%d ", r.String(), r.U32(), r.U8())
		if r.U32() != 1 {
			r.t.Error("count is not 1")
		}
	}
	if r.U8() != 0 {
		r.t.Error("big endian")
	}
	c.step, c.rowStep, c.rows, c.dense = r.U32(), r.U32(), r.Bytes(), r.U8() == 1
	r.end()
	return c
}

func TestCloud(t *testing.T) {
	for _, c := range []struct {
		width, height, wantWidth, wantHeight uint32
		n, nan                               int
	}{
		{6, 1, 6, 1, 6, 0}, {3, 2, 3, 2, 6, 0}, {7, 2, 6, 1, 6, 0}, {0, 0, 6, 1, 6, 3}, {0, 5, 0, 1, 0, 0}, {1 << 31, 1 << 31, 6, 1, 6, 6},
	} {
		bothWires(t, func(t *testing.T, cdr bool) {
			m := testCloud(c.n, c.nan)
			m.Width, m.Height = &c.width, &c.height
			got := readCloud(toROS(t, m, Options{CDR: cdr}))
			if got.width != c.wantWidth || got.height != c.wantHeight || got.rowStep != got.width*24 || got.step != 24 || got.dense != (c.nan == 0) {
				t.Errorf("%+v: %d x %d, step %d, row step %d, dense %v", c, got.width, got.height, got.step, got.rowStep, got.dense)
			}
			if got.fields != "x@0:7 y@4:7 z@8:7 intensity@12:7 timestamp@16:8 " || got.frame != "velodyne128" || got.stamp != now {
				t.Error(got.fields, got.rosHeader)
			}
			for i, p := range m.Point {
				row := got.rows[24*i:]
				f := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(row[at:])) }
				same := f(0) == p.GetX() && f(4) == p.GetY() && f(8) == p.GetZ() || p.GetX() != p.GetX() && f(0) != f(0)
				if !same || f(12) != float32(p.GetIntensity()) || math.Float64frombits(binary.LittleEndian.Uint64(row[16:])) != seconds(p.GetTimestamp()) {
					t.Fatalf("point %d differs", i)
				}
			}
		})
	}
}

// TestCloudShortWay proves that usual points take the short way, and holds it
// against the long one.
func TestCloudShortWay(t *testing.T) {
	for _, md := range []protoreflect.MessageDescriptor{protoapollo.Message("apollo.drivers.PointCloud"), ringCloud(t)} {
		r := rand.New(rand.NewPCG(1, 1))
		fast, err := ToROS(md, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !fast.layout.usual {
			t.Fatalf("%+v is not taken for usual", fast.layout)
		}
		slow, err := ToROS(md, Options{})
		if err != nil {
			t.Fatal(err)
		}
		slow.layout.usual = false
		pd := md.Fields().ByName("point").Message()
		taken := 0
		for range 2000 {
			m := dynamicpb.NewMessage(md)
			list := m.Mutable(md.Fields().ByName("point")).List()
			for range 1 + r.IntN(5) {
				p := list.AppendMutable().Message()
				for i := range pd.Fields().Len() {
					if fd := pd.Fields().Get(i); r.IntN(20) > 0 {
						p.Set(fd, randomValue(r, fd))
					}
				}
			}
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var row [rowRingSize]byte
			var bad uint32
			if fast.layout.point(row[:], b, 0, &bad) > 0 {
				taken++
			}
			for range r.IntN(3) { // also what is broken has one result
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			x, errX := fast.Append(nil, b, now)
			y, errY := slow.Append(nil, b, now)
			if (errX == nil) != (errY == nil) || !bytes.Equal(x, y) {
				t.Fatalf("%x\nfast %x %v\nslow %x %v", b, x, errX, y, errY)
			}
		}
		if fast.Unknown() != slow.Unknown() || fast.Unknown() == 0 {
			t.Errorf("%d messages with unknown fields on the short way, %d on the long one", fast.Unknown(), slow.Unknown())
		}
		if taken < 200 {
			t.Errorf("only %d random clouds begin with a point on the short way", taken)
		}

		back, err := FromROS("sensor_msgs/PointCloud2", md, Options{})
		if err != nil {
			t.Fatal(err)
		}
		long, err := FromROS("sensor_msgs/PointCloud2", md, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !back.layout.usual {
			t.Errorf("%+v is not taken for usual", back.layout)
		}
		long.layout.usual = false
		src, err := fast.Append(nil, testBytes(t, testCloud(1000, 7)), now)
		if err != nil {
			t.Fatal(err)
		}
		x, errX := back.Append(nil, src, now)
		y, errY := long.Append(nil, src, now)
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			t.Error("the two ways back differ", errX, errY, len(x), len(y))
		}
	}
}

// TestCloudAllShort proves that a lidar's points all take the short way, but for
// the last ones, behind which there are too few bytes.
func TestCloudAllShort(t *testing.T) {
	m := testCloud(100, 7)
	m.Header, m.FrameId, m.IsDense = nil, nil, nil
	b := testBytes(t, m)
	p, err := ToROS(m.ProtoReflect().Descriptor(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var row [rowSize]byte
	var bad uint32
	n := 0
	for pos := 0; ; n++ {
		if pos = p.layout.point(row[:], b, pos, &bad); pos == 0 {
			break
		}
	}
	if n < 99 {
		t.Errorf("only %d points of 100", n)
	}
}

// A rosCloud is a PointCloud2 to be written.
type rosCloud struct {
	height, width, step, rowStep uint32
	big                          bool
	fields                       []rowField
	rows                         []byte
	stamp                        int64
}

func (c *rosCloud) write(cdr bool) []byte {
	w := newWriter(cdr).header(1, c.stamp, "lidar")
	w.U32(c.height)
	w.U32(c.width)
	w.U32(uint32(len(c.fields)))
	for _, f := range c.fields {
		w.String(f.name)
		w.U32(f.offset)
		w.U8(f.datatype)
		w.U32(1)
	}
	w.Bool(c.big)
	w.U32(c.step)
	w.U32(c.rowStep)
	w.Bytes(c.rows)
	w.Bool(true)
	return w.Buf
}

// put appends a number as a datatype.
func put(b []byte, datatype uint8, big bool, x float64) []byte {
	var order interface {
		binary.AppendByteOrder
		binary.ByteOrder
	} = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	switch datatype {
	case fieldInt8, fieldUint8:
		return append(b, byte(int64(x)))
	case fieldInt16, fieldUint16:
		return order.AppendUint16(b, uint16(int64(x)))
	case fieldInt32, fieldUint32:
		return order.AppendUint32(b, uint32(int64(x)))
	case fieldFloat32:
		return order.AppendUint32(b, math.Float32bits(float32(x)))
	case fieldFloat64:
		return order.AppendUint64(b, math.Float64bits(x))
	}
	return order.AppendUint64(b, uint64(int64(x)))
}

// TestCloudBackTypes reads every datatype in both byte orders, with padding
// between rows and lines.
func TestCloudBackTypes(t *testing.T) {
	for datatype := uint8(fieldInt8); datatype <= fieldUint64; datatype++ {
		for _, big := range []bool{false, true} {
			bothWires(t, func(t *testing.T, cdr bool) {
				size := uint32(datatypeSizes[datatype])
				c := rosCloud{height: 2, width: 2, step: 5*size + 1, rowStep: 10*size + 2 + 3, big: big, stamp: now}
				for i, name := range []string{"ring", "x", "unknown", "z", "y"} {
					c.fields = append(c.fields, rowField{[]byte(name), uint32(i) * size, datatype})
				}
				for line := range 2 {
					for col := range 2 {
						n := float64(2*line + col)
						for _, x := range []float64{n, 10 + n, 99, 30 + n, 20 + n} {
							c.rows = put(c.rows, datatype, big, x)
						}
						c.rows = append(c.rows, 0xee)
					}
					c.rows = append(c.rows, 1, 2, 3)
				}
				c.rows = c.rows[:len(c.rows)-3] // the last line may lack its padding
				md := ringCloud(t)
				m := dynamicpb.NewMessage(md)
				fromROS(t, "sensor_msgs/PointCloud2", c.write(cdr), m, Options{CDR: cdr})
				points := naive{m}.list("point")
				if len(points) != 4 {
					t.Fatal(len(points), "points")
				}
				for i, p := range points {
					n := float64(i)
					near(t, fmt.Sprint("datatype ", datatype), append(p.vec("")[:0], p.real("x"), p.real("y"), p.real("z"), p.real("ring")), 10+n, 20+n, 30+n, n)
					if p.integer("timestamp") != uint64(now) || p.integer("intensity") != 0 {
						t.Error("time", p.integer("timestamp"), "intensity", p.integer("intensity"))
					}
				}
			})
		}
	}
}

func TestCloudBackTimes(t *testing.T) {
	base := float64(now) / 1e9
	nearly := func(s float64) int64 { ns, _ := nanoseconds(s); return ns }
	for name, c := range map[string]struct {
		field    string
		datatype uint8
		x        float64
		want     int64
	}{
		"velodyne: s offset":   {"time", fieldFloat32, -0.5, now - second/2},
		"ouster: ns offset":    {"t", fieldUint32, 1000, now + 1000},
		"ns offset, signed":    {"t", fieldInt32, -1000, now - 1000},
		"hesai: s absolute":    {"timestamp", fieldFloat64, base + 1, nearly(base + 1)},
		"f64 offset":           {"timestamp", fieldFloat64, 0.25, now + second/4},
		"f64 negative offset":  {"timestamp", fieldFloat64, -0.25, now - second/4},
		"ms":                   {"timestamp", fieldFloat64, 1700000000500, 1700000000*second + second/2},
		"us":                   {"timestamp", fieldFloat64, 1700000000500000, 1700000000*second + second/2},
		"livox: ns in f64":     {"timestamp", fieldFloat64, 1700000000500000000, 1700000000*second + second/2},
		"ns absolute":          {"offset", fieldUint64, 1700000000500000000, 1700000000*second + second/2},
		"u64 offset":           {"offset", fieldUint64, 77, now + 77},
		"nan":                  {"timestamp", fieldFloat64, math.NaN(), 0},
		"f32 nan":              {"time", fieldFloat32, math.NaN(), 0},
		"infinite":             {"timestamp", fieldFloat64, math.Inf(1), 0},
		"f32 before 1970":      {"time", fieldFloat32, -1e20, 0},
		"f32 long ago":         {"time", fieldFloat32, -3e9, 0},
		"f64 long before":      {"timestamp", fieldFloat64, -1e12, 0},
		"too late":             {"timestamp", fieldFloat64, 1e19, 0},
		"f32 beyond all times": {"time", fieldFloat32, 9e9, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := rosCloud{height: 1, width: 1, step: 24, rowStep: 24, stamp: now, fields: []rowField{
				{[]byte("x"), 0, fieldFloat32}, {[]byte("y"), 4, fieldFloat32}, {[]byte("z"), 8, fieldFloat32}, {[]byte("intensity"), 12, fieldFloat32},
				{[]byte(c.field), 16, c.datatype}}}
			for _, x := range []float64{1, 2, 3, 99.5} {
				cloud.rows = put(cloud.rows, fieldFloat32, false, x)
			}
			cloud.rows = append(put(cloud.rows, c.datatype, false, c.x), make([]byte, 8)...)[:24]
			var m sensormsgs.PointCloud
			fromROS(t, "sensor_msgs/PointCloud2", cloud.write(false), &m, Options{})
			if p := m.GetPoint()[0]; int64(p.GetTimestamp()) != c.want || (p.Timestamp == nil) != (c.want == 0) || p.GetIntensity() != 100 {
				t.Errorf("%v, want time %d", p, c.want)
			}
		})
	}
}

func TestCloudBackIntensity(t *testing.T) {
	for x, want := range map[float64]uint32{0.4: 0, 0.6: 1, 255: 255, -3: 0, math.Inf(1): math.MaxUint32, math.Inf(-1): 0, 1e20: math.MaxUint32} {
		c := rosCloud{height: 1, width: 1, step: 16, rowStep: 16, fields: rowFields[:4], rows: make([]byte, 12)}
		c.rows = put(c.rows, fieldFloat32, false, x)
		var m sensormsgs.PointCloud
		fromROS(t, "sensor_msgs/PointCloud2", c.write(true), &m, Options{CDR: true})
		if got := m.GetPoint()[0].GetIntensity(); got != want {
			t.Errorf("%v became %d", x, got)
		}
		if h := m.GetHeader(); h.GetLidarTimestamp() != uint64(now) || m.GetFrameId() != "lidar" || h.GetFrameId() != "lidar" {
			t.Error("header", h)
		}
	}
}

func TestCloudBackHostile(t *testing.T) {
	good := func() *rosCloud {
		return &rosCloud{height: 2, width: 3, step: 12, rowStep: 36, fields: slices.Clone(rowFields[:3]), rows: make([]byte, 72)}
	}
	for name, c := range map[string]struct {
		edit func(c *rosCloud)
		err  string // "" is allowed
	}{
		"good":                  {func(*rosCloud) {}, ""},
		"no points":             {func(c *rosCloud) { c.width, c.step, c.rows = 0, 12, nil }, ""},
		"row step left 0":       {func(c *rosCloud) { c.rowStep = 0 }, ""},
		"step 0":                {func(c *rosCloud) { c.step = 0 }, "outside of its rows"},
		"step 0 and no fields":  {func(c *rosCloud) { c.step, c.fields = 0, nil }, "no field x"},
		"no z":                  {func(c *rosCloud) { c.fields = c.fields[:2] }, "no field z"},
		"unknown datatype":      {func(c *rosCloud) { c.fields[1].datatype = 11 }, "no field y"},
		"offset behind the row": {func(c *rosCloud) { c.fields[2].offset = 9 }, "field z of the cloud is outside"},
		"offset overflows":      {func(c *rosCloud) { c.fields[2].offset = math.MaxUint32 }, "outside of its rows"},
		"too wide":              {func(c *rosCloud) { c.width = 4 }, "does not fit"},
		"too high":              {func(c *rosCloud) { c.height = 3 }, "does not fit"},
		"product overflows":     {func(c *rosCloud) { c.width, c.height = 1<<31, 1<<31 }, "does not fit"},
		"stride overflows":      {func(c *rosCloud) { c.height, c.rowStep = math.MaxUint32, math.MaxUint32 }, "does not fit"},
		"short data":            {func(c *rosCloud) { c.rows = c.rows[:71] }, "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := good()
			c.edit(cloud)
			p, err := FromROS("sensor_msgs/PointCloud2", protoapollo.Message("apollo.drivers.PointCloud"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Append(nil, cloud.write(false), now)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !errors.Is(err, ErrMalformed)) {
				t.Error(err)
			}
		})
	}
}

// TestCloudRoundTrip goes from Apollo to ROS and back: all but the last digits of
// times, which a float64 in seconds has no room for.
func TestCloudRoundTrip(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		m := testCloud(500, 9)
		to, err := ToROS(m.ProtoReflect().Descriptor(), Options{CDR: cdr})
		if err != nil {
			t.Fatal(err)
		}
		mid, err := to.Append(nil, testBytes(t, m), now)
		if err != nil {
			t.Fatal(err)
		}
		var got sensormsgs.PointCloud
		fromROS(t, "sensor_msgs/PointCloud2", mid, &got, Options{CDR: cdr})
		for i, p := range got.Point {
			if d := int64(p.GetTimestamp() - m.Point[i].GetTimestamp()); d < -120 || d > 120 {
				t.Fatal("time is", d, "ns off")
			}
			p.Timestamp = m.Point[i].Timestamp
		}
		m.Header.ModuleName, m.Header.Version, m.Header.FrameId = nil, nil, m.FrameId // dropped
		if cdr {
			m.Header.SequenceNum = nil
		}
		if !proto.Equal(m, &got) {
			t.Error("the clouds differ")
		}
	})
}
