package content

import (
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// The types that recordings are full of, in short, with the length of their lists.
var benchTypes = []struct {
	name, text string
	n          int
}{
	{"Imu", "time stamp\nstring frame\nfloat64[4] o\nfloat64[9] oc\nfloat64[3] w\nfloat64[9] wc\nfloat64[3] " +
		"a\nfloat64[9] ac\n", 0},
	{"Joints", "time stamp\nstring[] name\nfloat64[] position\nfloat64[] velocity\n", 30},
	{"TF", "Link[] transforms\n" + line + "MSG: p/Link\ntime stamp\nstring frame\nstring child\nV t\nQ r\n" +
		line + "MSG: p/V\nfloat64 x\nfloat64 y\nfloat64 z\n" + line +
		"MSG: p/Q\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n", 20},
	{"Image", "time stamp\nstring frame\nuint32 height\nuint32 width\nuint8[] data\n", 6_200_000},
}

// putBench writes a value of a type; lists have n elements.
func putBench(w *ros.Writer, t schema.Type, n int) {
	count := 1
	switch t.Array {
	case schema.Fixed:
		count = t.Len
	case schema.Unbounded:
		count = n
		w.U32(uint32(n))
	}
	for i := range count {
		switch t.Kind {
		case schema.Struct:
			for _, f := range t.Message.Fields {
				putBench(w, f.Type, n)
			}
		case schema.String:
			w.String([]byte("base_link"))
		case schema.Time:
			w.Time(1_700_000_000_000_000_000)
		case schema.Float64:
			w.F64(float64(i) + 0.5)
		case schema.Uint32:
			w.U32(480)
		default:
			w.U8(uint8(i))
		}
	}
}

// BenchmarkRead makes the digest of messages of the sizes that real ones have.
func BenchmarkRead(b *testing.B) {
	for _, c := range benchTypes {
		msg := parse(b, c.text, rosmsg.ROS1)
		typ := Canonical(msg, false)
		var messages [2][]byte
		for wire, name := range []string{serial.ROS1: "ros1", serial.CDR: "cdr"} {
			w := ros.NewWriter(nil, serial.Encoding(wire) == serial.CDR)
			putBench(&w, schema.Type{Kind: schema.Struct, Message: msg}, c.n)
			messages[wire] = w.Buf
			b.Run(c.name+"/"+name, func(b *testing.B) {
				p, err := FromROS(msg, serial.Encoding(wire), typ, true)
				if err != nil {
					b.Fatal(err)
				}
				benchRead(b, p, w.Buf)
			})
		}
		b.Run(c.name+"/protobuf", func(b *testing.B) {
			set, name, err := protoschema.Describe(msg, nil)
			if err != nil {
				b.Fatal(err)
			}
			parsed, err := protoschema.Parse(set)
			if err != nil {
				b.Fatal(err)
			}
			md, err := parsed.Message(name)
			if err != nil {
				b.Fatal(err)
			}
			to, err := transcode.CompileToProto(msg, serial.ROS1, md)
			if err != nil {
				b.Fatal(err)
			}
			message, err := to.Append(nil, messages[serial.ROS1])
			if err != nil {
				b.Fatal(err)
			}
			p, err := FromProto(md, msg, false, typ, true)
			if err != nil {
				b.Fatal(err)
			}
			benchRead(b, p, message)
		})
	}
}

func benchRead(b *testing.B, p *Program, message []byte) {
	w := NewWriter(true) // hashing would take most of the time
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if err := p.Read(w, message); err != nil {
			b.Fatal(err)
		}
	}
}
