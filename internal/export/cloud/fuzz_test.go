package cloud

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// FuzzCloud: no cloud panics, all that is written is bounded by what is read, and the values are those of a naive
// reading.
func FuzzCloud(f *testing.F) {
	for seed := range uint64(20) {
		c := random(rand.New(rand.NewPCG(seed, 2)))
		f.Add(c.Width, c.Height, c.PointStep, c.RowStep, c.BigEndian, uint8(seed), describe(c.Fields), c.Data)
	}
	f.Add(uint32(1<<31), uint32(1<<31), uint32(1<<31), uint32(1<<31), false, uint8(0), []byte{7, 0, 1, 'x'}, []byte{1})
	f.Fuzz(func(t *testing.T, width, height, step, stride uint32, big bool, options uint8, fields, data []byte) {
		c := &Cloud{width, height, step, stride, big, parseFields(fields), data}
		o := Options{Compressed: options&1 != 0, DropNaN: options&2 != 0}
		some, err := c.Sample(100)
		if len(some.XYZ) > 300 || 3*len(some.Shade) != len(some.XYZ) || err != nil && len(some.XYZ) > 0 ||
			slices.ContainsFunc(some.XYZ, func(v float64) bool { return v-v != 0 }) {
			t.Fatalf("%d coordinates, %d shades, %v", len(some.XYZ), len(some.Shade), err)
		}
		var e Encoder
		file, err := e.AppendPCD(nil, c, o)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		if limit := 2*maxOverlap*len(data) + maxHeader; len(file) > limit {
			t.Fatalf("%d bytes of %d", len(file), len(data))
		}
		_, columns, _ := readPCD(t, file)
		if stride != 0 && uint64(stride) < uint64(width)*uint64(step) {
			c.RowStep = 0
		}
		if !o.DropNaN && !c.empty() {
			for i, wanted := range naive(c) {
				if !bytes.Equal(wanted, columns[i]) {
					t.Fatalf("field %d of %+v: %x, not %x", i, c, columns[i], wanted)
				}
			}
		}
		file, err = e.AppendPLY(nil, c, o)
		if err == nil && len(file) > maxOverlap*len(data)+maxHeader {
			t.Fatalf("%d bytes of %d", len(file), len(data))
		}
	})
}

// parseFields makes fields of three bytes and a name each: datatype, offset, count, and the name up to the next 0.
func parseFields(b []byte) (fields []Field) {
	for len(b) >= 3 {
		name, rest, _ := bytes.Cut(b[3:], []byte{0})
		fields = append(fields, Field{string(name), uint32(b[1]), b[0], uint32(b[2])})
		b = rest
	}
	return fields
}

func describe(fields []Field) (b []byte) {
	for _, f := range fields {
		b = append(b, f.Datatype, byte(f.Offset), byte(f.Count))
		b = append(append(b, f.Name...), 0)
	}
	return b
}

// FuzzLZF: what is compressed comes back.
func FuzzLZF(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabcabcabc"))
	f.Add(make([]byte, 1000))
	f.Fuzz(func(t *testing.T, src []byte) {
		got := appendLZF(nil, src, make([]uint32, tableSize))
		if !bytes.Equal(decompress(t, got), src) || len(got) > len(src)+len(src)/32+1 {
			t.Fatalf("%x becomes %x", src, got)
		}
	})
}
