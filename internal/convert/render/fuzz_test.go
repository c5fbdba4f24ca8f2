package render

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"gopkg.in/yaml.v3"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

const fuzzType = `string name
P[] ps
P[2] two
bool b
byte[] data
wstring wide
string[] names
int64 id
Empty e
Empty[] es
================
MSG: a/msg/P
float64 x
float32[] y
string s
Empty e
================
MSG: a/msg/Empty
`

// checkText compares what came out of any bytes with the rules: an error and
// nothing, or text that parsers read, of a bounded length.
func checkText(t *testing.T, p *Program, msg []byte) bool {
	out, err := p.Append([]byte("old"), msg)
	if string(out[:3]) != "old" || len(out) > 2*maxExtra+2*maxGrowth*len(msg) {
		t.Fatalf("%d bytes became %d", len(msg), len(out))
	}
	if err != nil {
		if len(out) != 3 || !errors.Is(err, transcode.ErrMalformed) {
			t.Fatal(len(out), err)
		}
		return false
	}
	var v any
	switch p.o.Style {
	case JSON:
		err = json.Unmarshal(out[3:], &v)
	case YAML:
		err = yaml.Unmarshal(out[3:], &v)
	case CSV:
		r := csv.NewReader(strings.NewReader("x," + string(out[3:]) + "\n"))
		var cells []string
		if cells, err = r.Read(); err == nil && len(cells)-1 != len(p.Columns()) {
			t.Fatalf("%d cells, %d columns: %q", len(cells)-1, len(p.Columns()), out[3:])
		}
	}
	if err != nil {
		t.Fatalf("%v: %q", err, out[3:])
	}
	return true
}

func fuzzOptions(bits byte, paths ...string) Options {
	o := Options{Style: Style(bits % 3), Bytes: bits&4 != 0, Arrays: bits&8 != 0, Indent: int(bits >> 4 & 1)}
	if bits&32 != 0 {
		o.Paths = paths
	}
	return o
}

func FuzzROS(f *testing.F) {
	m, err := rosmsg.Parse("a/msg/M", []byte(fuzzType), rosmsg.ROS2, nil)
	if err != nil {
		f.Fatal(err)
	}
	for i, l := range []string{"ros1", "cdr le", "xcdr2 be", "delimited le"} {
		_, msg := pathMessage(f, 2)
		f.Add(byte(i*9), i > 0, append(slices.Clone(layouts[l].header), msg...))
		f.Add(byte(i*9+32), i > 0, append(slices.Clone(layouts[l].header), make([]byte, 120)...))
	}
	f.Fuzz(func(t *testing.T, bits byte, cdr bool, msg []byte) {
		wire := serial.ROS1
		if cdr {
			wire = serial.CDR
		}
		o := fuzzOptions(bits, "ps.y[1]", "name", "two[1]", "es", "wide")
		p, err := compileROS(m, wire, o)
		if err != nil {
			t.Fatal(err)
		}
		if ok := checkText(t, p, msg); ok && o.Paths == nil {
			// The paths read the same message.
			o.Paths = []string{"id"}
			if p, err = compileROS(m, wire, o); err != nil {
				t.Fatal(err)
			}
			if !checkText(t, p, msg) {
				t.Fatal("a path does not read what the whole program reads")
			}
		}
	})
}

func FuzzProto(f *testing.F) {
	md := hostileDescriptor(f)
	f.Add(byte(0), []byte("\x08\x01\x12\x02\x08\x01\x1a\x02\x01\x02\x22\x03abc"))
	f.Add(byte(33), []byte("\x12\x04\x12\x02\x12\x00\x12\x00"))
	f.Add(byte(2), []byte("\x2b\x08\x01\x2c\x3a\x00\x3a\x02\x08\x05"))
	f.Fuzz(func(t *testing.T, bits byte, msg []byte) {
		p, err := compileProto(md, fuzzOptions(bits, "self.self.n", "list[1].n", "list.packed", "packed[2]", "g"))
		if err != nil {
			t.Fatal(err)
		}
		ok := checkText(t, p, msg)
		if valid := proto.Unmarshal(msg, dynamicpb.NewMessage(md)) == nil; valid && !ok && !deep(msg) {
			t.Fatal("a valid message is refused")
		}
	})
}

// deep reports whether it is a message that may be refused for its depth.
func deep(msg []byte) bool { return len(msg) > 2*128 }
