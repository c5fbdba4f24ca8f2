package apollo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/dynamicpb"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
)

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
				size := uint32(datatypes[datatype].Size())
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
					near(t, fmt.Sprint("datatype ", datatype), append(p.vec("")[:0], p.real("x"), p.real("y"), p.real("z"),
						p.real("ring")), 10+n, 20+n, 30+n, n)
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
	nearly := func(s float64) int64 { ns, _ := Nanoseconds(s); return ns }
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
				{[]byte("x"), 0, fieldFloat32}, {[]byte("y"), 4, fieldFloat32}, {[]byte("z"), 8, fieldFloat32},
				{[]byte("intensity"), 12, fieldFloat32},
				{[]byte(c.field), 16, c.datatype}}}
			for _, x := range []float64{1, 2, 3, 99.5} {
				cloud.rows = put(cloud.rows, fieldFloat32, false, x)
			}
			cloud.rows = append(put(cloud.rows, c.datatype, false, c.x), make([]byte, 8)...)[:24]
			var m sensormsgs.PointCloud
			fromROS(t, "sensor_msgs/PointCloud2", cloud.write(false), &m, Options{})
			if p := m.GetPoint()[0]; int64(p.GetTimestamp()) != c.want || (p.Timestamp == nil) != (c.want == 0) ||
				p.GetIntensity() != 100 {
				t.Errorf("%v, want time %d", p, c.want)
			}
		})
	}
}

func TestCloudBackIntensity(t *testing.T) {
	for x, want := range map[float64]uint32{0.4: 0, 0.6: 1, 255: 255, -3: 0, math.Inf(1): math.MaxUint32, math.Inf(-1): 0,
		1e20: math.MaxUint32} {
		c := rosCloud{height: 1, width: 1, step: 16, rowStep: 16, fields: rowFields[:4], rows: make([]byte, 12)}
		c.rows = put(c.rows, fieldFloat32, false, x)
		var m sensormsgs.PointCloud
		fromROS(t, "sensor_msgs/PointCloud2", c.write(true), &m, Options{CDR: true})
		if got := m.GetPoint()[0].GetIntensity(); got != want {
			t.Errorf("%v became %d", x, got)
		}
		if h := m.GetHeader(); h.GetLidarTimestamp() != uint64(now) || m.GetFrameId() != "lidar" ||
			h.GetFrameId() != "lidar" {
			t.Error("header", h)
		}
	}
}

func TestCloudBackHostile(t *testing.T) {
	good := func() *rosCloud {
		return &rosCloud{height: 2, width: 3, step: 12, rowStep: 36, fields: slices.Clone(rowFields[:3]),
			rows: make([]byte, 72)}
	}
	for name, c := range map[string]struct {
		edit func(c *rosCloud)
		err  string // "" is allowed
	}{
		"good":                 {func(*rosCloud) {}, ""},
		"no points":            {func(c *rosCloud) { c.width, c.step, c.rows = 0, 12, nil }, ""},
		"row step left 0":      {func(c *rosCloud) { c.rowStep = 0 }, ""},
		"step 0":               {func(c *rosCloud) { c.step = 0 }, "outside of its rows"},
		"step 0 and no fields": {func(c *rosCloud) { c.step, c.fields = 0, nil }, "no field x"},
		"no z":                 {func(c *rosCloud) { c.fields = c.fields[:2] }, "no field z"},
		"unknown datatype":     {func(c *rosCloud) { c.fields[1].datatype = 11 }, "no field y"},
		"offset after the row": {func(c *rosCloud) { c.fields[2].offset = 9 }, "field z of the cloud is outside"},
		"offset overflows":     {func(c *rosCloud) { c.fields[2].offset = math.MaxUint32 }, "outside of its rows"},
		"too wide":             {func(c *rosCloud) { c.width = 4 }, "does not fit"},
		"too high":             {func(c *rosCloud) { c.height = 3 }, "does not fit"},
		"product overflows":    {func(c *rosCloud) { c.width, c.height = 1<<31, 1<<31 }, "does not fit"},
		"stride overflows":     {func(c *rosCloud) { c.height, c.rowStep = math.MaxUint32, math.MaxUint32 }, "does not fit"},
		"short data":           {func(c *rosCloud) { c.rows = c.rows[:71] }, "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := good()
			c.edit(cloud)
			p, err := FromROS(standard("sensor_msgs/PointCloud2", Options{}), protoapollo.Message("apollo.drivers.PointCloud"),
				Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.AppendAt(nil, cloud.write(false), now)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) ||
				!errors.Is(err, ErrMalformed)) {
				t.Error(err)
			}
		})
	}
}
