package transcode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// TestDroppedValues: a field without a counterpart is a loss only of those
// messages in which it has a value, whatever its type is and wherever it stands.
func TestDroppedValues(t *testing.T) {
	sub := &schema.Message{Name: "p/msg/S", Fields: []schema.Field{field("a", schema.Uint16), field("b", schema.String)}}
	header := &schema.Message{Name: "std_msgs/Header", Fields: []schema.Field{field("seq", schema.Uint32),
		field("frame_id", schema.String)}}
	zero := map[schema.Kind]any{schema.Uint8: num{[]byte{0}}, schema.Uint16: num{make([]byte, 2)},
		schema.Uint32: num{make([]byte, 4)}, schema.Float64: num{make([]byte, 8)}, schema.String: ""}
	value := func(v map[string]any, m *schema.Message) any {
		out := &strc{}
		for _, f := range m.Fields {
			out.names = append(out.names, f.Name)
			out.vals = append(out.vals, v[f.Name])
		}
		return out
	}
	empty := func(m *schema.Message) any {
		v := map[string]any{}
		for _, f := range m.Fields {
			v[f.Name] = zero[f.Type.Kind]
		}
		return value(v, m)
	}
	one := num{[]byte{0, 1}}
	set := func(m *schema.Message, name string, to any) any {
		v := map[string]any{}
		for _, f := range m.Fields {
			v[f.Name] = zero[f.Type.Kind]
		}
		v[name] = to
		return value(v, m)
	}
	for _, c := range []struct {
		f           schema.Field
		none, other any
	}{
		{field("x", schema.Float64), num{make([]byte, 8)}, num{[]byte{0, 0, 0, 0, 0, 0, 0, 128}}},
		{many(field("x", schema.Uint16), schema.Fixed, 3), list{num{[]byte{0, 0}}, num{[]byte{0, 0}}, num{[]byte{0, 0}}},
			list{num{[]byte{0, 0}}, num{[]byte{0, 0}}, one}},
		{many(field("x", schema.Uint16), schema.Unbounded, 0), list{}, list{num{[]byte{0, 0}}}},
		{field("x", schema.String), "", "s"},
		{many(field("x", schema.String), schema.Unbounded, 0), list{}, list{""}},
		{strct("x", sub), empty(sub), set(sub, "b", "s")},
		{strct("x", sub), empty(sub), set(sub, "a", one)},
		{many(strct("x", sub), schema.Fixed, 2), list{empty(sub), empty(sub)}, list{empty(sub), set(sub, "b", "s")}},
		{many(strct("x", sub), schema.Unbounded, 0), list{}, list{empty(sub)}},
		{strct("x", header), set(header, "seq", num{[]byte{1, 0, 0, 0}}), set(header, "frame_id", "s")},
	} {
		for _, order := range []string{"kx", "xk", "kxl", "lxk"} {
			fields := map[rune]schema.Field{'k': field("k", schema.Uint8), 'l': field("l", schema.Float64), 'x': c.f}
			src, dst := &schema.Message{Name: "p/msg/T"}, &schema.Message{Name: "p/T"}
			for _, r := range order {
				src.Fields = append(src.Fields, fields[r])
			}
			for _, r := range "kl" { // "lxk" takes them in another order
				if strings.ContainsRune(order, r) {
					dst.Fields = append(dst.Fields, fields[r])
				}
			}
			message := func(x any) any {
				return value(map[string]any{"k": num{[]byte{1}}, "l": num{[]byte{1, 2, 3, 4, 5, 6, 7, 8}}, "x": x}, src)
			}
			for form := ros.PlainLE; form < ros.Forms; form++ {
				for _, from := range []serial.Encoding{serial.CDR, serial.ROS1} {
					if from == serial.ROS1 && form != ros.PlainLE {
						continue
					}
					name := fmt.Sprintf("%s of form %d, wire %d, in %s", c.f.Type.Text(), form, from, order)
					p, err := Compile(src, dst, Options{From: from, To: serial.ROS1})
					if err != nil {
						t.Fatal(name, err)
					}
					if _, err := p.Append(nil, walkEncode(src, message(c.none), from, form)); err != nil || len(p.Losses()) > 0 {
						t.Errorf("%s: without a value: %v %+v", name, err, p.Losses())
					}
					_, err = p.Append(nil, walkEncode(src, message(c.other), from, form))
					want := Loss{Code: "fields-dropped", Messages: 1, Message: "p/T has no field for x"}
					if l := p.Losses(); err != nil || len(l) != 1 || l[0] != want {
						t.Errorf("%s: with a value: %v %+v", name, err, l)
					}
					if p.Reset(); len(p.Losses()) > 0 {
						t.Errorf("%s: %+v after Reset", name, p.Losses())
					}
				}
			}
		}
	}
}

// TestTrailing: what follows the last field is a loss unless it is padding, in
// every form of CDR.
func TestTrailing(t *testing.T) {
	r := maker{rand.New(rand.NewPCG(1, 6))}
	typ, _ := r.twins(0)
	v := r.value(schema.Type{Kind: schema.Struct, Message: typ}, 0)
	for form := ros.PlainLE; form < ros.Forms; form++ {
		in := walkEncode(typ, v, serial.CDR, form)
		for rest, want := range map[string]int64{"": 0, "\x00": 0, "\x00\x00\x00\x00\x00\x00\x00": 0, "\x00\x00\x01": 3,
			"\x00\x00\x00\x00\x00\x00\x00\x00": 8, "IMPORTANT": 9} {
			p, err := Compile(typ, typ, Options{From: serial.CDR, To: serial.ROS1})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := p.Append(nil, append(in[:len(in):len(in)], rest...)); err != nil {
					t.Fatal(err)
				}
			}
			l := slices.DeleteFunc(p.Losses(), func(l Loss) bool { return l.Code == "time-wrapped" })
			if want == 0 && len(l) > 0 || want > 0 && (len(l) != 1 || l[0].Code != "trailing-bytes" || l[0].Messages != 2 ||
				l[0].Bytes != 2*want) {
				t.Errorf("form %d, %q after the last field: %+v", form, rest, l)
			}
		}
	}
}

// TestReplaced: text that cannot be kept is a loss, all other text is kept.
func TestReplaced(t *testing.T) {
	wide := &schema.Message{Name: "p/msg/T", Fields: []schema.Field{field("x", schema.WString)}}
	narrow := &schema.Message{Name: "p/T", Fields: []schema.Field{field("x", schema.String)}}
	units := func(values ...uint32) []byte {
		b := []byte{0, 1, 0, 0, byte(len(values)), 0, 0, 0}
		for _, v := range values {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		return b
	}
	for _, c := range []struct {
		in   []byte
		want string
		lost bool
	}{
		{units('a', 0xd83d, 0xde00), "a\U0001f600", false},
		{units(0x1f600), "\U0001f600", false}, // a code point, from a publisher whose characters have 32 bits
		{units(0xfffd), "\ufffd", false},
		{units('a', 0xd83d), "a\ufffd", true},
		{units(0xde00, 'b'), "\ufffdb", true},
		{units(0xd83d, 0xd83d, 0xde00), "\ufffd\U0001f600", true},
		{units(0x110000), "\ufffd", true},
	} {
		p, err := Compile(wide, narrow, Options{From: serial.CDR, To: serial.ROS1})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Append(nil, c.in)
		if err != nil || string(out[4:]) != c.want || len(p.Losses()) > 0 != c.lost {
			t.Errorf("% x became %q, want %q; %+v %v", c.in, out, c.want, p.Losses(), err)
		}
	}
	for n, want := range []int{0, 1} { // one that is dropped
		p, err := Compile(wide, &schema.Message{Name: "p/U"}, Options{From: serial.CDR, To: serial.ROS1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Append(nil, units(make([]uint32, n)...)); err != nil || len(p.Losses()) != want {
			t.Errorf("a dropped wstring of %d: %+v %v", n, p.Losses(), err)
		}
	}
	for text, lost := range map[string]bool{"a\U0001f600": false, "\ufffd": false, "\xff": true, "\xed\xa0\x80": true} {
		p, err := Compile(narrow, wide, Options{From: serial.ROS1, To: serial.CDR})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Append(nil, append([]byte{byte(len(text)), 0, 0, 0}, text...)); err != nil ||
			len(p.Losses()) > 0 != lost {
			t.Errorf("%q: %+v %v", text, p.Losses(), err)
		}
	}
}

// TestWrapped: a time that the other ROS cannot hold is a loss, wherever it stands;
// its bytes stay. Durations are the same in both.
func TestWrapped(t *testing.T) {
	words := []schema.Field{field("sec", schema.Int32), field("nanosec", schema.Uint32)}
	types := func(name string, kind schema.Kind) (ros1, ros2 *schema.Message) {
		pair := &schema.Message{Name: "builtin_interfaces/msg/" + name, Fields: words}
		return &schema.Message{Name: "p/T", Fields: []schema.Field{many(field("x", kind), schema.Unbounded, 0)}},
			&schema.Message{Name: "p/msg/T", Fields: []schema.Field{many(strct("x", pair), schema.Unbounded, 0)}}
	}
	for _, c := range []struct {
		name string
		kind schema.Kind
		sec  byte // the highest of the second value
		lost bool
	}{
		{"Time", schema.Time, 0x7f, false}, {"Time", schema.Time, 0x80, true}, {"Time", schema.Time, 0xff, true},
		{"Duration", schema.Duration, 0xff, false},
	} {
		ros1, ros2 := types(c.name, c.kind)
		body := []byte{2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, c.sec, 4, 0, 0, 0}
		cdr := append([]byte{0, 1, 0, 0}, body...)
		for _, w := range []struct {
			src, dst *schema.Message
			o        Options
			in, out  []byte
			lost     bool
		}{
			{ros1, ros2, Options{From: serial.ROS1, To: serial.CDR}, body, cdr, c.lost},
			{ros2, ros1, Options{From: serial.CDR, To: serial.ROS1}, cdr, body, c.lost},
			{ros2, ros2, Options{From: serial.CDR, To: serial.CDR}, cdr, cdr, false},
		} {
			p, err := Compile(w.src, w.dst, w.o)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Append(nil, w.in)
			l := p.Losses()
			if err != nil || string(out) != string(w.out) || w.lost != (len(l) == 1 && l[0].Code == "time-wrapped" &&
				l[0].Messages == 1) || !w.lost && len(l) > 0 {
				t.Errorf("%s with %#x, %v: % x %+v %v", c.name, c.sec, w.o, out, l, err)
			}
		}
	}
}
