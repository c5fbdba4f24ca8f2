package mapping

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/storage"
)

const stampTime = 1_700_000_000_123_456_789

// stamped makes a message that begins with a header, after count elements of a
// list when that is not 0.
func stamped(cdr bool, count uint32) []byte {
	var w ros.Writer
	if cdr {
		w = ros.NewWriter(nil, true)
	} else {
		w = ros.NewWriter(nil, false)
	}
	if count > 0 {
		w.U32(count)
	}
	if !cdr {
		w.U32(9)
	}
	w.Time(stampTime)
	w.String([]byte("base"))
	w.Zero(80) // what follows, of a transform at least
	return w.Buf
}

func TestStamp(t *testing.T) {
	const header = "std_msgs/Header header\nuint8 x\n================\nMSG: std_msgs/Header\nuint32 seq\ntime " +
		"stamp\nstring frame_id\n"
	apollo := protowire.AppendTag(nil, 1, protowire.BytesType)
	apollo = protowire.AppendBytes(apollo, protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type),
		math.Float64bits(1700000000.25)))
	topic := func(typ, encoding string) storage.Topic {
		return storage.Topic{Name: "/t", Type: typ, Encoding: encoding}
	}
	own := topic("acme_msgs/Own", "ros1")
	own.Schema = storage.Schema{Encoding: "ros1msg", Data: []byte(header)}
	m := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble"})
	for _, c := range []struct {
		topic    storage.Topic
		data     []byte
		want     int64
		settable bool
	}{
		{own, stamped(false, 0), stampTime, true},
		{topic("std_msgs/Header", "ros1"), stamped(false, 0), stampTime, true},
		{topic("sensor_msgs/Imu", "ros1"), stamped(false, 0), stampTime, true},
		{topic("sensor_msgs/msg/Imu", "cdr"), stamped(true, 0), stampTime, true},
		{topic("tf2_msgs/TFMessage", "ros1"), stamped(false, 1), stampTime, false},
		{topic("tf2_msgs/msg/TFMessage", "cdr"), stamped(true, 1), stampTime, false},
		{topic("apollo.drivers.gnss.Imu", "protobuf"), apollo, 1_700_000_000_250_000_000, true},
	} {
		s := m.Stamp(&c.topic)
		if s == nil {
			t.Errorf("%s: no stamp", c.topic.Type)
			continue
		}
		if got, ok := s.Time(c.data); !ok || got != c.want || s.Settable() != c.settable {
			t.Errorf("%s: %d, %v", c.topic.Type, got, ok)
		}
		for n := range c.data[:12] { // too short for a stamp, or for the field
			if at, ok := s.Time(c.data[:n]); ok && n < 11 {
				t.Errorf("%s: %d bytes have the stamp %d", c.topic.Type, n, at)
			}
		}
		before := bytes.Clone(c.data)
		const other = 1_600_000_000_500_000_000
		if ok := s.Set(c.data, other); ok != c.settable {
			t.Errorf("%s: set: %v", c.topic.Type, ok)
		}
		if !c.settable {
			if !bytes.Equal(before, c.data) {
				t.Errorf("%s: changed", c.topic.Type)
			}
			continue
		}
		if got, ok := s.Time(c.data); !ok || got != other {
			t.Errorf("%s: set to %d, %v", c.topic.Type, got, ok)
		}
		if s.Set(c.data, -1) || s.Set(nil, other) || !s.typ.Protobuf() && s.Set(c.data, math.MaxInt64) {
			t.Errorf("%s: set what has no place", c.topic.Type)
		}
	}
	// Big endian, an empty stamp, an empty list.
	imu, tf := topic("sensor_msgs/msg/Imu", "cdr"), topic("tf2_msgs/msg/TFMessage", "cdr")
	big := []byte{0, 0, 0, 0}
	big = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(big, 1_700_000_000), 5)
	if got, ok := m.Stamp(&imu).Time(big); !ok || got != 1_700_000_000_000_000_005 {
		t.Errorf("big endian: %d, %v", got, ok)
	}
	if _, ok := m.Stamp(&imu).Time(make([]byte, 100)); ok {
		t.Error("0 is a stamp")
	}
	if _, ok := m.Stamp(&tf).Time(append([]byte{0, 1, 0, 0}, make([]byte, 100)...)); ok {
		t.Error("an empty list has a stamp")
	}
	// Structs that XCDR2 writes in another way than those around them.
	text := "module std_msgs { module msg { @final struct Header { Stamp stamp; string frame_id; }; }; };" +
		"@appendable struct Stamp { long sec; unsigned long nanosec; }; struct T { std_msgs::msg::Header header; };"
	mixed := storage.Topic{Type: "T", Encoding: "cdr", Schema: storage.Schema{Encoding: "omgidl", Data: []byte(text)}}
	if got, ok := m.Stamp(&mixed).Time([]byte{0, 9, 0, 0, 99, 0, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 98: 0,
		107: 0}); !ok || got != 5_000_000_007 {
		t.Errorf("@appendable in @final in a delimited struct: %d, %v", got, ok)
	}
	if got, ok := m.Stamp(&mixed).Time([]byte{0, 7, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0}); !ok ||
		got != 5_000_000_007 {
		t.Errorf("@appendable in @final in a plain struct: %d, %v", got, ok)
	}
	// XCDR2: sizes before structs and lists.
	plain := topic("std_msgs/msg/Header", "cdr")
	for _, c := range []struct {
		topic storage.Topic
		words []uint32 // after the encapsulation
		id    byte
		at    int // word of the seconds
	}{
		{imu, []uint32{100, 5, 0}, 0x07, 0},
		{imu, []uint32{99, 50, 8, 100, 5, 0}, 0x09, 3},
		{imu, []uint32{99, 50, 8, 100, 5, 0}, 0x15, 3},
		{imu, []uint32{99, 50, 8, 100, 5, 0}, 0x08, 3},
		{plain, []uint32{99, 8, 100, 5, 0}, 0x09, 2},
		{plain, []uint32{100, 5, 0}, 0x11, 0},
		{tf, []uint32{99, 1, 100, 5, 0}, 0x07, 2},
		{tf, []uint32{99, 90, 1, 80, 50, 8, 100, 5, 0}, 0x09, 6},
	} {
		s := m.Stamp(&c.topic)
		var order binary.AppendByteOrder = binary.LittleEndian
		if c.id == 0x08 {
			order = binary.BigEndian
		}
		data := []byte{0, c.id, 0, 0}
		for _, w := range c.words {
			data = order.AppendUint32(data, w)
		}
		data = append(data, make([]byte, 100)...)
		if got, ok := s.Time(data); !ok || got != 100_000_000_005 {
			t.Errorf("%s in form %02x: %d, %v", c.topic.Type, c.id, got, ok)
		}
		before := bytes.Clone(data)
		if ok := s.Set(data, 7_000_000_008); ok != s.Settable() {
			t.Errorf("%s in form %02x: set: %v", c.topic.Type, c.id, ok)
		} else if ok {
			at := 4 + 4*c.at
			want := order.AppendUint32(order.AppendUint32(before[:at:at], 7), 8)
			if want = append(want, before[at+8:]...); !bytes.Equal(data, want) {
				t.Errorf("%s in form %02x: % x, want % x", c.topic.Type, c.id, data, want)
			}
		}
	}
	if _, ok := m.Stamp(&imu).Time([]byte{0, 3, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}); ok ||
		m.Stamp(&imu).Set(make([]byte, 3), 1) {
		t.Error("a parameter list has a stamp")
	}
	for _, c := range []storage.Topic{topic("std_msgs/String", "ros1"), topic("std_msgs/msg/String", "cdr"),
		topic("unknown/T", "ros1"), topic("apollo.common.Point3D", "protobuf"), topic("x", "json")} {
		if m.Stamp(&c) != nil {
			t.Errorf("%s has a stamp", c.Type)
		}
	}
}

func FuzzStamp(f *testing.F) {
	f.Add(stamped(true, 0), int64(1))
	f.Add(stamped(false, 1), int64(stampTime))
	m := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble"})
	var stamps []*Stamp
	for _, t := range []storage.Topic{
		{Type: "sensor_msgs/Imu", Encoding: "ros1"}, {Type: "tf2_msgs/TFMessage", Encoding: "ros1"},
		{Type: "sensor_msgs/msg/Imu", Encoding: "cdr"},
		{Type: "tf2_msgs/msg/TFMessage", Encoding: "cdr"}, {Type: "apollo.drivers.gnss.Imu", Encoding: "protobuf"},
	} {
		stamps = append(stamps, m.Stamp(&t))
	}
	f.Fuzz(func(t *testing.T, data []byte, ns int64) {
		for i, s := range stamps {
			s.Time(data)
			if !s.Set(data, ns) || ns == 0 {
				continue
			}
			got, ok := s.Time(data)
			if d := got - ns; s.typ.Protobuf() && (d < -1024 || d > 1024) || !s.typ.Protobuf() && (!ok || d != 0) {
				t.Errorf("stamp %d: set to %d, is %d", i, ns, got)
			}
		}
	})
}
