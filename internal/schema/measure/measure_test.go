package measure

import (
	"testing"

	"github.com/bagconv/bagconv/schema"
)

func TestLeast(t *testing.T) {
	empty := &schema.Message{Name: "p/Empty"}
	inner := &schema.Message{Name: "p/Inner", Fields: []schema.Field{{Name: "a", Type: schema.Type{Kind: schema.Uint16}},
		{Name: "b", Type: schema.Type{Kind: schema.String}}}}
	of := func(k schema.Kind, a schema.Array, n int, m *schema.Message) schema.Type {
		return schema.Type{Kind: k, Array: a, Len: n, Message: m}
	}
	for _, c := range []struct {
		typ             schema.Type
		want, delimited int
	}{
		{of(schema.Uint8, schema.Single, 0, nil), 1, 1},
		{of(schema.Time, schema.Single, 0, nil), 8, 8},
		{of(schema.String, schema.Single, 0, nil), 4, 4},
		{of(schema.WString, schema.Fixed, 3, nil), 12, 12},
		{of(schema.Float64, schema.Unbounded, 0, nil), 4, 4},
		{of(schema.Struct, schema.Bounded, 9, inner), 4, 4},
		{of(schema.Struct, schema.Single, 0, inner), 6, 10},
		{of(schema.Struct, schema.Fixed, 2, inner), 12, 20},
		{of(schema.Struct, schema.Single, 0, empty), 0, 5},
		{of(schema.Struct, schema.Fixed, 1<<31, inner), Most, Most},
		{of(schema.Struct, schema.Fixed, 1<<31, empty), 0, Most},
	} {
		if got := new(Measure).Least(c.typ); got != c.want {
			t.Errorf("%s has at least %d bytes, not %d", c.typ.Text(), got, c.want)
		}
		m := Measure{Struct: 4, Empty: 1}
		if got := m.Least(c.typ); got != c.delimited {
			t.Errorf("%s, delimited, has at least %d bytes, not %d", c.typ.Text(), got, c.delimited)
		}
	}
}
