package transcode

import (
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// BenchmarkProto re-encodes messages into protobuf and back.
func BenchmarkProto(b *testing.B) {
	set := func(names []string, vals ...any) *strc { return &strc{names, vals} }
	header := set([]string{"frame_id"}, "base_link")
	for _, c := range []struct {
		name string
		v    any
	}{
		{"Imu", set([]string{"header"}, header)},
		{"Joints", set([]string{"header", "name", "position"}, header, repeat(30, "joint_number"),
			repeat(30, num{[]byte("8 bytes.")}))},
		{"TF", set([]string{"transforms"}, repeat(20, set([]string{"header", "child"}, header, "wheel_l")))},
	} {
		msg := parseBench(b, "t/msg/"+c.name, rosmsg.ROS2)
		in := walkEncode(msg, c.v, serial.CDR, ros.PlainLE)
		text, full, err := protoschema.Describe(msg, nil)
		if err != nil {
			b.Fatal(err)
		}
		files, err := protoschema.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		md, err := files.Message(full)
		if err != nil {
			b.Fatal(err)
		}
		to, err := CompileToProto(msg, serial.CDR, md)
		if err != nil {
			b.Fatal(err)
		}
		from, err := CompileFromProto(md, msg, serial.CDR)
		if err != nil {
			b.Fatal(err)
		}
		wire, err := to.Append(nil, in)
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []struct {
			name string
			in   []byte
			p    interface {
				Append(dst, src []byte) ([]byte, error)
			}
		}{{"to", in, to}, {"from", wire, from}} {
			b.Run(c.name+"/"+way.name, func(b *testing.B) {
				var out []byte
				b.SetBytes(int64(len(way.in)))
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					if out, err = way.p.Append(out[:0], way.in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
