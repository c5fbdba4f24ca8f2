package verify

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

func parse(t testing.TB, text string, d rosmsg.Dialect) *schema.Message {
	t.Helper()
	name := "p/T"
	if d == rosmsg.ROS2 {
		name = "p/msg/T"
	}
	m, err := rosmsg.Parse(name, []byte(text), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const line = "\n================================================================================\n"

// TestDiffer finds the one field that was changed.
func TestDiffer(t *testing.T) {
	m := content.Canonical(parse(t, "int8 a\nuint64 b\nP[] ps\nstring s\ntime t\nduration d\nbool[2] f\nfloat32 x\n"+line+
		"MSG: p/P\nstring name\nfloat64[2] v\n", rosmsg.ROS1), false)
	write := func(a byte, b uint64, name string, v float64, s string, sec, nsec uint32, f byte, x float32,
		ps uint32) []byte {
		le := binary.LittleEndian
		out := le.AppendUint32(le.AppendUint64([]byte{a}, b), ps)
		for range ps {
			out = append(le.AppendUint32(out, uint32(len(name))), name...)
			out = le.AppendUint64(le.AppendUint64(out, 0), math.Float64bits(v))
		}
		out = append(le.AppendUint32(out, uint32(len(s))), s...)
		ns := uint64(sec)*1e9 + uint64(nsec)
		out = le.AppendUint64(le.AppendUint64(out, ns), ns)
		return le.AppendUint32(append(out, 0, f), math.Float32bits(x))
	}
	base := write(1, 2, "n", 3, "text", 4, 5, 0, 6, 1)
	long := strings.Repeat("é", 100)
	for _, c := range []struct {
		other            []byte
		path, valA, valB string
	}{
		{write(0xff, 2, "n", 3, "text", 4, 5, 0, 6, 1), "a", "1", "-1"},
		{write(1, 1<<63, "n", 3, "text", 4, 5, 0, 6, 1), "b", "2", "9223372036854775808"},
		{write(1, 2, "m\n", 3, "text", 4, 5, 0, 6, 1), "ps[0].name", `"n"`, `"m\n"`},
		{write(1, 2, "n", 3.5, "text", 4, 5, 0, 6, 1), "ps[0].v[1]", "3", "3.5"},
		{write(1, 2, "n", 3, "text", 4, 5, 0, 6, 2), "ps", "1 elements", "2 elements"},
		{write(1, 2, "n", 3, "texts", 4, 5, 0, 6, 1), "s", `"text"`, `"texts"`},
		{write(1, 2, "n", 3, long, 4, 5, 0, 6, 1), "s", `"text"`, `"` + long[:60] + `"...`},
		{write(1, 2, "n", 3, "text", 4, 6, 0, 6, 1), "t", "4.000000005", "4.000000006"},
		{write(1, 2, "n", 3, "text", 4, 5, 1, 6, 1), "f[1]", "false", "true"},
		{write(1, 2, "n", 3, "text", 4, 5, 0, 0.1, 1), "x", "6", "0.1"},
	} {
		d := differ{a: base, b: c.other}
		if !d.message(m, "") || d.path != c.path || d.va != c.valA || d.vb != c.valB {
			t.Errorf("%s: %s, %s", d.path, d.va, d.vb)
		}
	}
	d := differ{a: base, b: base}
	if d.message(m, "") {
		t.Errorf("equal messages differ in %s", d.path)
	}
	if path, a, b := firstByte([]byte{1, 2}, []byte{1, 2, 3}); path != "byte 2" || a != "the end, at 2 bytes" ||
		b != "03" {
		t.Errorf("%s, %s, %s", path, a, b)
	}
	for ns, want := range map[int64]string{0: "0.000000000", -1: "-0.000000001", math.MinInt64: "-9223372036.854775808",
		1_700_000_000_000_000_001: "1700000000.000000001"} {
		if got := nsText(ns); got != want {
			t.Errorf("%d: %s", ns, got)
		}
	}
}
