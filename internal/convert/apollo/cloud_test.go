package apollo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
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
func vendorFile(t testing.TB, name string,
	edit func(f *descriptorpb.FileDescriptorProto)) protoreflect.MessageDescriptor {
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
				m.Field = append(m.Field, scalar("ring", 3, descriptorpb.FieldDescriptorProto_TYPE_INT32),
					scalar("label", 4, descriptorpb.FieldDescriptorProto_TYPE_STRING))
			}
		}
	})
}

// ringCloud is a PointCloud whose points have a ring after the usual fields.
func ringCloud(t testing.TB) protoreflect.MessageDescriptor {
	return vendorFile(t, "apollo.drivers.PointCloud", func(f *descriptorpb.FileDescriptorProto) {
		for _, m := range f.MessageType {
			if m.GetName() == "PointXYZIT" {
				m.Field = append(m.Field, scalar("ring", 6, descriptorpb.FieldDescriptorProto_TYPE_UINT32))
			}
		}
	})
}

// A cloudReader has the values of a PointCloud2.
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
		{6, 1, 6, 1, 6, 0}, {3, 2, 3, 2, 6, 0}, {7, 2, 6, 1, 6, 0}, {0, 0, 6, 1, 6, 3}, {0, 5, 0, 1, 0, 0}, {1 << 31, 1 << 31,
			6, 1, 6, 6},
	} {
		bothWires(t, func(t *testing.T, cdr bool) {
			m := testCloud(c.n, c.nan)
			m.Width, m.Height = &c.width, &c.height
			got := readCloud(toROS(t, m, Options{CDR: cdr}))
			if got.width != c.wantWidth || got.height != c.wantHeight || got.rowStep != got.width*24 || got.step != 24 ||
				got.dense != (c.nan == 0) {
				t.Errorf("%+v: %d x %d, step %d, row step %d, dense %v", c, got.width, got.height, got.step, got.rowStep, got.dense)
			}
			if got.fields != "x@0:7 y@4:7 z@8:7 intensity@12:7 timestamp@16:8 " || got.frame != "velodyne128" ||
				got.stamp != now {
				t.Error(got.fields, got.rosHeader)
			}
			for i, p := range m.Point {
				row := got.rows[24*i:]
				f := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(row[at:])) }
				same := f(0) == p.GetX() && f(4) == p.GetY() && f(8) == p.GetZ() || p.GetX() != p.GetX() && f(0) != f(0)
				if !same || f(12) != float32(p.GetIntensity()) ||
					math.Float64frombits(binary.LittleEndian.Uint64(row[16:])) != seconds(p.GetTimestamp()) {
					t.Fatalf("point %d differs", i)
				}
			}
		})
	}
}

// TestCloudShortWay proves that usual points take the short way, and compares it
// with the long one.
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
			x, errX := fast.AppendAt(nil, b, now)
			y, errY := slow.AppendAt(nil, b, now)
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

		back, err := FromROS(standard("sensor_msgs/PointCloud2", Options{}), md, Options{})
		if err != nil {
			t.Fatal(err)
		}
		long, err := FromROS(standard("sensor_msgs/PointCloud2", Options{}), md, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !back.layout.usual {
			t.Errorf("%+v is not taken for usual", back.layout)
		}
		long.layout.usual = false
		src, err := fast.AppendAt(nil, testBytes(t, testCloud(1000, 7)), now)
		if err != nil {
			t.Fatal(err)
		}
		x, errX := back.AppendAt(nil, src, now)
		y, errY := long.AppendAt(nil, src, now)
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			t.Error("the two ways back differ", errX, errY, len(x), len(y))
		}
	}
}

// TestCloudAllShort proves that a lidar's points all take the short way, but for
// the last ones, after which there are too few bytes.
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

// TestCloudRoundTrip goes from Apollo to ROS and back: all but the last digits of
// times, which a float64 in seconds has no room for.
func TestCloudRoundTrip(t *testing.T) {
	bothWires(t, func(t *testing.T, cdr bool) {
		m := testCloud(500, 9)
		to, err := ToROS(m.ProtoReflect().Descriptor(), Options{CDR: cdr})
		if err != nil {
			t.Fatal(err)
		}
		mid, err := to.AppendAt(nil, testBytes(t, m), now)
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
