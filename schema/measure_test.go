package schema

import "testing"

func TestLeast(t *testing.T) {
	empty := &Message{Name: "p/Empty"}
	inner := &Message{Name: "p/Inner", Fields: []Field{{Name: "a", Type: Type{Kind: Uint16}}, {Name: "b", Type: Type{Kind: String}}}}
	of := func(k Kind, a Array, n int, m *Message) Type { return Type{Kind: k, Array: a, Len: n, Message: m} }
	for _, c := range []struct {
		typ             Type
		want, delimited int
	}{
		{of(Uint8, Single, 0, nil), 1, 1},
		{of(Time, Single, 0, nil), 8, 8},
		{of(String, Single, 0, nil), 4, 4},
		{of(WString, Fixed, 3, nil), 12, 12},
		{of(Float64, Unbounded, 0, nil), 4, 4},
		{of(Struct, Bounded, 9, inner), 4, 4},
		{of(Struct, Single, 0, inner), 6, 10},
		{of(Struct, Fixed, 2, inner), 12, 20},
		{of(Struct, Single, 0, empty), 0, 5},
		{of(Struct, Fixed, 1<<31, inner), MaxLeast, MaxLeast},
		{of(Struct, Fixed, 1<<31, empty), 0, MaxLeast},
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
