package columns_test

import (
	"encoding/binary"
	"testing"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/testing/typetree"
)

// TestPlaces: with places, columns have what they have without, when the places are looked up in the file. Messages
// that do not fit leave nothing.
func TestPlaces(t *testing.T) {
	seeds, placed := 200, 0
	for seed := range uint64(seeds) {
		w := typetree.New(seed, 3, typetree.Options{ROS2: seed%2 == 1})
		for _, m := range w.Roots {
			for i := range forms {
				if f := &forms[i]; f.ros1() == (seed%2 == 0) {
					placed += checkPlaces(t, w, m, f)
				}
			}
		}
	}
	if placed < 100 {
		t.Errorf("only %d values have places", placed)
	}
}

func checkPlaces(t *testing.T, w *typetree.World, m *typetree.Message, f *form) (placed int) {
	t.Helper()
	typ, md := f.typeOf(t, m)
	inline, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	places, err := columns.Compile(typ, columns.Options{Places: true})
	if err != nil {
		t.Fatal(err)
	}
	want, got := inline.NewBatch(), places.NewBatch()
	got.SetPlaced(2)
	file := []byte("head")
	for i := range int64(6) {
		data := f.encode(t, m, w.Value(m), md)
		file = append(file, data...)
		name := "file"
		if i%3 == 2 {
			name = "" // it lies in no file
		}
		offset := int64(len(file) - len(data))
		if err := got.AppendAt(data[:len(data)/2], i, i, 0, name, offset); err == nil {
			return placed // half of it is a message, too
		}
		err := got.AppendAt(data, i, i, 0, name, offset)
		if err2 := want.Append(data, i, i, 0); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
	}
	cols := got.Columns()
	for i, c := range cols {
		cols[i] = lookedUp(t, c, file, &placed)
	}
	if got, want := dump(cols), dump(want.Columns()); got != want {
		t.Fatalf("%s in %s: with places\n%s\nwithout\n%s", m.Name, f.name, got, want)
	}
	return placed
}

// lookedUp returns a column with bytes in the place of places.
func lookedUp(t *testing.T, c *columns.Column, file []byte, placed *int) *columns.Column {
	t.Helper()
	if len(c.Children) == 4 && c.Children[2].Field.Name == "offset" && c.Children[1].Field.Name == "file" {
		field := *c.Field
		field.Kind, field.Children = columns.Binary, nil
		out := &columns.Column{Field: &field, Len: c.Len, Offsets: []int32{0}, Valid: c.Valid, Nulls: c.Nulls,
			Values: []byte{}}
		for i := range c.Len {
			text := func(k int) []byte {
				x := c.Children[k]
				return x.Values[x.Offsets[i]:x.Offsets[i+1]]
			}
			number := func(k int) int64 { return int64(binary.LittleEndian.Uint64(c.Children[k].Values[8*i:])) }
			p := text(0)
			if string(text(1)) == "file" {
				*placed++
				p = file[number(2):][:number(3)]
			} else if number(2) != -1 && !c.Null(i) || number(3) != int64(len(p)) {
				t.Fatalf("bytes without a place have offset %d and size %d", number(2), number(3))
			}
			out.Values = append(out.Values, p...)
			out.Offsets = append(out.Offsets, int32(len(out.Values)))
		}
		return out
	}
	for i, child := range c.Children {
		c.Children[i] = lookedUp(t, child, file, placed)
	}
	return c
}
