package migrate_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A versioner makes pairs of versions of a type, and messages of the old one. It stays within what
// rosbags migrates by the same rules: values fit their new kinds, no field of a type is gone if one
// of that type is new, and arrays of structs and strings do not grow.
type versioner struct {
	*rand.Rand
	types int
}

var oldKinds = []schema.Kind{schema.Bool, schema.Int8, schema.Uint8, schema.Int16, schema.Uint16, schema.Int32,
	schema.Uint32, schema.Int64, schema.Float32, schema.Float64}

// pair makes the versions of one struct.
func (r *versioner) pair(depth int) (src, dst *schema.Message) {
	r.types++
	name := "p/msg/T"
	if depth > 0 {
		name = fmt.Sprintf("p/msg/T%d", r.types)
	}
	src, dst = &schema.Message{Name: name}, &schema.Message{Name: name}
	for i := range 1 + r.IntN(6) {
		f := schema.Field{Name: fmt.Sprintf("f%d", i)}
		g := f
		switch k := r.IntN(10); {
		case k < 6:
			f.Type.Kind = oldKinds[r.IntN(len(oldKinds))]
			g.Type.Kind = f.Type.Kind
			if r.IntN(3) == 0 {
				g.Type.Kind = oldKinds[1+r.IntN(len(oldKinds)-1)] // not bool, which it keeps as numbers
			}
		case k < 8 || depth > 2:
			f.Type.Kind, g.Type.Kind = schema.String, schema.String
		default:
			f.Type.Kind, g.Type.Kind = schema.Struct, schema.Struct
			f.Type.Message, g.Type.Message = r.pair(depth + 1)
		}
		if k := r.IntN(6); k < 3 {
			f.Type.Array, f.Type.Len = schema.Array(1+k), 1+r.IntN(4)
			g.Type.Array, g.Type.Len = f.Type.Array, f.Type.Len
			if r.IntN(2) == 0 {
				g.Type.Array, g.Type.Len = schema.Array(1+r.IntN(3)), 1+r.IntN(4)
			}
			if g.Type.Array == schema.Fixed && (f.Type.Kind == schema.String || f.Type.Kind == schema.Struct) {
				g.Type.Array, g.Type.Len = schema.Unbounded, 0
			}
			if f.Type.Array == schema.Unbounded {
				f.Type.Len = 0
			}
			if g.Type.Array == schema.Unbounded {
				g.Type.Len = 0
			}
		}
		src.Fields = append(src.Fields, f)
		if r.IntN(6) > 0 || len(dst.Fields) == 0 {
			dst.Fields = append(dst.Fields, g)
		}
	}
	if r.IntN(2) == 0 { // uint64 is new, and never gone
		dst.Fields = append(dst.Fields, schema.Field{Name: "added", Type: schema.Type{Kind: schema.Uint64}},
			schema.Field{Name: "texts", Type: schema.Type{Kind: schema.Uint64, Array: schema.Unbounded}})
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(dst.Fields), func(i, j int) { dst.Fields[i], dst.Fields[j] = dst.Fields[j], dst.Fields[i] })
	}
	return src, dst
}

// write writes a message with small values.
func (r *versioner) write(w *ros.Writer, m *schema.Message) {
	for _, f := range m.Fields {
		n := 1
		switch f.Type.Array {
		case schema.Fixed:
			n = f.Type.Len
		case schema.Bounded:
			n = r.IntN(f.Type.Len + 1)
		case schema.Unbounded:
			n = r.IntN(5)
		}
		if f.Type.Array == schema.Bounded || f.Type.Array == schema.Unbounded {
			w.U32(uint32(n))
		}
		for range n {
			switch small := r.IntN(100); f.Type.Kind {
			case schema.Struct:
				r.write(w, f.Type.Message)
			case schema.String:
				w.String([]byte("text"[:r.IntN(5)]))
			case schema.Bool:
				w.U8(uint8(small & 1))
			case schema.Float32:
				w.U32(map[bool]uint32{true: 0x40800000, false: 0x3f800000}[small < 50]) // 4, 1
			case schema.Float64:
				w.U64(map[bool]uint64{true: 0x4010000000000000, false: 0x3ff0000000000000}[small < 50])
			default:
				switch f.Type.Kind.Size() {
				case 1:
					w.U8(uint8(small))
				case 2:
					w.U16(uint16(small))
				case 4:
					w.U32(uint32(small))
				case 8:
					w.U64(uint64(small))
				}
			}
		}
	}
}

// TestReferee compares migrations with those of rosbags by value, for random pairs of
// definitions.
func TestReferee(t *testing.T) {
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("BAGCONV_ROSBAGS_PYTHON is missing")
		}
		t.Skip("BAGCONV_ROSBAGS_PYTHON names no python with rosbags")
	}
	pairs := 150 // BAGCONV_EXHAUSTIVE=1: 1,200, some 20 s
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		pairs = 1200
	}
	var lines bytes.Buffer
	for seed := range pairs {
		r := &versioner{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
		src, dst := r.pair(0)
		plan, err := transcode.Compile(src, dst, transcode.Options{From: serial.CDR, To: serial.CDR, Migrate: true})
		if err != nil {
			t.Fatal(seed, err)
		}
		w := ros.NewWriter(nil, true)
		r.write(&w, src)
		ours, err := plan.Append(nil, w.Buf)
		if err != nil {
			t.Fatal(seed, err)
		}
		text, err := json.Marshal(map[string]string{"name": "p/msg/T", "src": string(rosmsg.Format(src, rosmsg.ROS2)),
			"dst":     string(rosmsg.Format(dst, rosmsg.ROS2)),
			"message": hex.EncodeToString(w.Buf), "ours": hex.EncodeToString(ours)})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	cmd := exec.Command(python, "testdata/referee/migrate.py")
	cmd.Stdin = &lines
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprintf("compared %d", pairs) {
		t.Fatalf("%v\n%.4000s", err, out)
	}
}
