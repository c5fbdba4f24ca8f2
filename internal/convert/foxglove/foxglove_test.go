package foxglove

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// define makes a type of lines "kind name"; structs are those in types.
func define(text string, types map[string]*schema.Message) *schema.Message {
	kinds := map[string]schema.Kind{"time": schema.Time, "string": schema.String, "float64": schema.Float64,
		"uint32": schema.Uint32,
		"int32":  schema.Int32, "int64": schema.Int64, "uint8": schema.Uint8}
	m := &schema.Message{Name: "foxglove/Made"}
	for line := range strings.SplitSeq(text, "\n") {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind, list := strings.CutSuffix(kind, "[]")
		t := schema.Type{Kind: kinds[kind], Message: types[kind]}
		if t.Message != nil {
			t.Kind = schema.Struct
		}
		if list {
			t.Array = schema.Unbounded
		}
		m.Fields = append(m.Fields, schema.Field{Name: name, Type: t})
	}
	return m
}

// wire writes values in a row: int and uint32 as u32, int64 as u64, float32, float64, strings,
// bytes as such, and []float64 and []byte as lists.
func wire(cdr bool, values ...any) []byte {
	w := ros.NewWriter(nil, cdr)
	for _, v := range values {
		switch v := v.(type) {
		case int:
			w.U32(uint32(v))
		case int64:
			w.U64(uint64(v))
		case uint8:
			w.U8(v)
		case uint16:
			w.U16(v)
		case float32:
			w.F32(v)
		case float64:
			w.F64(v)
		case string:
			w.String([]byte(v))
		case []byte:
			w.Bytes(v)
		case []float64:
			w.U32(uint32(len(v)))
			for _, x := range v {
				w.F64(x)
			}
		case []float32:
			w.U32(uint32(len(v)))
			for _, x := range v {
				w.F32(x)
			}
		}
	}
	return w.Buf
}

var geometry = func() map[string]*schema.Message {
	t := map[string]*schema.Message{}
	t["vector"] = define("float64 x\nfloat64 y\nfloat64 z", nil)
	t["quaternion"] = define("float64 x\nfloat64 y\nfloat64 z\nfloat64 w", nil)
	t["pose"] = define("vector position\nquaternion orientation", t)
	t["field"] = define("string name\nuint32 offset\nint32 type", nil)
	t["transform"] = define(
		"time timestamp\nstring parent_frame_id\nstring child_frame_id\nvector translation\nquaternion rotation", t)
	return t
}()

type sample struct {
	name, def string
	src, want []any // without the counter of a Header
	dropped   string
}

func samples() []sample {
	pose := []any{1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8}
	matrix := func(n int) (list []float64, flat []any) {
		for i := range n {
			list, flat = append(list, float64(i)), append(flat, float64(i))
		}
		return list, flat
	}
	k, flatK := matrix(9)
	p, flatP := matrix(12)
	join := func(parts ...[]any) (out []any) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	zeros := func(n int) (out []any) {
		for range n {
			out = append(out, 0.0)
		}
		return out
	}
	head := []any{7, 8, "f"}
	return []sample{
		{"CompressedImage", "time timestamp\nuint8[] data\nstring format\nstring frame_id",
			[]any{7, 8, []byte{1, 2, 3}, "png", "f"},
			join(head, []any{"png", []byte{1, 2, 3}}), ""},
		{"RawImage", "time timestamp\nuint32 width\nuint32 height\nstring encoding\nuint32 step\nuint8[] data\nstring " +
			"frame_id",
			[]any{7, 8, 2, 1, "rgb8", 6, []byte("abcdef"), "f"}, join(head, []any{1, 2, "rgb8", uint8(0), 6, []byte("abcdef")}),
			""},
		{"CameraCalibration", "time timestamp\nint64 width\nint64 height\nstring distortion_model\nfloat64[] D\nfloat64[] " +
			"K\nfloat64[] R\nfloat64[] P\nstring frame_id",
			[]any{7, 8, int64(640), int64(480), "plumb_bob", []float64{0.5}, k, []float64{}, p, "f"},
			join(head, []any{480, 640, "plumb_bob", []float64{0.5}}, flatK, zeros(9), flatP, []any{0, 0, 0, 0, 0, 0, uint8(0)}),
			""},
		{"PointCloud", "time timestamp\nstring frame_id\npose pose\nuint32 point_stride\nfield[] fields\nuint8[] data",
			join([]any{7, 8, "f"}, pose, []any{4, 2, "x", 0, 7, "i", 2, 1, []byte("abcdefgh")}),
			join(head, []any{1, 2, 2, "x", 0, uint8(7), 1, "i", 2, uint8(2), 1, uint8(0), 4, 8, []byte("abcdefgh"), uint8(0)}),
			"pose"},
		{"LaserScan", "time timestamp\nstring frame_id\npose pose\nfloat64 start_angle\nfloat64 end_angle\nfloat64[] " +
			"ranges\nfloat64[] intensities",
			join([]any{7, 8, "f"}, pose, []any{0.0, 1.0, []float64{1, 2, 3}, []float64{9}}),
			join(head, []any{float32(0), float32(1), float32(0.5), float32(0), float32(0), float32(0), float32(math.MaxFloat32),
				[]float32{1, 2, 3}, []float32{9}}), "pose"},
		{"LocationFix", "float64 latitude\nfloat64 longitude\nfloat64 altitude\nfloat64[] position_covariance\nint32 " +
			"position_covariance_type\ntime timestamp\nstring frame_id\nuint8 color",
			[]any{1.5, 2.5, 3.5, k, 2, 7, 8, "f", uint8(1)}, join(head, []any{uint8(0), uint16(0), 1.5, 2.5, 3.5}, flatK,
				[]any{uint8(2)}), "color"},
		{"FrameTransform", "time timestamp\nstring parent_frame_id\nstring child_frame_id\nvector translation\nquaternion " +
			"rotation",
			join([]any{7, 8, "f", "child"}, pose), join([]any{1, 7, 8, "f", "child"}, pose), ""},
		{"FrameTransforms", "transform[] transforms", join([]any{1, 7, 8, "f", "child"}, pose),
			join([]any{1, 7, 8, "f", "child"}, pose), ""},
		{"PoseInFrame", "time timestamp\nstring frame_id\npose pose", join(head, pose), join(head, pose), ""},
		{"PosesInFrame", "time timestamp\nstring frame_id\npose[] poses", join(head, []any{2}, pose, pose),
			join(head, []any{2}, pose, pose), ""},
		{"Log", "time timestamp\nint32 level\nstring message\nstring name\nstring file\nuint32 line",
			[]any{7, 8, 3, "hello", "node", "a.cc", 12}, []any{7, 8, uint8(30), "node", "hello", "a.cc", "", 12}, ""},
	}
}

// TestToROS: each schema, in both encodings.
func TestToROS(t *testing.T) {
	for _, s := range samples() {
		name := "foxglove." + s.name
		src := define(s.def, geometry)
		for _, cdr := range []bool{false, true} {
			want := slices.Clone(s.want)
			if !cdr {
				switch s.name {
				case "Log": // that of ROS 1: a header, and topics
					want = []any{0, 7, 8, "", uint8(4), "node", "hello", "a.cc", "", 12, 0}
				case "FrameTransform", "FrameTransforms":
					want = slices.Insert(want, 1, any(0))
				default:
					want = slices.Insert(want, 0, any(0))
				}
			}
			p, err := ToROS(name, src, Options{CDR: cdr})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			in := wire(false, s.src...)
			got, err := p.Append([]byte("x"), in)
			if err != nil || string(got) != "x"+string(wire(cdr, want...)) {
				t.Errorf("%s, CDR %t: % x, want % x: %v", name, cdr, got[1:], wire(cdr, want...), err)
			}
			if d := strings.Join(p.Dropped(), " "); d != s.dropped {
				t.Errorf("%s drops %q, want %q", name, d, s.dropped)
			}
			for i := range in { // cut, and with each byte changed
				if got, err := p.Append(nil, in[:i]); !errors.Is(err, transcode.ErrMalformed) || len(got) > 0 {
					t.Errorf("%s of %d bytes: % x, %v", name, i, got, err)
				}
				flipped := bytes.Clone(in)
				flipped[i] ^= 0xff
				if got, err := p.Append(nil, flipped); err == nil && len(got) > 4*len(in)+512 {
					t.Errorf("%s becomes %d bytes", name, len(got))
				}
			}
		}
	}
}

// TestRefused: types without what the mapping needs.
func TestRefused(t *testing.T) {
	for def, want := range map[string]string{
		"time timestamp\nstring frame_id":                    "no field data",
		"int64 timestamp\nuint8[] data":                      "timestamp",
		"time timestamp\nstring data":                        "data",
		"time timestamp\nuint8[] data\nfloat64[] frame_id":   "frame_id",
		"time timestamp\nuint8[] data\nfloat64 format\n":     "format",
		"time timestamp\nstring[] data\nfloat64[] timestamp": "data",
	} {
		if _, err := ToROS("foxglove.CompressedImage", define(def, geometry), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", def, err, want)
		}
	}
	if _, err := ToROS("foxglove.SceneUpdate", define("time timestamp", nil), Options{}); err == nil {
		t.Error("a schema without a counterpart")
	}
	p, err := ToROS("foxglove.CameraCalibration", define("uint32 width\nuint32 height\nfloat64[] k", nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Append(nil, wire(false, 1, 2, []float64{1, 2})); err == nil || !strings.Contains(err.Error(),
		"2 values, not 9") {
		t.Errorf("a matrix of two values: %v", err)
	}
}

// FuzzToROS: no message panics, or grows out of proportion.
func FuzzToROS(f *testing.F) {
	all := samples()
	for i, s := range all {
		f.Add(uint8(i), wire(false, s.src...), true)
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte, cdr bool) {
		s := all[int(i)%len(all)]
		p, err := ToROS("foxglove."+s.name, define(s.def, geometry), Options{CDR: cdr})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Append(nil, data); err == nil && len(got) > 4*len(data)+512 {
			t.Fatalf("%d bytes become %d", len(data), len(got))
		}
	})
}
