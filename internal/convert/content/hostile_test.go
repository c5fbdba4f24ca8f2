package content

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// FuzzRead: no bytes and no type make a reader fall or write out of proportion; what
// it refuses wraps ErrMalformed; canonical bytes and their digest do not depend on the
// writer; and canonical bytes, read as ROS 1, are the same again.
func FuzzRead(f *testing.F) {
	f.Add("float32 a\nbool[] b\n", []byte{0, 0, 0xc0, 0x7f, 2, 0, 0, 0, 1, 5})
	f.Add("string[] s\nfloat64[2] x\n", []byte{0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 0})
	f.Add("P[] p\n"+line+"MSG: p/P\nfloat64[] x\nstring[3] y\n", bytes.Repeat([]byte{1, 0, 0, 0}, 20))
	f.Add("P[1000000] p\n"+line+"MSG: p/P\nQ[1000000] q\n"+line+"MSG: p/Q\nfloat64[1000000] x\n", []byte{})
	f.Add("E[] e\nE[1000000000] g\n"+line+"MSG: p/E\n", []byte{0xff, 0xff, 0xff, 0xff})
	f.Add("time t\nduration[] d\nwstring w\n", []byte{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 9, 9, 9, 9, 0, 0, 0,
		1, 0, 1, 0, 0, 0xd8, 0})
	f.Add("int32 a\n", []byte{0, 9, 0, 0, 0, 0, 0, 8, 1, 2, 3, 4, 5})
	f.Add("uint8 a\nstring b\nuint8[] c\n", []byte{8, 200, 1, 18, 1, 'x', 26, 2, 1, 2})
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		for _, d := range []rosmsg.Dialect{rosmsg.ROS1, rosmsg.ROS2} {
			msg, err := rosmsg.Parse("p/T", []byte(text), d, nil)
			if err != nil {
				continue
			}
			typ := Canonical(msg, true)
			for _, wire := range []serial.Encoding{serial.ROS1, serial.CDR} {
				if p, err := FromROS(msg, wire, typ, true); err == nil {
					checkRead(t, p, data)
				}
			}
			again, err := FromROS(typ, serial.ROS1, typ, true)
			first, err1 := FromROS(msg, serial.ROS1, typ, true)
			if w := NewWriter(true); err == nil && err1 == nil && !strings.Contains(text, "ime") && !strings.Contains(text,
				"duration") && first.Read(w, data) == nil {
				once := bytes.Clone(w.Bytes())
				if err := again.Read(w, once); err != nil || !bytes.Equal(once, w.Bytes()) {
					t.Errorf("a second time it is something else: %v\n%x\n%x", err, once, w.Bytes())
				}
			}
			set, name, err := protoschema.Describe(typ, nil)
			if err != nil {
				continue
			}
			if parsed, err := protoschema.Parse(set); err == nil {
				if md, err := parsed.Message(name); err == nil {
					if p, err := FromProto(md, msg, false, typ, true); err == nil {
						checkRead(t, p, data)
					}
					if gen, err := protoschema.NewNamer(false).ROS(md); err == nil {
						if p, err := FromProto(md, gen, true, Canonical(gen, false), true); err == nil {
							checkRead(t, p, data)
						}
					}
				}
			}
		}
	})
}

func checkRead(t *testing.T, p *Program, data []byte) {
	t.Helper()
	keep, sum := NewWriter(true), NewWriter(false)
	err, err2 := p.Read(keep, data), p.Read(sum, data)
	if (err == nil) != (err2 == nil) || err != nil && !errors.Is(err, ErrMalformed) {
		t.Fatalf("%v, %v", err, err2)
	}
	if most := maxExtra + maxZero + 2*maxGrowth*len(data); len(keep.Bytes()) > most {
		t.Fatalf("%d bytes of %d", len(keep.Bytes()), len(data))
	}
	if err == nil && keep.Rest != sum.Rest {
		t.Fatal("the writers do not agree")
	}
}

// TestLarge: what is hashed as it is read has the digest of the whole.
func TestLarge(t *testing.T) {
	msg := parse(t, "string a\nuint8[] b\nfloat64[] c\nuint8 d\n", rosmsg.ROS1)
	p, err := FromROS(msg, serial.ROS1, Canonical(msg, false), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 4095, 4096, 40_000} {
		data := append([]byte{1, 0, 0, 0, 'x', byte(n), byte(n >> 8), 0, 0}, bytes.Repeat([]byte{7}, n)...)
		data = append(append(data, byte(n/8), byte(n/8>>8), 0, 0), bytes.Repeat([]byte{1}, n/8*8)...)
		data = append(data, 9)
		keep, sum, whole := NewWriter(true), NewWriter(false), NewWriter(false)
		if err := errors.Join(p.Read(keep, data), p.Read(sum, data)); err != nil || !bytes.Equal(keep.Bytes(), data) {
			t.Fatalf("%d: %v", n, err)
		}
		whole.Reset()
		whole.buf = append(whole.buf, data...)
		if sum.Sum() != whole.Sum() || sum.Len() != len(data)+1 {
			t.Errorf("%d: another digest", n)
		}
	}
}
