package values

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

func parse(t testing.TB, text string, d rosmsg.Dialect) *mapping.Definition {
	t.Helper()
	msg, err := rosmsg.Parse("p/T", []byte(text), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	wire := serial.CDR
	if d == rosmsg.ROS1 {
		wire = serial.ROS1
	}
	return &mapping.Definition{ROS: msg, Wire: wire}
}

// TestNumbers: a number keeps its value, or is refused with the name of its field.
func TestNumbers(t *testing.T) {
	d := parse(t, "float64 x\nuint64 y\n", rosmsg.ROS1)
	type narrow struct {
		X int8
		Y float32
	}
	codec, err := compileFor[narrow](d)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := compileFor[struct {
		X float64
		Y uint64
	}](d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x    float64
		y    uint64
		want string
	}{
		{-128, 1 << 24, ""}, {127, 1 << 40, ""}, {128, 0, "field x: "}, {0.5, 0, "field x: "}, {math.NaN(), 0, "field x: "},
		{math.Inf(1), 0, "field x: "}, {0, 1<<24 + 1, "field y: "}, {0, math.MaxUint64, "field y: "}, {1 << 63, 0,
			"field x: "},
	} {
		src, err := wide.Append(nil, &struct {
			X float64
			Y uint64
		}{c.x, c.y})
		if err != nil {
			t.Fatal(err)
		}
		var v narrow
		err = codec.Decode(src, &v)
		if c.want == "" {
			if err != nil || float64(v.X) != c.x || uint64(v.Y) != c.y {
				t.Errorf("%v %v: %+v, %v", c.x, c.y, v, err)
			}
			if out, err := codec.Append(nil, &v); err != nil || !bytes.Equal(out, src) {
				t.Errorf("%+v: % x, %v", v, out, err)
			}
		} else if err == nil || !errors.Is(err, ErrRange) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v %v: %v", c.x, c.y, err)
		}
	}
	if _, err := codec.Append([]byte("x"), &narrow{Y: -1}); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(),
		"field y") {
		t.Error(err)
	}
}

// TestZero: an array of wide strings that T does not have is written as that many empty ones.
func TestZero(t *testing.T) {
	type short struct{ Last int32 }
	codec, err := compileFor[short](parse(t, "wstring[2] w\nint32[] list\nint32 last\n", rosmsg.ROS2))
	if err != nil {
		t.Fatal(err)
	}
	out, err := codec.Append(nil, &short{7})
	if want := "\x00\x01\x00\x00" + strings.Repeat("\x00", 12) + "\x07\x00\x00\x00"; err != nil || string(out) != want {
		t.Errorf("% x, %v", out, err)
	}
	var back short
	if err := codec.Decode(out, &back); err != nil || back.Last != 7 {
		t.Error(back, err)
	}
}

// TestConvert compares conversions of numbers with the exact values of text.
func TestConvert(t *testing.T) {
	types := []struct {
		k    message.Kind
		size int
	}{{message.Signed, 1}, {message.Signed, 2}, {message.Signed, 4}, {message.Signed, 8}, {message.Unsigned, 1},
		{message.Unsigned, 2}, {message.Unsigned, 4}, {message.Unsigned, 8}, {message.Float, 4}, {message.Float, 8}}
	text := func(bits uint64, k message.Kind, size int) string {
		v := widen(bits, k, size)
		switch k {
		case message.Signed:
			return strconv.FormatInt(int64(v), 10)
		case message.Unsigned:
			return strconv.FormatUint(v, 10)
		}
		f := math.Float64frombits(v)
		return strings.TrimPrefix(strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1100, 64), "."+strings.Repeat("0", 1100)),
			"-0")
	}
	for _, from := range types {
		for _, v := range []float64{0, 1, -1, 0.5, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536, 1 << 24,
			1<<24 + 1, 1<<31 - 1, 1 << 31, -1 << 31, 1<<32 - 1, 1 << 32,
			1 << 53, 1<<53 + 2, 1 << 62, -1 << 63, 1 << 63, 1 << 64, 1e-300, math.Inf(1), math.Inf(-1)} {
			bits, ok := convert(math.Float64bits(v), message.Float, from.k, from.size)
			if !ok {
				continue
			}
			for _, to := range types {
				got, ok := convert(widen(bits, from.k, from.size), from.k, to.k, to.size)
				mask := ^uint64(0) >> (64 - 8*to.size)
				was, is := text(bits&mask|bits, from.k, from.size), text(got&mask, to.k, to.size)
				if v == 0 {
					was, is = "0", "0"
				}
				if ok && was != is {
					t.Errorf("%s as %v is %s", was, to, is)
				}
				if back, again := convert(widen(got&mask, to.k, to.size), to.k, from.k, from.size); ok && (!again || back != bits) {
					t.Errorf("%s as %v does not come back", was, to)
				}
				if !ok && from == to {
					t.Errorf("%s is no %v", was, from)
				}
			}
		}
	}
}

// TestTypes: what does not fit is an error that names the field.
func TestTypes(t *testing.T) {
	d := parse(t, "string s\nuint8[3] a\nP[] list\nint32 a_b\nint32 ab\ntime t\n"+separator+"MSG: p/P\nfloat64 x\n",
		rosmsg.ROS1)
	check := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, ErrType) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	_, err := compileFor[struct{ S int }](d)
	check(err, "field s is a string and cannot be a int")
	_, err = compileFor[struct{ A [2]uint8 }](d)
	check(err, "field a is a uint8[3]")
	_, err = compileFor[struct{ List []struct{ X string } }](d)
	check(err, "field list.x")
	_, err = compileFor[struct{ AB int }](d)
	check(err, "several fields")
	_, err = compileFor[struct {
		S     string
		Other string `bag:"s"`
	}](d)
	check(err, "two places")
	_, err = compileFor[struct {
		S string `bag:"none"`
	}](d)
	check(err, "no field none")
	_, err = compileFor[struct{ T map[string]int }](d)
	check(err, "field t")
	_, err = compileFor[[]int](d)
	check(err, "[]int")
	_, err = compileFor[time.Time](d)
	check(err, "time.Time")
	codec, err := compileFor[struct {
		List []struct {
			X float64
			Z int
		}
		C int `bag:"ab"`
		T struct{ Secs, Nsecs uint32 }
		y int
	}](d)
	if err != nil || fmt.Sprint(codec.Unread(), codec.Unset()) != "[s a a_b] [list.Z]" {
		t.Error(err, codec.Unread(), codec.Unset())
	}
}

const separator = "================================================================================\n"

// TestRanges: what has no place in a message is refused when it is written.
func TestRanges(t *testing.T) {
	d := parse(t, "string<=2 s\nuint8[3] a\nuint8[<=2] b\nwstring<=1 w\nuint8[] c\n", rosmsg.ROS2)
	codec, err := compileFor[map[string]any](d)
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]any{"s": "ab", "a": []int{1, 2, 3}, "b": [2]uint8{1, 2}, "w": "é", "c": nil}
	out, err := codec.Append(nil, &good)
	want := "00010000" + "03000000" + "616200" + "010203" + "0000" + "02000000" + "0102" + "0000" + "01000000" +
		"e9000000" + "00000000"
	if err != nil || fmt.Sprintf("%x", out) != want {
		t.Errorf("%x, %v", out, err)
	}
	for name, v := range map[string]any{"s": "abc", "a": []int{1, 2}, "b": []any{1, 2, 3}, "w": "ab", "c": []int{256},
		"d": 1} {
		bad := map[string]any{"a": []int{1, 2, 3}}
		bad[name] = v
		out, err := codec.Append([]byte("x"), &bad)
		if !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), name) || string(out) != "x" {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
	for _, v := range []any{"x", []string{"a"}, struct{}{}, []any{"x", 2, 3}} {
		bad := map[string]any{"a": v}
		if _, err := codec.Append(nil, &bad); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "field a") {
			t.Errorf("%v: %v", v, err)
		}
	}
	arrays, err := compileFor[struct{ C [2]uint8 }](d)
	if err != nil {
		t.Fatal(err)
	}
	if err := arrays.Decode(out, new(struct{ C [2]uint8 })); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(),
		"field c") {
		t.Error(err)
	}
}

func TestTimes(t *testing.T) {
	d := parse(t, "time t\nduration d\n", rosmsg.ROS1)
	codec, err := compileFor[struct {
		T time.Time
		D time.Duration
	}](d)
	if err != nil {
		t.Fatal(err)
	}
	v := struct {
		T time.Time
		D time.Duration
	}{D: -1500 * time.Millisecond}
	out, err := codec.Append(nil, &v) // the zero time
	if err != nil || fmt.Sprintf("%x", out) != "0000000000000000"+"feffffff0065cd1d" {
		t.Errorf("%x, %v", out, err)
	}
	for _, bad := range []time.Time{time.Unix(-1, 0), time.Unix(1<<32, 0)} {
		v.T = bad
		if _, err := codec.Append(nil, &v); !errors.Is(err, ErrRange) {
			t.Error(err)
		}
	}
}

// A navSatFix has all fields of sensor_msgs/NavSatFix.
type navSatFix struct {
	Header struct {
		Seq     uint32
		Stamp   time.Time
		FrameID string
	}
	Status struct {
		Status  int8
		Service uint16
	}
	Latitude, Longitude, Altitude float64
	PositionCovariance            [9]float64
	PositionCovarianceType        uint8
}

// TestWholeType: a struct with all fields of a standard type reads and writes its bytes.
func TestWholeType(t *testing.T) {
	topic := &storage.Topic{Name: "/fix", Type: "sensor_msgs/NavSatFix", Encoding: "ros1"}
	codec, err := For[navSatFix](topic)
	if err != nil || len(codec.Unread())+len(codec.Unset()) > 0 {
		t.Fatal(err, codec)
	}
	want := navSatFix{Latitude: 52, Longitude: 13.5}
	want.Header.Seq, want.Header.Stamp, want.Header.FrameID = 7, time.Unix(5, 6).UTC(), "gps"
	for i := range want.PositionCovariance {
		want.PositionCovariance[i] = float64(i)
	}
	src := fixMessage(t)
	var got navSatFix
	if err := codec.Decode(src, &got); err != nil || !got.Header.Stamp.Equal(want.Header.Stamp) {
		t.Fatalf("%+v: %v", got, err)
	}
	if got.Header.Stamp = want.Header.Stamp; !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, not %+v", got, want)
	}
	if out, err := codec.Append(nil, &got); err != nil || !bytes.Equal(out, src) {
		t.Fatalf("% x: %v", out, err)
	}
	if _, err := For[navSatFix](&storage.Topic{Name: "/fix", Type: "x/Y", Encoding: "ros1"}); err == nil ||
		!strings.Contains(err.Error(), "topic /fix") {
		t.Error(err)
	}
}

// fixMessage returns a sensor_msgs/NavSatFix in ROS 1, field by field.
func fixMessage(t testing.TB) []byte {
	t.Helper()
	var b []byte
	for _, v := range []any{uint32(7), uint32(5), uint32(6), uint32(3), []byte("gps"), int8(0), uint16(0),
		[]float64{52, 13.5, 0},
		[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, uint8(0)} {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestConcurrent: one codec for several goroutines, with types in maps that are compiled on the way.
func TestConcurrent(t *testing.T) {
	codec, err := compileFor[map[string]any](parse(t, "int32[] a\nP p\n"+separator+"MSG: p/P\nfloat32 x\n", rosmsg.ROS1))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				v := map[string]any{"a": []any{int8(1), 2.0}, "p": struct{ X float64 }{0.5}}
				out, err := codec.Append(nil, &v)
				if err == nil {
					err = codec.Decode(out, &v)
				}
				if err != nil || !reflect.DeepEqual(v, map[string]any{"a": []int32{1, 2}, "p": map[string]any{"x": float32(0.5)}}) {
					t.Error(v, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestOutOfProportion: lists of what takes no bytes do not fill the memory.
func TestOutOfProportion(t *testing.T) {
	d := parse(t, "E[] a\n"+separator+"MSG: p/E\n", rosmsg.ROS1)
	message := []byte{0xff, 0xff, 0xff, 0x7f}
	codec, err := compileFor[map[string]any](d)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := codec.Decode(message, &v); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	skipping, err := compileFor[struct{}](d)
	if err != nil {
		t.Fatal(err)
	}
	if err := skipping.Decode(message, new(struct{})); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

// FuzzDecode: whatever the type and the bytes, values are those that package render writes as text.
func FuzzDecode(f *testing.F) {
	const nested = "P[] p\nP[2] q\nstring s\nE e\nE[] es\n" + separator +
		"MSG: p/P\nuint8 a\nfloat64[] x\nstring[3] y\nbool b\n" + separator + "MSG: p/E\n"
	for i, l := range layouts {
		f.Add(byte(i), nested, append(bytes.Clone(l.header), bytes.Repeat([]byte{1, 0, 0, 0}, 30)...))
		f.Add(byte(i), "uint8 a\nfloat64 b\nint16[3] c\nbool[] d\nchar e\nint64 f\n",
			append(bytes.Clone(l.header), bytes.Repeat([]byte{2, 0, 0, 0, 0}, 12)...))
		f.Add(byte(i), "time t\nduration[] d\nbyte[] w\n",
			append(bytes.Clone(l.header), bytes.Repeat([]byte{2, 0, 0, 0, 0, 0, 0, 0}, 5)...))
	}
	for seed := range uint64(6) {
		w := typetree.New(seed, 3, typetree.Options{})
		for _, m := range w.Roots {
			v := w.Value(m)
			f.Add(byte(0), string(typetree.AppendText(nil, m, typetree.ROS1)), typetree.AppendROS1(nil, m, v))
			f.Add(byte(1), string(typetree.AppendText(nil, m, typetree.ROS2)), typetree.AppendCDR(nil, m, v))
		}
	}
	f.Fuzz(func(t *testing.T, form byte, definition string, message []byte) {
		if len(message) > 4<<10 || len(definition) > 4<<10 || !utf8.ValidString(definition) {
			return
		}
		dialect, wire := rosmsg.ROS2, serial.CDR
		if form == 0 {
			dialect, wire = rosmsg.ROS1, serial.ROS1
		}
		msg, err := rosmsg.Parse("p/T", []byte(definition), dialect, nil)
		if err != nil || !small(msg, 0) {
			return
		}
		def := &mapping.Definition{ROS: msg, Wire: wire}
		codec, err := compileFor[map[string]any](def)
		typ, err2 := def.Type()
		if (err == nil) != (err2 == nil) {
			t.Fatal(err, err2)
		}
		if err != nil {
			return
		}
		program, err := render.Compile(typ, render.Options{Bytes: true, Arrays: true})
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		err = codec.Decode(message, &v)
		text, err2 := program.Append(nil, message)
		if (err == nil) != (err2 == nil) && !strings.Contains(fmt.Sprint(err, err2), "out of proportion") &&
			!strings.Contains(fmt.Sprint(err2), "too many") {
			t.Fatalf("%v; as text: %v", err, err2)
		}
		if err != nil || err2 != nil {
			return
		}
		var tree any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		if d := sameText(schema.Type{Kind: schema.Struct, Message: msg}, tree, v); d != "" {
			t.Fatalf("%s\n%s\n%v", d, text, v)
		}
		if _, err := codec.Append(nil, &v); err != nil && !errors.Is(err, ErrRange) {
			t.Fatal(err)
		}
	})
}

// small reports whether a type is small: large arrays of structs take no bytes of a message.
func small(m *schema.Message, depth int) bool {
	for _, f := range m.Fields {
		if f.Type.Len > 16 || depth > 8 || f.Type.Message != nil && !small(f.Type.Message, depth+1) {
			return false
		}
	}
	return true
}

// sameText compares what the text of a message has with its value.
func sameText(t schema.Type, text, v any) string {
	switch have := text.(type) {
	case map[string]any:
		if nsec, ok := have["nanosec"]; ok && len(have) == 2 {
			switch v.(type) {
			case time.Time, time.Duration:
				sec, _ := strconv.ParseInt(fmt.Sprint(have["sec"]), 10, 64)
				ns, _ := strconv.ParseInt(fmt.Sprint(nsec), 10, 64)
				if d, ok := v.(time.Duration); ok && int64(d) == sec*1e9+ns || !ok && v.(time.Time).UnixNano() == sec*1e9+ns {
					return ""
				}
				return fmt.Sprint(have, " is not ", v)
			}
		}
		for _, f := range t.Message.Fields {
			if d := sameText(f.Type, have[f.Name], v.(map[string]any)[f.Name]); d != "" {
				return f.Name + ": " + d
			}
		}
		return ""
	case []any:
		t.Array = schema.Single
		list := reflect.ValueOf(v)
		if list.Len() != len(have) {
			return fmt.Sprintf("%d values, not %d", list.Len(), len(have))
		}
		for i, one := range have {
			if d := sameText(t, one, list.Index(i).Interface()); d != "" {
				return fmt.Sprintf("[%d]: %s", i, d)
			}
		}
		return ""
	case string:
		if s, ok := v.(string); ok {
			if have == s || !utf8.ValidString(s) {
				return ""
			}
			return fmt.Sprintf("%q, not %q", s, have)
		}
		if reflect.TypeOf(v).Kind() == reflect.Slice {
			return "" // bytes in base64
		}
		text = strings.NewReplacer("Infinity", "Inf").Replace(have)
	}
	a, err := strconv.ParseFloat(fmt.Sprint(text), 64)
	if err != nil {
		if fmt.Sprint(text) == fmt.Sprint(v) {
			return ""
		}
		return fmt.Sprint(v, " is not ", text)
	}
	g := reflect.ValueOf(v)
	if g.CanFloat() {
		if b := g.Float(); b == a || b != b && a != a || float32(a) == float32(b) && g.Kind() == reflect.Float32 {
			return ""
		}
	}
	if fmt.Sprint(text) == fmt.Sprint(v) {
		return ""
	}
	return fmt.Sprint(v, " is not ", text)
}
