package columns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// TestTruncation: of a message of each form every part is refused, or it is all of the message but padding.
func TestTruncation(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for i := range forms {
			f := &forms[i]
			w := typetree.New(seed, 6, typetree.Options{ROS2: !f.ros1()})
			m := w.Roots[seed+1]
			typ, md := f.typeOf(t, m)
			p, err := columns.Compile(typ, columns.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b := p.NewBatch()
			data := f.encode(t, m, w.Value(m), md)
			if err := b.Append(data, 0, 0, 0); err != nil {
				t.Fatal(err)
			}
			whole := dump(b.Columns())
			for n := range data {
				if err := b.Append(data[:n], 0, 0, 0); err == nil && !f.proto && len(data)-n > 7 {
					t.Errorf("%s in %s: %d of %d bytes were read", m.Name, f.name, n, len(data))
				} else if err == nil {
					b.Undo(1, columns.Doubts{})
				} else if !errors.Is(err, ros.ErrMalformed) {
					t.Error(err)
				}
				if dump(b.Columns()) != whole {
					t.Fatalf("%s in %s: the batch changed after %d bytes", m.Name, f.name, n)
				}
			}
		}
	}
}

// TestFull: a batch that has no place for a message says so and stays as it is; a message that has none at all is
// refused otherwise.
func TestFull(t *testing.T) {
	text := func(s string) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...)
	}
	for _, c := range []struct {
		definition string
		o          columns.Options
		data       []byte
	}{
		{"string s", columns.Options{}, text("123456")},
		{"float64[] s", columns.Options{}, append(text(""), 0)[:0]},
		{"string s\nint8[] n", columns.Options{Explode: "n"}, append(text("12"), text("abc")...)},
		{"int8[] s\nint8[] n", columns.Options{Explode: "n"}, append(text("12"), text("abc")...)},
	} {
		if len(c.data) == 0 {
			c.data = append(binary.LittleEndian.AppendUint32(nil, 6), make([]byte, 48)...)
		}
		b := program(t, c.definition, c.o).NewBatch()
		b.SetLimit(10)
		if err := b.Append(c.data, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		before := dump(b.Columns())
		if err := b.Append(c.data, 0, 0, 0); !errors.Is(err, columns.ErrFull) || dump(b.Columns()) != before {
			t.Errorf("%s: %v", c.definition, err)
		}
		b.Reset()
		b.SetLimit(5)
		if err := b.Append(c.data, 0, 0, 0); !errors.Is(err, ros.ErrMalformed) || b.Len() != 0 {
			t.Errorf("%s: %v", c.definition, err)
		}
	}
}

// TestProportion: small messages do not become large columns.
func TestProportion(t *testing.T) {
	var text strings.Builder
	text.WriteString("syntax = \"proto3\"; package p; message L { T t = 1; repeated T list = 2; }\nmessage T {")
	for i := range 1000 {
		fmt.Fprintf(&text, "double f%d = %d; ", i, i+1)
	}
	typ, _ := protoType(t, text.String()+"}", "p.L")
	p, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := p.NewBatch()
	if err := b.Append(bytes.Repeat([]byte{0x12, 0}, 1000), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := b.Append(bytes.Repeat([]byte{0x12, 0}, 60_000), 0, 0, 0); !errors.Is(err, ros.ErrMalformed) ||
		!strings.Contains(err.Error(), "proportion") {
		t.Errorf("%v: %d bytes", err, b.Bytes())
	}
	rows := program(t, "string s\nuint8[] d\nint8[] n", columns.Options{Explode: "n"}).NewBatch()
	data := binary.LittleEndian.AppendUint32(nil, 1<<20)
	data = append(append(data, make([]byte, 1<<20)...), 0, 0, 0, 0)
	data = append(append(data, 0, 0, 1, 0), make([]byte, 1<<16)...)
	if err := rows.Append(data, 0, 0, 0); !errors.Is(err, ros.ErrMalformed) || !strings.Contains(err.Error(),
		"proportion") || rows.Bytes() > 16 {
		t.Errorf("%v: %d bytes", err, rows.Bytes())
	}
}

// TestTooMany: a type has a bounded number of columns.
func TestTooMany(t *testing.T) {
	text := "A a\nA b\nA c\nA d\nA e\nA f\nA g\nA h\nA i\nA j"
	for _, next := range []string{"B", "C", "D", "int8"} {
		text += line + string(next[0]-1) + "\n" + strings.ReplaceAll("T a\nT b\nT c\nT d\nT e\nT f\nT g\nT h\nT i\nT j", "T ",
			next+" ")
	}
	text = strings.Replace(text, line+"h", line+"D", 1)
	_, err := columns.Compile(typeOf(t, text), columns.Options{})
	if err == nil || !strings.Contains(err.Error(), "more than 10000 columns") {
		t.Error(err)
	}
	if _, err := columns.Compile(typeOf(t, text), columns.Options{Columns: []string{"a.b.c", "j.a"}}); err != nil {
		t.Error(err)
	}
}

const fuzzText = "string name\nP[] ps\nP[2] two\nbool b\nuint8[] data\ntime[3] ts\nstring[] names\nint64 id\nE " +
	"e\nE[] es\nduration[] ds" +
	line + "P\nfloat64 x\nfloat32[] y\nstring s\nE e" + line + "E"

// FuzzROS: any bytes are a message, or leave the batch as it was.
func FuzzROS(f *testing.F) {
	m := typeOf(f, fuzzText)
	f.Add(make([]byte, 89)) // a message
	g := rand.New(rand.NewPCG(1, 1))
	for i := range 4 {
		data := make([]byte, 400)
		for k := range data {
			if g.IntN(4) == i {
				data[k] = byte(g.IntN(3))
			}
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, m, data) })
}

// FuzzProto is FuzzROS for protobuf.
func FuzzProto(f *testing.F) {
	typ, _ := protoType(f, protoText, "p.T")
	f.Add([]byte("\x08\x4d\x12\x04\x12\x02\x01\x05"))
	f.Add(protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), []byte("\x32\x00")))
	f.Add([]byte("\x1a\x05\x0a\x01a\x12\x00\x22\x02\x08\x01\x62\x02\x01\x02"))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, typ, data) })
}

func fuzzed(t *testing.T, typ *message.Type, data []byte) {
	for _, o := range []columns.Options{{}, {Flat: true, StructTimes: true, BinaryText: true}} {
		p, err := columns.Compile(typ, o)
		if err != nil {
			t.Fatal(err)
		}
		b := p.NewBatch()
		before := dump(b.Columns())
		err = b.Append(data, 0, 0, 0)
		if err != nil && (!errors.Is(err, ros.ErrMalformed) || dump(b.Columns()) != before ||
			b.Doubts() != (columns.Doubts{})) {
			t.Fatal(err)
		}
		if err == nil {
			rows(b)
			if n := b.Bytes(); n > 64<<20+64*len(data) {
				t.Fatalf("%d bytes became %d", len(data), n)
			}
		}
	}
}
