package columns_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// TestWorlds: random types in every form; the columns have the values that the messages were made of. A message that
// is cut or changed is one, or leaves the batch as it was.
func TestWorlds(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 40
	}
	for seed := range uint64(seeds) {
		w := typetree.New(seed, 3, typetree.Options{ROS2: seed%2 == 1, Odd: seed%5 == 0, Before1970: seed%2 == 1})
		g := rand.New(rand.NewPCG(seed, 3))
		for _, m := range w.Roots {
			for i := range forms {
				if f := &forms[i]; f.ros1() == (seed%2 == 0) {
					checkWorld(t, w, g, m, f)
				}
			}
		}
	}
}

func checkWorld(t *testing.T, w *typetree.World, g *rand.Rand, m *typetree.Message, f *form) {
	t.Helper()
	typ, md := f.typeOf(t, m)
	p, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := p.NewBatch()
	var values [][]typetree.Value
	for i := range 4 {
		v := w.Value(m)
		data := f.encode(t, m, v, md)
		if err := b.Append(data, int64(i), int64(i+1), 0); err != nil {
			t.Fatalf("%s in %s: %v", m.Name, f.name, err)
		}
		values = append(values, v)
		damage(t, b, g, data)
		if b.Len() != len(values) {
			t.Fatal("a message of no length was taken")
		}
	}
	if d := b.Doubts(); d != (columns.Doubts{}) {
		t.Fatalf("%s in %s: %+v", m.Name, f.name, d)
	}
	cols := b.Columns()
	for i, v := range values {
		if d := same(cols, m, v, i, f.ros1()); d != "" {
			t.Fatalf("%s in %s: message %d: %s", m.Name, f.name, i, d)
		}
	}
}

// damage appends a message that is cut, and changed ones to a copy of the batch.
func damage(t *testing.T, b *columns.Batch, g *rand.Rand, data []byte) {
	t.Helper()
	before, doubts := dump(b.Columns()), b.Doubts()
	for range 4 {
		bad := append([]byte{}, data...)
		for range g.IntN(3) {
			if len(bad) > 0 {
				bad[g.IntN(len(bad))] = byte(g.Uint32())
			}
		}
		bad = bad[:g.IntN(len(bad)+1)]
		n := b.Len()
		err := b.Append(bad, 0, 0, 0)
		if err == nil {
			b.Undo(n, doubts)
		} else if !errors.Is(err, ros.ErrMalformed) {
			t.Fatal(err)
		}
		if after := dump(b.Columns()); after != before || b.Doubts() != doubts {
			t.Fatalf("%v: the batch is\n%s\nand was\n%s", err, after, before)
		}
	}
}
