package transcode

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// TestAgainstWalker compares programs with the walker: random types, random
// values, both directions, every form of CDR: 7,000 types, and 20,000 with BAGCONV_EXHAUSTIVE=1.
func TestAgainstWalker(t *testing.T) {
	for seed := range samples.Pick(20_000, 7_000, 2_000) {
		r := maker{rand.New(rand.NewPCG(uint64(seed), 2))}
		ros1, ros2 := r.twins(0)
		there, err := Compile(ros1, ros2, Options{From: serial.ROS1, To: serial.CDR})
		if err != nil {
			t.Fatal(seed, err)
		}
		back, err := Compile(ros2, ros1, Options{From: serial.CDR, To: serial.ROS1})
		if err != nil {
			t.Fatal(seed, err)
		}
		other := r.scramble(ros2)
		migrate, err := Compile(ros2, other, Options{From: serial.CDR, To: serial.CDR})
		if err != nil && !errors.Is(err, errTooLarge) {
			t.Fatal(seed, err)
		}
		for range 2 {
			v := r.value(schema.Type{Kind: schema.Struct, Message: ros1}, 0)
			in := walkEncode(ros1, v, serial.ROS1, 0)
			want := walkEncode(ros2, v, serial.CDR, ros.PlainLE)
			check(t, seed, there, in, want)
			plain := walkEncode(ros1, zeroSeq(v), serial.ROS1, 0)
			for form := ros.PlainLE; form < ros.Forms; form++ {
				cdr := walkEncode(ros2, v, serial.CDR, form)
				check(t, seed, back, cdr, plain)
				check(t, seed, back, append(cdr, 1, 2, 3), plain) // a tail is left alone
				if migrate != nil {
					tree, _ := walkDecode(ros2, cdr, serial.CDR, form)
					check(t, seed, migrate, cdr, walkEncode(other, tree, serial.CDR, ros.PlainLE))
				}
			}
		}
	}
}

// zeroSeq returns the tree without the counters of Headers.
func zeroSeq(v any) any {
	switch v := v.(type) {
	case list:
		for i := range v {
			v[i] = zeroSeq(v[i])
		}
	case *strc:
		for i := range v.vals {
			if v.names[i] == "seq" {
				v.vals[i] = num{make([]byte, 4)}
			} else {
				v.vals[i] = zeroSeq(v.vals[i])
			}
		}
	}
	return v
}

func check(t *testing.T, seed int, p *Plan, in, want []byte) {
	t.Helper()
	prefix := []byte("prefix!") // an odd place in the arena must not matter
	got, err := p.Append(prefix, in)
	if err != nil {
		t.Fatalf("seed %d: %v\n%x", seed, err, in)
	}
	if !bytes.Equal(got[len(prefix):], want) {
		t.Fatalf("seed %d\nin   %x\ngot  %x\nwant %x\nops %+v", seed, in, got[len(prefix):], want, p.main.ops)
	}
}

// TestDamaged cuts and changes payloads: no panic, and an output in proportion.
func TestDamaged(t *testing.T) {
	for seed := range 1500 {
		r := maker{rand.New(rand.NewPCG(uint64(seed), 3))}
		ros1, ros2 := r.twins(0)
		there, _ := Compile(ros1, ros2, Options{From: serial.ROS1, To: serial.CDR})
		back, _ := Compile(ros2, ros1, Options{From: serial.CDR, To: serial.ROS1})
		v := r.value(schema.Type{Kind: schema.Struct, Message: ros1}, 0)
		in := walkEncode(ros1, v, serial.ROS1, 0)
		for i := range in {
			if _, err := there.Append(nil, in[:i]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("seed %d, cut at %d of %d: %v", seed, i, len(in), err)
			}
		}
		for _, p := range []struct {
			plan *Plan
			in   []byte
		}{{there, in}, {back, walkEncode(ros2, v, serial.CDR, ros.PlainLE)},
			{back, walkEncode(ros2, v, serial.CDR, ros.Delimited2BE)}} {
			for range 60 {
				b := bytes.Clone(p.in)
				for range 1 + r.IntN(3) {
					if len(b) > 0 {
						b[r.IntN(len(b))] = byte(r.Uint32())
					}
				}
				out, err := p.plan.Append(nil, b[:r.IntN(len(b)+1)])
				if err != nil && (!errors.Is(err, ErrMalformed) || len(out) != 0) {
					t.Fatalf("seed %d: %v, %d bytes", seed, err, len(out))
				}
				if len(out) > 2*len(b)+maxFuel {
					t.Fatalf("seed %d: %d bytes from %d", seed, len(out), len(b))
				}
			}
		}
	}
}

func TestVectors(t *testing.T) {
	text := &schema.Message{Name: "std_msgs/String", Fields: []schema.Field{field("data", schema.String)}}
	empty := &schema.Message{Name: "std_msgs/Empty"}
	floats := &schema.Message{Name: "p/F", Fields: []schema.Field{many(field("v", schema.Float64), schema.Unbounded, 0)}}
	for name, c := range map[string]struct {
		m         *schema.Message
		cdr, ros1 string
	}{
		"hello":              {text, "00010000 06000000 68656c6c6f00", "05000000 68656c6c6f"},
		"empty string":       {text, "00010000 01000000 00", "00000000"},
		"length 0":           {text, "00010000 00000000", "00000000"},
		"no NUL":             {text, "00010000 05000000 68656c6c6f", "05000000 68656c6c6f"},
		"big endian":         {text, "00000000 00000006 68656c6c6f00", "05000000 68656c6c6f"},
		"options and tail":   {text, "00010003 06000000 68656c6c6f00 000000", "05000000 68656c6c6f"},
		"empty":              {empty, "00010000 00", ""},
		"no floats":          {floats, "00010000 00000000", "00000000"},
		"one float, aligned": {floats, "00010000 01000000 00000000 000000000000f03f", "01000000 000000000000f03f"},
		"XCDR2 float":        {floats, "00070000 01000000 000000000000f03f", "01000000 000000000000f03f"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(c.m, c.m, Options{From: serial.CDR, To: serial.ROS1})
			if err != nil {
				t.Fatal(err)
			}
			check(t, 0, p, unhex(t, c.cdr), unhex(t, c.ros1))
		})
	}
	p, err := Compile(text, text, Options{From: serial.ROS1, To: serial.CDR})
	if err != nil {
		t.Fatal(err)
	}
	check(t, 0, p, unhex(t, "05000000 68656c6c6f"), unhex(t, "00010000 06000000 68656c6c6f00"))
	for _, bad := range []string{"", "000100", "00030000 00", "01010000 00000000"} {
		back, _ := Compile(text, text, Options{From: serial.CDR, To: serial.ROS1})
		if _, err := back.Append(nil, unhex(t, bad)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(string(bytes.ReplaceAll([]byte(s), []byte(" "), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestHugeCounts: counts that lie are refused before anything is done for them.
func TestHugeCounts(t *testing.T) {
	empty := &schema.Message{Name: "p/E"}
	m := &schema.Message{Name: "p/T", Fields: []schema.Field{many(strct("e", empty), schema.Unbounded, 0)}}
	p, err := Compile(m, m, Options{From: serial.ROS1, To: serial.CDR})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Append(nil, []byte{0xff, 0xff, 0xff, 0xff}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	big := &schema.Message{Name: "p/B", Fields: []schema.Field{many(field("b", schema.Uint8), schema.Fixed, 1<<31-1)}}
	if _, err := Compile(empty, big, Options{From: serial.ROS1, To: serial.CDR}); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	// Forty types, each with ten of the next: 10^40 fields when written out.
	bomb := &schema.Message{Name: "p/B0", Fields: []schema.Field{field("s", schema.String)}}
	for range 40 {
		next := &schema.Message{Name: "p/B"}
		for i := range 10 {
			next.Fields = append(next.Fields, many(strct(string(rune('a'+i)), bomb), schema.Unbounded, 0))
		}
		bomb = next
	}
	if _, err := Compile(bomb, bomb, Options{From: serial.ROS1, To: serial.CDR}); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
}

func TestBool(t *testing.T) {
	m := &schema.Message{Name: "p/T", Fields: []schema.Field{many(field("b", schema.Bool), schema.Unbounded, 0),
		field("c", schema.Bool)}}
	p, err := Compile(m, m, Options{From: serial.ROS1, To: serial.CDR})
	if err != nil {
		t.Fatal(err)
	}
	check(t, 0, p, append([]byte{12, 0, 0, 0}, 1, 0, 2, 255, 0, 1, 1, 1, 0, 0, 7, 1, 9),
		append([]byte{0, 1, 0, 0, 12, 0, 0, 0}, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1))
}

func TestWString(t *testing.T) {
	wide := &schema.Message{Name: "p/msg/W", Fields: []schema.Field{field("w", schema.WString)}}
	text := &schema.Message{Name: "p/W", Fields: []schema.Field{field("w", schema.String)}}
	p, err := Compile(wide, text, Options{From: serial.CDR, To: serial.ROS1})
	if err != nil {
		t.Fatal(err)
	}
	want := unhex(t, "03000000 c3a478") // ae x
	check(t, 0, p, unhex(t, "00010000 02000000 e4000000 78000000"), want)
	check(t, 0, p, unhex(t, "00010000 02000000 e400 7800"), want)
	check(t, 0, p, unhex(t, "00070000 04000000 e400 7800"), want)
	back, err := Compile(text, wide, Options{From: serial.ROS1, To: serial.CDR})
	if err != nil {
		t.Fatal(err)
	}
	check(t, 0, back, want, unhex(t, "00010000 02000000 e4000000 78000000"))
}

// FuzzAppend: any bytes for any type. If the walker can read them, the plan
// writes what the walker writes; if it cannot, the plan fails too.
func FuzzAppend(f *testing.F) {
	for seed := range uint64(20) {
		r := maker{rand.New(rand.NewPCG(seed, 2))}
		ros1, _ := r.twins(0)
		f.Add(seed, walkEncode(ros1, r.value(schema.Type{Kind: schema.Struct, Message: ros1}, 0), serial.ROS1, 0))
	}
	f.Fuzz(func(t *testing.T, seed uint64, payload []byte) {
		if len(payload) > 4096 {
			return
		}
		ros1, ros2 := maker{rand.New(rand.NewPCG(seed, 2))}.twins(0)
		there, err := Compile(ros1, ros2, Options{From: serial.ROS1, To: serial.CDR})
		if err != nil {
			t.Fatal(err)
		}
		got, err := there.Append(nil, payload)
		tree, walkErr := walkDecode(ros1, payload, serial.ROS1, 0)
		if walkErr != nil {
			if err == nil {
				t.Fatalf("the walker cannot read it: %v", walkErr)
			}
			return
		}
		if err != nil {
			var e *Error
			if errors.As(err, &e) && e.What == "too many elements that take no bytes" {
				return // a limit that the walker has not
			}
			t.Fatal(err)
		}
		if want := walkEncode(ros2, tree, serial.CDR, ros.PlainLE); !bytes.Equal(got, want) {
			t.Fatalf("got  %x\nwant %x", got, want)
		}
	})
}
