package tables_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

const imuText = `Header header
Q orientation
float64[9] orientation_covariance
V angular_velocity
float64[9] angular_velocity_covariance
V linear_acceleration
float64[9] linear_acceleration_covariance
================
MSG: std_msgs/Header
uint32 seq
time stamp
string frame_id
================
MSG: t/V
float64 x
float64 y
float64 z
================
MSG: t/Q
float64 x
float64 y
float64 z
float64 w
`

// imu makes n messages of an IMU at 1 kHz: its sensors have 16 bits, its orientation is computed, its covariances are
// constant.
func imu(n int) (messages [][]byte) {
	g := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		at := 1_700_000_000_000_000_000 + int64(i)*1_000_000 + g.Int64N(20_000)
		m := binary.LittleEndian.AppendUint32(nil, uint32(i))
		m = binary.LittleEndian.AppendUint32(m, uint32(at/1e9))
		m = binary.LittleEndian.AppendUint32(m, uint32(at%1e9))
		m = append(binary.LittleEndian.AppendUint32(m, 8), "imu_link"...)
		double := func(v float64) { m = binary.LittleEndian.AppendUint64(m, math.Float64bits(v)) }
		covariance := func(v float64) {
			for k := range 9 {
				double(map[bool]float64{true: v}[k%4 == 0])
			}
		}
		for k := range 4 {
			double(math.Sin(float64(i)/1000 + float64(k) + g.NormFloat64()/1e4))
		}
		covariance(0.0025)
		for range 3 {
			double(float64(int16(g.NormFloat64()*300)) * 2000 / 32768 * math.Pi / 180)
		}
		covariance(0.0001)
		for range 3 {
			double(float64(int16(g.NormFloat64()*300)) * 16 / 32768 * 9.80665)
		}
		covariance(0.01)
		messages = append(messages, m)
	}
	return messages
}

func imuProgram(tb testing.TB) *columns.Program {
	m, err := rosmsg.Parse("t/Imu", []byte(imuText), rosmsg.ROS1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := message.ROS(m, serial.ROS1)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := columns.Compile(t, columns.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkImu makes tables of 100,000 messages, with the columns: parts of 25,000, as 8 MB of messages are.
func BenchmarkImu(b *testing.B) {
	messages := imu(100_000)
	p := imuProgram(b)
	for _, k := range makers {
		for name, level := range map[string]int{"plain": -1, "zstd": 0} {
			b.Run(k.ending[1:]+"/"+name, func(b *testing.B) {
				batch, size := p.NewBatch(), 0
				b.SetBytes(int64(len(messages) * len(messages[0])))
				for b.Loop() {
					var out bytes.Buffer
					t, err := k.make(&out, p.Schema(), tables.Options{Level: level})
					if err != nil {
						b.Fatal(err)
					}
					for i, m := range messages {
						if err := batch.Append(m, int64(i), int64(i), 0); err != nil {
							b.Fatal(err)
						}
						if batch.Len() < 25_000 {
							continue
						}
						part, err := t.Encode(batch)
						if err == nil {
							err = t.Append(part)
						}
						if err != nil {
							b.Fatal(err)
						}
						batch.Reset()
					}
					if err := t.Close(); err != nil {
						b.Fatal(err)
					}
					size = out.Len()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(messages)), "ns/message")
				b.ReportMetric(float64(size)/float64(len(messages)), "bytes/message")
			})
		}
	}
}

// BenchmarkOthers makes tables of other messages: a part of each.
func BenchmarkOthers(b *testing.B) {
	const header = "================\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
	const parts = header + "================\nMSG: t/V\nfloat64 x\nfloat64 y\nfloat64 z\n================\nMSG: " +
		"t/Q\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n" +
		"================\nMSG: t/T\nHeader header\nstring child_frame_id\nV translation\nQ rotation\n"
	g := rand.New(rand.NewPCG(1, 1))
	head := append(binary.LittleEndian.AppendUint32(make([]byte, 12), 4), "base"...)
	transform := func(m []byte) []byte {
		m = append(append(m, head...), 5, 0, 0, 0, 'w', 'h', 'e', 'e', 'l')
		for range 7 {
			m = binary.LittleEndian.AppendUint64(m, math.Float64bits(g.NormFloat64()))
		}
		return m
	}
	image := append(append([]byte{}, head...), 0x00, 0x9a, 0x5e, 0)
	for range 0x5e9a00 {
		image = append(image, byte(128+g.NormFloat64()*4))
	}
	tf := []byte{20, 0, 0, 0}
	for range 20 {
		tf = transform(tf)
	}
	scan := append(append([]byte{}, head...), 56, 4, 0, 0)
	for range 1080 {
		scan = binary.LittleEndian.AppendUint32(scan, math.Float32bits(float32(int(g.Float64()*10000))/1000))
	}
	for _, c := range []struct {
		name, text string
		data       []byte
		rows       int
	}{
		{"image", "Header header\nuint8[] data\n" + header, image, 3},
		{"tf", "T[] transforms\n" + parts, tf, 4000},
		{"scan", "Header header\nfloat32[] ranges\n" + header, scan, 1800},
	} {
		m, err := rosmsg.Parse("t/M", []byte(c.text), rosmsg.ROS1, nil)
		if err != nil {
			b.Fatal(err)
		}
		t, err := message.ROS(m, serial.ROS1)
		if err != nil {
			b.Fatal(err)
		}
		p, err := columns.Compile(t, columns.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range makers[:3] {
			b.Run(c.name+"/"+k.ending[1:], func(b *testing.B) {
				batch := p.NewBatch()
				b.SetBytes(int64(c.rows * len(c.data)))
				for b.Loop() {
					batch.Reset()
					for i := range c.rows {
						if err := batch.Append(c.data, int64(i), int64(i), 0); err != nil {
							b.Fatal(err)
						}
					}
					t, err := k.make(io.Discard, p.Schema(), tables.Options{})
					if err != nil {
						b.Fatal(err)
					}
					part, err := t.Encode(batch)
					if err == nil {
						err = errors.Join(t.Append(part), t.Close())
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
