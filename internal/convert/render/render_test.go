package render

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"
	"gopkg.in/yaml.v3"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// same reports whether YAML and JSON have the same values, each read by a parser of its own.
func same(t *testing.T, yamlText, jsonText string) {
	t.Helper()
	var y, j any
	if err := yaml.Unmarshal([]byte(yamlText), &y); err != nil {
		t.Fatalf("%v\n%s", err, yamlText)
	}
	if err := json.Unmarshal([]byte(jsonText), &j); err != nil {
		t.Fatalf("%v\n%s", err, jsonText)
	}
	if !reflect.DeepEqual(plain(y), plain(j)) {
		t.Fatalf("YAML\n%s\nJSON\n%s", yamlText, jsonText)
	}
}

// plain makes numbers float64, as JSON's are, and floats without a number words.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = plain(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plain(x)
		}
	case int:
		return float64(v)
	case float64:
		if math.IsNaN(v) {
			return "NaN"
		}
		if math.IsInf(v, 0) {
			return strings.Replace(strings.Replace(fmt.Sprint(v), "+Inf", "Infinity", 1), "-Inf", "-Infinity", 1)
		}
	}
	return v
}

// TestDifferential compares the programs with a tree of values that is written
// plainly, for random types and messages, on all wires and in all styles.
func TestDifferential(t *testing.T) {
	count := 600
	if testing.Short() {
		count = 100
	}
	g := maker{rand.New(rand.NewPCG(6, 5))}
	for i := range count {
		ros1 := i%2 == 0
		m := g.message(0, ros1)
		o := Options{Bytes: g.IntN(2) == 0, Arrays: g.IntN(2) == 0}
		for name, l := range layouts {
			if l.cdr == ros1 {
				continue
			}
			wire := serial.ROS1
			if l.cdr {
				wire = serial.CDR
			}
			w := &writer{maker: g, layout: l, long: i%8 < 2}
			tree := w.single(schema.Type{Kind: schema.Struct, Message: m})
			msg := append(slices.Clone(l.header), w.out...)
			texts := map[Style]string{}
			for _, o.Style = range []Style{JSON, YAML, CSV} {
				p, err := compileROS(m, wire, o)
				if err != nil {
					t.Fatal(err)
				}
				out, err := p.Append([]byte("old"), msg)
				if err != nil || string(out[:3]) != "old" {
					t.Fatalf("%s: %v\n%s\n%x", name, err, out, msg)
				}
				texts[o.Style] = string(out[3:])
				checkCut(t, p, msg)
				if o.Style == CSV {
					checkCells(t, p, texts[CSV], naiveCells(tree, o))
				}
			}
			if want := naive(tree, o); texts[JSON] != want {
				t.Fatalf("%s\n got %s\nwant %s", name, texts[JSON], want)
			}
			same(t, texts[YAML], texts[JSON])
		}
	}
}

// checkCut cuts a message: an error, or a text, but nothing else.
func checkCut(t *testing.T, p *Program, msg []byte) {
	t.Helper()
	if len(msg) == 0 {
		return
	}
	out, err := p.Append([]byte("old"), msg[:len(msg)-1])
	if err == nil && p.typ.CDR() { // padding at the end need not be there
		return
	}
	if string(out) != "old" || !errors.Is(err, transcode.ErrMalformed) {
		t.Fatalf("%q, %v", out, err)
	}
}

func checkCells(t *testing.T, p *Program, line string, want []string) {
	t.Helper()
	if len(want) != len(p.Columns()) {
		t.Fatalf("%d cells, columns %v", len(want), p.Columns())
	}
	if len(want) == 0 {
		return
	}
	// the reader would make \r\n one \n
	r := csv.NewReader(strings.NewReader("x," + strings.ReplaceAll(line, "\r", "\x01") + "\n"))
	got, err := r.Read()
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], "\x01", "\r")
	}
	if err != nil || !slices.Equal(got[1:], want) {
		t.Fatalf("%v\n got %q\nwant %q", err, got, want)
	}
}

const pathType = `string name
P[] ps
uint8[] data
float32[] ranges
time at
P one
================
MSG: a/P
int64 id
Q q
================
MSG: a/Q
float32[2] y
string s
`

func pathMessage(t testing.TB, n int) (*schema.Message, []byte) {
	m, err := rosmsg.Parse("a/M", []byte(pathType), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{layout: layouts["ros1"]}
	text := func(s string) {
		w.number(uint64(len(s)), 4)
		w.out = append(w.out, s...)
	}
	p := func(i int) {
		w.number(uint64(1<<60+i), 8)
		w.number(uint64(math.Float32bits(0.1)), 4)
		w.number(uint64(math.Float32bits(float32(math.NaN()))), 4)
		text(fmt.Sprint("s", i))
	}
	text("left, right")
	w.number(2, 4)
	p(0)
	p(1)
	w.number(3, 4)
	w.out = append(w.out, "abc"...)
	w.number(uint64(n), 4)
	for i := range n {
		w.number(uint64(math.Float32bits(float32(i))), 4)
	}
	w.number(7, 4)
	w.number(8, 4)
	p(2)
	return m, w.out
}

// columnsOf are the columns of the paths of TestPaths: in CSV a struct has those of its
// fields.
func columnsOf(paths []string, style Style) (names []string) {
	for _, path := range paths {
		fields := map[string]string{"ps[1].q": ".y .s", "at": ".sec .nanosec", "ps[0]": ".id .q.y .q.s",
			"ps[9]": ".id .q.y .q.s"}[path]
		if style != CSV || fields == "" {
			names = append(names, path)
			continue
		}
		for _, f := range strings.Fields(fields) {
			names = append(names, path+f)
		}
	}
	return names
}

func TestPaths(t *testing.T) {
	m, msg := pathMessage(t, 2)
	for _, c := range []struct{ paths, json, csv string }{
		{"name", `{"name":"left, right"}`, `"left, right"`},
		{"one.q.s name", `{"one.q.s":"s2","name":"left, right"}`, `s2,"left, right"`},
		{"ps.id", `{"ps.id":["1152921504606846976","1152921504606846977"]}`,
			`"[""1152921504606846976"",""1152921504606846977""]"`},
		{"ps[1].id ps[2].id", `{"ps[1].id":"1152921504606846977","ps[2].id":null}`, `1152921504606846977,`},
		{"ps[1].q", `{"ps[1].q":{"y":[0.1,"NaN"],"s":"s1"}}`, `"[0.1,""NaN""]",s1`},
		{"ps.q.y", `{"ps.q.y":[[0.1,"NaN"],[0.1,"NaN"]]}`, `"[[0.1,""NaN""],[0.1,""NaN""]]"`},
		{"ps.q.y[1]", `{"ps.q.y[1]":["NaN","NaN"]}`, `"[""NaN"",""NaN""]"`},
		{"data data[1]", `{"data":"YWJj","data[1]":98}`, `YWJj,98`},
		{"at.sec at", `{"at.sec":7,"at":{"sec":7,"nanosec":8}}`, `7,7,8`},
		{"ranges ranges[1]", `{"ranges":[0.0,1.0],"ranges[1]":1.0}`, `"[0.0,1.0]",1.0`},
		{"one.q.y[1]", `{"one.q.y[1]":"NaN"}`, `NaN`},
		{"ps[0] ps[9]", `{"ps[0]":{"id":"1152921504606846976","q":{"y":[0.1,"NaN"],"s":"s0"}},"ps[9]":null}`,
			`1152921504606846976,"[0.1,""NaN""]",s0,,,`},
	} {
		o := Options{Paths: strings.Fields(c.paths)}
		texts := map[Style]string{}
		for _, o.Style = range []Style{JSON, YAML, CSV} {
			p, err := compileROS(m, serial.ROS1, o)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Append(nil, msg)
			if err != nil {
				t.Fatalf("%s: %v", c.paths, err)
			}
			texts[o.Style] = string(out)
			if _, err := p.Append(nil, msg[:len(msg)-1]); !errors.Is(err, transcode.ErrMalformed) {
				t.Errorf("%s: a cut message: %v", c.paths, err)
			}
			if _, err := p.Append(nil, append(slices.Clone(msg), 0)); !errors.Is(err, transcode.ErrMalformed) {
				t.Errorf("%s: a byte too many: %v", c.paths, err)
			}
			if want := columnsOf(o.Paths, o.Style); !slices.Equal(p.Columns(), want) {
				t.Errorf("columns %v, not %v", p.Columns(), want)
			}
		}
		if texts[JSON] != c.json || texts[CSV] != c.csv {
			t.Errorf("%s\n got %s\nwant %s\n got %s\nwant %s", c.paths, texts[JSON], c.json, texts[CSV], c.csv)
		}
		same(t, texts[YAML], texts[JSON])
	}
	for path, want := range map[string]string{
		"nam":       `path "nam": a/M has no field "nam"`,
		"one.q.z":   `path "one.q.z": a/Q has no field "z"`,
		"ps.q.z":    `path "ps.q.z": a/Q has no field "z"`,
		"name.x":    `path "name.x": name has no fields`,
		"name[0]":   `path "name[0]": name is not a list`,
		"ps[x].id":  `path "ps[x].id": "[x]" is not an index; write a number from 0 on, as in points[3], or no index for all elements`,
		"ps[-1].id": `path "ps[-1].id": "[-1]" is not an index; write a number from 0 on, as in points[3], or no index for all elements`,
		"ps..id":    `path "ps..id": a/P has no field ""`,
	} {
		_, err := compileROS(m, serial.ROS1, Options{Paths: []string{path}})
		var pe *PathError
		if !errors.As(err, &pe) || err.Error() != want || pe.Path != path || (pe.What == "") != (pe.Known != nil) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestPathsAskForAll: a list that a path names is whole, one within is not.
func TestPathsAskForAll(t *testing.T) {
	m, msg := pathMessage(t, LongList+1)
	text := func(o Options) string {
		p, err := compileROS(m, serial.ROS1, o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Append(nil, msg)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if s := text(Options{}); !strings.Contains(s, `"ranges":{"$length":129}`) ||
		!strings.Contains(s, `"data":{"$bytes":3}`) {
		t.Error(s)
	}
	for _, o := range []Options{{Arrays: true}, {Paths: []string{"ranges"}}} {
		if s := text(o); !strings.Contains(s, `"ranges":[0.0,1.0,`) || !strings.Contains(s, `,128.0]`) {
			t.Error(s)
		}
	}
	if s := text(Options{Style: CSV, Paths: []string{"", "name", ""}}); s != `,"left, right",` {
		t.Error(s)
	}
	if s := text(Options{Paths: []string{"", "name", ""}}); s != `{"name":"left, right"}` {
		t.Error(s)
	}
	if s := text(Options{Paths: []string{""}}); s != `{}` {
		t.Error(s)
	}
}

// TestPathsAsColumns: in CSV a struct that is named has the cells that it has in the
// whole message.
func TestPathsAsColumns(t *testing.T) {
	m, msg := pathMessage(t, 2)
	compile := func(paths ...string) (columns []string, cells string) {
		p, err := compileROS(m, serial.ROS1, Options{Style: CSV, Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Append(nil, msg)
		if err != nil {
			t.Fatal(err)
		}
		return p.Columns(), string(out)
	}
	columns, cells := compile()
	for _, name := range []string{"at", "one"} {
		sub, text := compile(name)
		at := slices.Index(columns, sub[0])
		if len(sub) < 2 || at < 0 || !slices.Equal(columns[at:at+len(sub)], sub) || !strings.Contains(","+cells+",",
			","+text+",") {
			t.Errorf("%s: %v %s; in all: %v %s", name, sub, text, columns, cells)
		}
	}
}

// TestTexts: what no other test has a parser for.
func TestTexts(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb":             `"a\udcffb"`,
		"\xed\xb3\xbf":       `"\udced\udcb3\udcbf"`, // an encoded surrogate is not UTF-8
		"\u0085\u009b\ufeff": `"\u0085\u009b\ufeff"`,
		"\ufffd\u00a0":       "\"\ufffd\u00a0\"",
		"\x1b[31m\x00":       `"\u001b[31m\u0000"`,
	} {
		if got := string(AppendQuoted(nil, []byte(in))); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
	for in, want := range map[string]string{"": `""`, "a b": "a b", "a,b": `"a,b"`, `a"b`: `"a""b"`, "a\nb": "\"a\nb\"",
		"\xff": "\xff"} {
		if got := string(AppendCell(nil, []byte(in))); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
	for style, want := range map[Style]string{JSON: `{"topic":"a\udcff",`, YAML: "---\ntopic: !!binary \"Yf8=\"\n",
		CSV: "a\xff,"} {
		if got := string(RawLine("a\xff", style).head); !strings.HasPrefix(got, want) {
			t.Errorf("%q", got)
		}
	}
	for in, want := range map[string]string{"x": "x", "on": `"on"`, "No": `"No"`, "a.b": "a.b", "a[0].b": `"a[0].b"`,
		"1a": `"1a"`, "": `""`, "\u00e9": "\"\u00e9\""} {
		if got := string(appendYAMLKey(nil, in)); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestLines(t *testing.T) {
	m := &schema.Message{Name: "a/B", Fields: []schema.Field{{Name: "x", Type: schema.Type{Kind: schema.Int8}}}}
	for style, want := range map[Style]string{
		JSON: "{\"topic\":\"/a\",\"time\":\"-5\",\"fields\":{\"x\":7}}\n{\"topic\":\"/a\",\"time\":\"-5\",\"raw\":\"Bw==\"}\n",
		YAML: "---\ntopic: \"/a\"\ntime: \"-5\"\nfields:\n  x: 7\n---\ntopic: \"/a\"\ntime: \"-5\"\nraw: \"Bw==\"\n",
		CSV:  "/a,-5,7\n/a,-5,Bw==\n",
	} {
		p, err := compileROS(m, serial.ROS1, Options{Style: style, Indent: 1})
		if err != nil {
			t.Fatal(err)
		}
		out, err := NewLine("/a", p).AppendAt(nil, []byte{7}, -5)
		if err == nil {
			out, err = RawLine("/a", style).AppendAt(out, []byte{7}, -5)
		}
		if err != nil || string(out) != want {
			t.Errorf("%v\n%s", err, out)
		}
		if out, err := NewLine("/a", p).AppendAt([]byte("old"), nil, -5); string(out) != "old" ||
			!errors.Is(err, transcode.ErrMalformed) {
			t.Errorf("%q, %v", out, err)
		}
	}
	empty, err := compileROS(&schema.Message{Name: "a/E"}, serial.ROS1, Options{Style: CSV})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := NewLine("/a", empty).AppendAt(nil, nil, 1); err != nil || string(out) != "/a,1\n" {
		t.Errorf("%q, %v", out, err)
	}
	if got := string(CSVHeader([]string{"a", "b,c"})); got != "topic,time,a,\"b,c\"\n" {
		t.Error(got)
	}
}

// TestHostile: what a message of a few bytes may cost is limited.
func TestHostile(t *testing.T) {
	e := &schema.Message{Name: "a/E"}
	deep := e
	for i := range 40 { // 2^40 structs without bytes
		deep = &schema.Message{Name: fmt.Sprint("a/D", i), Fields: []schema.Field{
			{Name: "l", Type: schema.Type{Kind: schema.Struct, Message: deep}},
			{Name: "r", Type: schema.Type{Kind: schema.Struct, Message: deep}}}}
	}
	list := &schema.Message{Name: "a/L",
		Fields: []schema.Field{{Name: "l", Type: schema.Type{Kind: schema.Struct, Message: e, Array: schema.Unbounded}}}}
	fixed := &schema.Message{Name: "a/F",
		Fields: []schema.Field{{Name: "l", Type: schema.Type{Kind: schema.Struct, Message: e, Array: schema.Fixed,
			Len: 1 << 40}}}}
	long := &schema.Message{Name: "a/N",
		Fields: []schema.Field{{Name: strings.Repeat("n", 1<<16), Type: schema.Type{Kind: schema.Struct, Message: e}}}}
	wide := &schema.Message{Name: "a/W",
		Fields: []schema.Field{{Name: "l", Type: schema.Type{Kind: schema.Struct, Message: long, Array: schema.Unbounded}}}}
	for _, c := range []struct {
		m   *schema.Message
		msg []byte
	}{
		{deep, nil}, {list, []byte{0xff, 0xff, 0xff, 0xff}}, {fixed, nil}, {wide, []byte{0, 0xff, 0, 0}},
	} {
		for _, o := range []Options{{Arrays: true}, {Arrays: true, Style: YAML}, {Paths: []string{"l"}}} {
			p, err := compileROS(c.m, serial.ROS1, o)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Append(nil, c.msg)
			if !errors.Is(err, transcode.ErrMalformed) {
				t.Errorf("%s: %d bytes, %v", c.m.Name, len(out), err)
			}
		}
	}
	if _, err := compileROS(deep, serial.ROS1, Options{Style: CSV}); err == nil {
		t.Error("2^40 columns")
	}
	for _, k := range []schema.Kind{schema.LongDouble, schema.WChar, schema.Invalid} {
		if _, err := compileROS(&schema.Message{Fields: []schema.Field{{Name: "x", Type: schema.Type{Kind: k}}}}, serial.CDR,
			Options{}); err == nil {
			t.Errorf("%s is read", k)
		}
	}
	for _, head := range [][]byte{nil, {0, 1, 0}, {1, 1, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 0}} {
		p, _ := compileROS(e, serial.CDR, Options{})
		if out, err := p.Append(nil, head); !errors.Is(err, transcode.ErrMalformed) || len(out) > 0 {
			t.Errorf("header %x: %v", head, err)
		}
	}
}

func compileROS(m *schema.Message, wire serial.Encoding, o Options) (*Program, error) {
	t, err := message.ROS(m, wire)
	if err != nil {
		return nil, err
	}
	return Compile(t, o)
}

func compileProto(md protoreflect.MessageDescriptor, o Options) (*Program, error) {
	t, err := message.Proto(md)
	if err != nil {
		return nil, err
	}
	return Compile(t, o)
}

// TestTyped: the type stands behind the name, and publish times still have their place.
func TestTyped(t *testing.T) {
	for style, want := range map[Style]string{
		JSON: `{"topic":"/a","type":"p/\"T","time":"5","publish_time":"6","raw":"Bw=="}` + "\n",
		YAML: "---\ntopic: \"/a\"\ntype: \"p/\\\"T\"\ntime: \"5\"\npublish_time: \"6\"\nraw: \"Bw==\"\n",
		CSV:  "/a,5,Bw==\n",
	} {
		l := RawLine("/a", style).Typed(`p/"T`, style)
		line, err := l.AppendAt(nil, []byte{7}, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := l.AppendPublished(nil, line, 5, 6); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
