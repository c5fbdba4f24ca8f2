package columns_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// rowsOf has two messages of a type as columns.
func rowsOf(t *testing.T, text string, a, b []byte) *columns.Batch {
	t.Helper()
	m, err := rosmsg.Parse("a/B", []byte(text), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, serial.ROS1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	batch := p.NewBatch()
	for i, data := range [][]byte{a, b} {
		if err := batch.Append(data, int64(i)*100, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	return batch
}

func floats(list ...float64) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// TestRows: rows that are put together of others have their values, and what is between them.
func TestRows(t *testing.T) {
	const text = "float64 x\nint32 n\nfloat64[] list\nfloat64[2] pair\nstring s\nQuaternion q\n" +
		"================\nMSG: a/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
	make1 := func(x float64, n int32, list []float64, pair [2]float64, s string, q [4]float64) (b []byte) {
		b = binary.LittleEndian.AppendUint32(floats(x), uint32(n))
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(list))), floats(list...)...)
		b = append(b, floats(pair[:]...)...)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
		return append(b, floats(q[:]...)...)
	}
	a := make1(1, 7, []float64{0, 10}, [2]float64{1, 2}, "first", [4]float64{0, 0, 0, 1})
	b := make1(3, 9, []float64{4, 20}, [2]float64{2, 4}, "other", [4]float64{0, 0, -1, 0}) // half a turn, the other sign
	from := rowsOf(t, text, a, b)
	schema := from.Columns()
	var fields []columns.Field
	for _, c := range schema {
		f := *c.Field
		f.Nullable = true
		fields = append(fields, f)
	}
	to := columns.NewRows(fields)
	for _, share := range []float64{0, 0.5} {
		for i, c := range to.Top() {
			c.AppendBetween(schema[i], 0, 1, share)
		}
		to.AddRow()
	}
	for i, c := range to.Top() {
		c.AppendFrom(schema[i], 1)
	}
	to.AddRow()
	for _, c := range to.Top() {
		c.AppendNull()
	}
	to.AddRow()
	got := to.Columns()
	number := func(c *columns.Column, i int) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(c.Values[8*i:]))
	}
	byName := map[string]*columns.Column{}
	for _, c := range got {
		if byName[c.Field.Name] = c; c.Len != 4 || c.Nulls != 1 || !c.Null(3) || c.Null(2) {
			t.Errorf("%s: %d rows, %d null", c.Field.Name, c.Len, c.Nulls)
		}
	}
	for i, want := range []float64{1, 2, 3, 0} {
		if x := number(byName["x"], i); x != want {
			t.Errorf("x of row %d is %v, want %v", i, x, want)
		}
	}
	if n := binary.LittleEndian.Uint32(byName["n"].Values[4:]); n != 7 {
		t.Errorf("an integer between 7 and 9 is %d", n)
	}
	list := byName["list"]
	if o := list.Offsets; o[1] != 2 || o[4] != 6 || number(list.Children[0], 2) != 2 || number(list.Children[0], 3) != 15 {
		t.Errorf("lists: %v", list.Offsets)
	}
	if pair := byName["pair"]; number(pair.Children[0], 2) != 1.5 || number(pair.Children[0], 3) != 3 ||
		pair.Children[0].Len != 8 {
		t.Errorf("arrays: %d values", pair.Children[0].Len)
	}
	if s := byName["s"]; string(s.Values) != "firstfirstother" {
		t.Errorf("texts: %q", s.Values)
	}
	q := byName["q"]
	length := 0.0
	for _, c := range q.Children {
		length += number(c, 1) * number(c, 1)
	}
	if math.Abs(length-1) > 1e-15 {
		t.Errorf("the quaternion between two has length %v", math.Sqrt(length))
	}
}

// TestRowsUneven: lists of two lengths are those of the first value.
func TestRowsUneven(t *testing.T) {
	from := rowsOf(t, "float64[] list\n", append([]byte{1, 0, 0, 0}, floats(5)...), []byte{0, 0, 0, 0})
	c := from.Columns()[2]
	to := columns.NewRows([]columns.Field{*c.Field})
	to.Top()[0].AppendBetween(c, 0, 1, 0.5)
	to.AddRow()
	if got := to.Columns()[0]; got.Children[0].Len != 1 || got.Offsets[1] != 1 {
		t.Errorf("%d values", got.Children[0].Len)
	}
}
