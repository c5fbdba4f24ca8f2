package transcode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// evolve makes a later version of a type: fields are gone, new ones are there, some with a
// default; others are of another kind, or in lists of other lengths.
func (r maker) evolve(m *schema.Message) *schema.Message {
	d := r.scramble(m)
	out := &schema.Message{Name: d.Name}
	for _, f := range d.Fields {
		switch {
		case f.Type.Kind == schema.Struct && f.Type.Message != testTime && f.Type.Message != testHeader2:
			f.Type.Message = r.evolve(f.Type.Message)
		case numeric(f.Type.Kind) && r.IntN(3) == 0:
			f.Type.Kind = numberKinds[r.IntN(len(numberKinds))]
		case f.Type.Kind == schema.String && r.IntN(3) == 0:
			f.Type.StringBound = 1 + r.IntN(8)
		case r.IntN(30) == 0:
			f.Type = schema.Type{Kind: schema.String}
		}
		if f.Type.Array != schema.Single && r.IntN(3) == 0 {
			f.Type.Array, f.Type.Len = schema.Array(1+r.IntN(3)), r.IntN(5)
		}
		if strings.HasPrefix(f.Name, "new") && f.Type.Array == schema.Single && r.IntN(2) == 0 {
			f.Default = map[bool]string{true: "1", false: `"no"`}[numeric(f.Type.Kind)]
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// walkMigrate is the plain way: the tree of a message becomes that of the other type.
func walkMigrate(src, dst *schema.Message, v any) any {
	in := v.(*strc)
	out := &strc{}
	for _, d := range dst.Fields {
		out.names = append(out.names, d.Name)
		var value any
		for i, f := range src.Fields {
			if f.Name == d.Name {
				value = walkField(f.Type, d.Type, in.vals[i])
			}
		}
		if value == nil {
			value = walkDefault(d)
		}
		out.vals = append(out.vals, value)
	}
	return out
}

// walkDefault returns what a field gets that only the destination has; nil is zero.
func walkDefault(f schema.Field) any {
	switch {
	case f.Type.Array == schema.Fixed:
		items := make(list, f.Type.Len)
		for i := range items {
			one := f
			one.Type = single(f.Type)
			items[i] = walkDefault(one)
		}
		return items
	case f.Type.Array != schema.Single:
	case f.Type.Kind == schema.Struct && f.Type.Message != testTime:
		return walkMigrate(&schema.Message{}, f.Type.Message, &strc{})
	case f.Default == `"no"`:
		return "no"
	case f.Default == "1":
		out, _ := walkNumber(schema.Uint8, f.Type.Kind, []byte{1})
		return out
	}
	return nil
}

func walkField(src, dst schema.Type, v any) any {
	if (src.Array == schema.Single) != (dst.Array == schema.Single) {
		return nil
	}
	if src.Array != schema.Single {
		if walkBecomes(single(src), single(dst)) != nil {
			return nil
		}
		out := list{}
		for i, item := range v.(list) {
			if dst.Array != schema.Unbounded && i >= dst.Len {
				break
			}
			out = append(out, walkField(single(src), single(dst), item))
		}
		for dst.Array == schema.Fixed && len(out) < dst.Len {
			out = append(out, walkDefault(schema.Field{Type: single(dst)}))
		}
		return out
	}
	if walkBecomes(src, dst) != nil {
		return nil
	}
	switch {
	case src.Kind == schema.String:
		text := v.(string)
		for dst.StringBound > 0 && len(text) > dst.StringBound {
			_, n := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-n]
		}
		return text
	case src.Kind == schema.Struct && src.Message != testTime:
		return walkMigrate(src.Message, dst.Message, v)
	case src.Kind == schema.Struct:
		return v
	}
	out, _ := walkNumber(src.Kind, dst.Kind, v.(num).bytes)
	return out
}

func walkBecomes(src, dst schema.Type) error {
	if src.Kind == schema.Struct && dst.Kind == schema.Struct && (src.Message == testTime) == (dst.Message == testTime) ||
		src.Kind == schema.String && dst.Kind == schema.String || numeric(src.Kind) && numeric(dst.Kind) {
		return nil
	}
	return errors.New("no")
}

// walkNumber converts by the exact value of a number; NaN keeps the bits that fit.
func walkNumber(src, dst schema.Kind, b []byte) (num, bool) {
	if src == dst {
		return num{b}, false
	}
	if len(b) == dst.Size() && (isByte(src) && dst == schema.Byte || isByte(src) && dst == schema.Char || isByte(dst) &&
		(src == schema.Byte || src == schema.Char)) {
		return num{b}, false
	}
	wide := make([]byte, 8)
	copy(wide, b)
	bits := binary.LittleEndian.Uint64(wide)
	value := new(big.Float).SetPrec(2000)
	nan, f := false, 0.0
	switch src {
	case schema.Float32, schema.Float64:
		f = math.Float64frombits(bits)
		if src == schema.Float32 {
			f = float64(math.Float32frombits(uint32(bits)))
		}
		if nan = f != f; !nan {
			value.SetFloat64(f)
		}
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		n := 64 - 8*len(b)
		value.SetInt64(int64(bits<<n) >> n)
	case schema.Bool:
		value.SetUint64(min(bits, 1))
	default:
		value.SetUint64(bits)
	}
	put := func(bits uint64) num {
		return num{binary.LittleEndian.AppendUint64(nil, bits)[:dst.Size()]}
	}
	switch dst {
	case schema.Float64:
		if nan {
			return put(math.Float64bits(f)), false
		}
		f, _ := value.Float64()
		return put(math.Float64bits(f)), value.IsInf() == false && new(big.Float).SetPrec(2000).SetFloat64(f).Cmp(value) != 0
	case schema.Float32:
		if nan {
			return put(uint64(math.Float32bits(float32(f)))), false
		}
		f64, _ := value.Float64() // integers become float64 first
		f := float32(f64)
		return put(uint64(math.Float32bits(f))), math.IsInf(float64(f), 0) != value.IsInf() || !value.IsInf() &&
			new(big.Float).SetPrec(2000).SetFloat64(float64(f)).Cmp(value) != 0
	case schema.Bool:
		changed := nan || value.Cmp(big.NewFloat(1)) != 0 && value.Sign() != 0
		return put(map[bool]uint64{true: 1}[nan || value.Sign() != 0]), changed
	}
	if nan {
		return put(0), true
	}
	n := uint(8 * dst.Size())
	low, high := new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1))
	switch dst {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		low.Neg(new(big.Int).Lsh(big.NewInt(1), n-1))
		high.Rsh(high, 1)
	}
	whole := new(big.Int)
	switch {
	case value.IsInf() && value.Sign() > 0:
		return put(high.Uint64()), true
	case value.IsInf():
		whole.Set(low)
	default:
		value.Int(whole)
	}
	changed := new(big.Float).SetInt(whole).Cmp(value) != 0
	if whole.Cmp(low) < 0 {
		whole, changed = low, true
	}
	if whole.Cmp(high) > 0 {
		whole, changed = high, true
	}
	if whole.IsInt64() {
		return put(uint64(whole.Int64())), changed
	}
	return put(whole.Uint64()), changed
}

// TestMigrateWalker compares programs between versions of a type with the plain way: random
// types and values, every form of CDR: 7,000 types, and 20,000 with BAGCONV_EXHAUSTIVE=1.
func TestMigrateWalker(t *testing.T) {
	for seed := range samples.Pick(20_000, 7_000, 2_000) {
		r := maker{rand.New(rand.NewPCG(uint64(seed), 5))}
		_, src := r.twins(0)
		dst := r.evolve(src)
		plan, err := Compile(src, dst, Options{From: serial.CDR, To: serial.CDR, Migrate: true})
		if errors.Is(err, errTooLarge) {
			continue
		}
		if err != nil {
			t.Fatal(seed, err)
		}
		judge, err := content.NewMigration([]content.Version{{Source: src, Target: dst}}, serial.CDR, serial.CDR)
		if err != nil {
			t.Fatal(seed, err)
		}
		v := r.value(schema.Type{Kind: schema.Struct, Message: src}, 0)
		for form := ros.PlainLE; form < ros.Forms; form++ {
			in := walkEncode(src, v, serial.CDR, form)
			tree, _ := walkDecode(src, in, serial.CDR, form)
			want := walkEncode(dst, walkMigrate(src, dst, tree), serial.CDR, ros.PlainLE)
			check(t, seed, plan, in, want)
			if got, err := judge.Append(nil, in); err != nil || !sameContent(t, dst, got, want) {
				t.Fatalf("seed %d: the judge has %v\n got % x\nwant % x", seed, err, got, want)
			}
		}
	}
}

// sameContent reports whether two messages have the same canonical bytes.
func sameContent(t *testing.T, m *schema.Message, a, b []byte) bool {
	canon := content.Canonical(m, true)
	p, err := content.FromROS(m, serial.CDR, canon, true)
	if err != nil {
		t.Fatal(err)
	}
	var sums [2][]byte
	for i, message := range [][]byte{a, b} {
		w := content.NewWriter(true)
		if err := p.Read(w, message); err != nil || w.Rest {
			t.Fatal(err)
		}
		sums[i] = bytes.Clone(w.Bytes())
	}
	return bytes.Equal(sums[0], sums[1])
}

// stepwise is a plan whose ops are those that the compiler has made, before any are fused.
func stepwise(t *testing.T, src, dst *schema.Message, o Options) *Plan {
	p, err := Compile(src, dst, o)
	if err != nil {
		t.Fatal(err)
	}
	c := newCompiler(layoutOf(o.From, ros.PlainLE), o)
	if err := c.structure(src, dst, ""); err != nil {
		t.Fatal(err)
	}
	p.main = &program{ops: c.ops, from: c.from, to: c.to}
	return p
}

// TestMigrateDamaged cuts and changes messages that are migrated. Ops that are fused do the same,
// to the byte at which a message ends too early.
func TestMigrateDamaged(t *testing.T) {
	fused := 0
	for seed := range 1500 {
		r := maker{rand.New(rand.NewPCG(uint64(seed), 6))}
		_, src := r.twins(0)
		dst := r.evolve(src)
		plan, err := Compile(src, dst, Options{From: serial.CDR, To: serial.CDR, Migrate: true})
		if err != nil {
			continue
		}
		judge, err := content.NewMigration([]content.Version{{Source: src, Target: dst}}, serial.CDR, serial.CDR)
		if err != nil {
			t.Fatal(err)
		}
		steps := stepwise(t, src, dst, Options{From: serial.CDR, To: serial.CDR, Migrate: true})
		if plan.Ops() < steps.Ops() {
			fused++
		}
		v := r.value(schema.Type{Kind: schema.Struct, Message: src}, 0)
		for _, form := range []ros.Form{ros.PlainLE, ros.Delimited2BE} {
			in := walkEncode(src, v, serial.CDR, form)
			for range 40 {
				b := bytes.Clone(in)
				for range 1 + r.IntN(3) {
					b[r.IntN(len(b))] = byte(r.Uint32())
				}
				b = b[:r.IntN(len(b)+1)]
				out, err := plan.Append(nil, b)
				if other, err2 := judge.Append(nil, b); (err == nil) != (err2 == nil) || err == nil && !sameContent(t, dst, out,
					other) {
					t.Fatalf("seed %d, % x: %v; the judge: %v\n got % x\nwant % x", seed, b, err, err2, out, other)
				}
				if form == ros.PlainLE {
					if same, why := steps.Append(nil, b); !bytes.Equal(out, same) || fmt.Sprint(err) != fmt.Sprint(why) {
						t.Fatalf("seed %d: fused ops %v, others %v\nin  %x\ngot %x, want %x", seed, err, why, b, out, same)
					}
				}
				if err != nil && (!errors.Is(err, ErrMalformed) || len(out) != 0) {
					t.Fatalf("seed %d: %v, %d bytes", seed, err, len(out))
				}
				if len(out) > 16*len(b)+64*maxFuel {
					t.Fatalf("seed %d: %d bytes from %d", seed, len(out), len(b))
				}
			}
		}
	}
	if fused < 500 {
		t.Errorf("only %d programs have fused ops", fused)
	}
}

// TestCast compares numbers of all kinds with their exact values: those at the borders of every
// kind, and random ones.
func TestCast(t *testing.T) {
	r := maker{rand.New(rand.NewPCG(1, 7))}
	kinds := append([]schema.Kind{schema.Enum}, numberKinds...)
	for _, from := range kinds {
		var inputs [][]byte
		for _, v := range []float64{0, 1, -1, 0.5, -0.5, 2, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 65535,
			65536,
			1 << 24, 1<<24 + 1, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1<<32 - 1, 1 << 32, 1 << 53, 1<<53 + 2, 1 << 63,
			-1 << 63, 1 << 64,
			math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.MaxFloat32, 1e-320, math.Copysign(0, -1)} {
			n, _ := walkNumber(schema.Float64, from, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			inputs = append(inputs, n.bytes)
		}
		for range 200 {
			inputs = append(inputs, r.number(from.Size()).bytes)
		}
		for _, to := range kinds {
			src, dst := &schema.Message{Name: "p/msg/A", Fields: []schema.Field{field("x", from)}},
				&schema.Message{Name: "p/msg/A", Fields: []schema.Field{field("x", to)}}
			plan, err := Compile(src, dst, Options{From: serial.ROS1, To: serial.ROS1, Migrate: true})
			if err != nil {
				t.Fatal(err)
			}
			judge, err := content.NewMigration([]content.Version{{Source: src, Target: dst}}, serial.ROS1, serial.ROS1)
			if err != nil {
				t.Fatal(err)
			}
			if from == schema.Enum || to == schema.Enum {
				continue
			}
			for _, in := range inputs {
				if out, err := judge.Append(nil, in); err != nil {
					t.Fatal(err)
				} else if want, _ := walkNumber(from, to, in); from != to && !bytes.Equal(out, want.bytes) &&
					!(isNaN(to, out) && isNaN(to, want.bytes)) {
					t.Errorf("%s %x is %s %x for the judge, not %x", from, in, to, out, want.bytes)
				}
				want, changed := walkNumber(from, to, in)
				plan.Reset()
				got, err := plan.Append(nil, in)
				if err != nil {
					t.Fatal(err)
				}
				if from != to && !bytes.Equal(got, want.bytes) && !(isNaN(to, got) && isNaN(to, want.bytes)) {
					t.Errorf("%s %x becomes %s %x, not %x", from, in, to, got, want.bytes)
				}
				if lost := len(plan.Losses()) > 0; from != to && lost != changed {
					t.Errorf("%s %x to %s: loss %v, want %v", from, in, to, lost, changed)
				}
				if changed && len(plan.Narrowed()) == 0 {
					t.Errorf("%s to %s can lose something, and Narrowed does not list it", from, to)
				}
			}
		}
	}
}

func isNaN(k schema.Kind, b []byte) bool {
	switch k {
	case schema.Float32:
		f := math.Float32frombits(binary.LittleEndian.Uint32(b))
		return f != f
	case schema.Float64:
		f := math.Float64frombits(binary.LittleEndian.Uint64(b))
		return f != f
	}
	return false
}

// TestMigrateRules: what rules ask for, by hand.
func TestMigrateRules(t *testing.T) {
	point := &schema.Message{Name: "p/msg/Point", Fields: []schema.Field{field("x", schema.Float64),
		field("y", schema.Float64)}}
	old := &schema.Message{Name: "p/msg/Old", Fields: []schema.Field{
		field("speed", schema.Float32), field("mode", schema.Uint8), field("x", schema.Float64), field("y", schema.Float64),
		field("note", schema.String), field("gone", schema.Int32), strct("inner", point)}}
	moved := &schema.Message{Name: "p/msg/New", Fields: []schema.Field{
		field("mode", schema.Int32), field("kmh", schema.Float64), strct("at", point), field("label", schema.String),
		many(field("k", schema.Uint16), schema.Unbounded, 0)}}
	moved.Fields[4].Default = "[1, 0x10]"
	rule := &Rule{Fields: map[string]From{
		"kmh":   {Path: "speed", Scale: 3.6},
		"mode":  {Path: "mode", Values: map[int64]int64{1: 10, 2: -20}},
		"at.x":  {Path: "x"},
		"at.y":  {Path: "inner.y"},
		"label": {Default: `"none"`},
	}, Drop: map[string]bool{"gone": true, "inner.x": true, "note": true}}
	plan, err := Compile(old, moved, Options{From: serial.CDR, To: serial.CDR, Migrate: true,
		Rule: func(src, dst *schema.Message) *Rule {
			if src == old {
				return rule
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	f32 := func(f float32) num { return num{binary.LittleEndian.AppendUint32(nil, math.Float32bits(f))} }
	f64 := func(f float64) num { return num{binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))} }
	in := &strc{names: []string{"speed", "mode", "x", "y", "note", "gone", "inner"},
		vals: []any{f32(10), num{[]byte{2}}, f64(1), f64(2), "hello", num{[]byte{9, 0, 0, 0}},
			&strc{names: []string{"x", "y"}, vals: []any{f64(3), f64(4)}}}}
	out := &strc{names: []string{"mode", "kmh", "at", "label", "k"},
		vals: []any{num{[]byte{0xec, 0xff, 0xff, 0xff}}, f64(36), &strc{names: []string{"x", "y"},
			vals: []any{f64(1), f64(4)}}, "none", list{num{[]byte{1, 0}}, num{[]byte{16, 0}}}}}
	message, want := walkEncode(old, in, serial.CDR, ros.PlainLE), walkEncode(moved, out, serial.CDR, ros.PlainLE)
	check(t, 0, plan, message, want)
	origins := map[string]content.Origin{}
	for path, f := range rule.Fields {
		origins[path] = content.Origin(f)
	}
	judge, err := content.NewMigration([]content.Version{{Source: old, Target: moved,
		Rule: func(src, _ *schema.Message) *content.Rule {
			if src == old {
				return &content.Rule{Fields: origins, Drop: []string{"gone", "inner.x", "note"}}
			}
			return nil
		}}}, serial.CDR, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := judge.Append(nil, message); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the judge has %v\n got % x\nwant % x", err, got, want)
	}
	if got := fmt.Sprint(plan.Dropped(), plan.Added(), plan.Defaulted()); got != "[y] [] [label k]" {
		t.Error(got)
	}
	if l := plan.Losses(); len(l) != 1 || l[0].Code != "fields-dropped" || !strings.HasSuffix(l[0].Message, "y") {
		t.Errorf("%+v", l)
	}
}

// TestMigrateOne: rules make single values lists and back, with the values that the judge has.
func TestMigrateOne(t *testing.T) {
	types, changed := 4000, 0
	if testing.Short() {
		types = 600
	}
	for seed := range types {
		r := maker{rand.New(rand.NewPCG(uint64(seed), 8))}
		_, src := r.twins(0)
		dst := &schema.Message{Name: src.Name}
		rule := &Rule{Fields: map[string]From{}}
		origins := map[string]content.Origin{}
		for _, f := range src.Fields {
			switch {
			case r.IntN(2) == 0:
			case f.Type.Array == schema.Single:
				f.Type.Array, f.Type.Len = schema.Array(1+r.IntN(3)), r.IntN(4)
				if f.Type.Array == schema.Bounded {
					f.Type.Len++
				}
			default:
				f.Type.Array, f.Type.Len = schema.Single, 0
			}
			rule.Fields[f.Name], origins[f.Name] = From{Path: f.Name}, content.Origin{Path: f.Name}
			dst.Fields = append(dst.Fields, f)
			changed++
		}
		plan, err := Compile(src, dst, Options{From: serial.CDR, To: serial.CDR, Migrate: true,
			Rule: func(a, _ *schema.Message) *Rule {
				if a == src {
					return rule
				}
				return nil
			}})
		if errors.Is(err, errTooLarge) {
			continue
		}
		if err != nil {
			t.Fatal(seed, err)
		}
		judge, err := content.NewMigration([]content.Version{{Source: src, Target: dst,
			Rule: func(a, _ *schema.Message) *content.Rule {
				if a == src {
					return &content.Rule{Fields: origins}
				}
				return nil
			}}}, serial.CDR, serial.CDR)
		if err != nil {
			t.Fatal(err)
		}
		v := r.value(schema.Type{Kind: schema.Struct, Message: src}, 0)
		for form := ros.PlainLE; form < ros.Forms; form++ {
			in := walkEncode(src, v, serial.CDR, form)
			got, err := plan.Append(nil, in)
			want, err2 := judge.Append(nil, in)
			if err != nil || err2 != nil || !sameContent(t, dst, got, want) {
				t.Fatalf("seed %d: %v, %v\n got % x\nwant % x", seed, err, err2, got, want)
			}
		}
	}
	if changed < types {
		t.Fatal("too few fields have changed")
	}
}

// TestMigrateOneByHand: a value becomes a list of it, and of a list the first value remains.
func TestMigrateOneByHand(t *testing.T) {
	src := &schema.Message{Name: "p/A", Fields: []schema.Field{field("a", schema.Uint8), many(field("b", schema.Uint16),
		schema.Unbounded, 0), many(field("c", schema.Uint8), schema.Fixed, 2), field("d", schema.String)}}
	dst := &schema.Message{Name: "p/A", Fields: []schema.Field{many(field("a", schema.Uint16), schema.Unbounded, 0),
		field("b", schema.Uint8), field("c", schema.Uint8), many(field("d", schema.String), schema.Fixed, 2)}}
	rule := &Rule{Fields: map[string]From{"a": {Path: "a"}, "b": {Path: "b", Scale: 2}, "c": {Path: "c"},
		"d": {Path: "d"}}}
	plan, err := Compile(src, dst, Options{From: serial.ROS1, To: serial.ROS1, Migrate: true,
		Rule: func(_, _ *schema.Message) *Rule { return rule }})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(plan.Dropped(), plan.Bounded(), plan.Narrowed()); got != "[c[1:]] [b] [b]" {
		t.Error(got)
	}
	for in, want := range map[string]string{
		"\x07" + "\x01\x00\x00\x00\x03\x00" + "\x08\x00" + "\x01\x00\x00\x00x": "\x01\x00\x00\x00\x07\x00" + "\x06" +
			"\x08" + "\x01\x00\x00\x00x\x00\x00\x00\x00",
		"\x07" + "\x02\x00\x00\x00\x03\x00\x04\x00" + "\x08\x09" + "\x01\x00\x00\x00x": "\x01\x00\x00\x00\x07\x00" + "\x06" +
			"\x08" + "\x01\x00\x00\x00x\x00\x00\x00\x00",
		"\x07" + "\x00\x00\x00\x00" + "\x08\x00" + "\x00\x00\x00\x00": "\x01\x00\x00\x00\x07\x00" + "\x00" + "\x08" +
			"\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		if got, err := plan.Append(nil, []byte(in)); err != nil || string(got) != want {
			t.Errorf("%q becomes %q, not %q: %v", in, got, want, err)
		}
	}
	var codes []string
	for _, l := range plan.Losses() {
		codes = append(codes, fmt.Sprint(l.Code, l.Messages))
	}
	if got := strings.Join(codes, " "); got != "fields-dropped1 lists-cut1" {
		t.Error(got)
	}
	if _, err := Compile(src, dst, Options{From: serial.ROS1, To: serial.ROS1,
		Rule: func(_, _ *schema.Message) *Rule { return rule }}); err == nil {
		t.Error("without Migrate a value becomes a list")
	}
}
