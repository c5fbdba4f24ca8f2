package rosmsg

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/schema"
)

var line80 = strings.Repeat("=", 80)

func one(t *testing.T, d Dialect, text string) *schema.Message {
	t.Helper()
	m, err := Parse("pkg/T", []byte(text), d, nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// TestFields: lines as real definitions have them.
func TestFields(t *testing.T) {
	type want struct {
		name  string
		kind  schema.Kind
		array schema.Array
		n     int
		bound int
		def   string
	}
	for text, w := range map[string]want{
		"int32 x":                          {name: "x", kind: schema.Int32},
		"  int32   x  # comment":           {name: "x", kind: schema.Int32},
		"int32\tx\r":                       {name: "x", kind: schema.Int32},
		"uint8[] data":                     {name: "data", kind: schema.Uint8, array: schema.Unbounded},
		"float64[36] K":                    {name: "K", kind: schema.Float64, array: schema.Fixed, n: 36},
		"int8[0] none":                     {name: "none", kind: schema.Int8, array: schema.Fixed},
		"byte b":                           {name: "b", kind: schema.Byte},
		"char c":                           {name: "c", kind: schema.Char},
		"2|string<=10 s":                   {name: "s", kind: schema.String, bound: 10},
		"2|string<=10[<=5] s":              {name: "s", kind: schema.String, bound: 10, array: schema.Bounded, n: 5},
		"2|wstring w":                      {name: "w", kind: schema.WString},
		"2|int32 x 7":                      {name: "x", kind: schema.Int32, def: "7"},
		`2|string s "a = b"`:               {name: "s", kind: schema.String, def: `"a = b"`},
		"2|int32[] v [1, 2, 3]":            {name: "v", kind: schema.Int32, array: schema.Unbounded, def: "[1, 2, 3]"},
		"time stamp":                       {name: "stamp", kind: schema.Time},
		"duration d":                       {name: "d", kind: schema.Duration},
		"2|builtin_interfaces/Time stamp":  {name: "stamp", kind: schema.Struct},
		"2|builtin_interfaces/msg/Time st": {name: "st", kind: schema.Struct},
		"2|time stamp":                     {name: "stamp", kind: schema.Struct},
	} {
		d := ROS1
		if rest, ok := strings.CutPrefix(text, "2|"); ok {
			d, text = ROS2, rest
		}
		f := one(t, d, text).Fields[0]
		got := want{f.Name, f.Type.Kind, f.Type.Array, f.Type.Len, f.Type.StringBound, f.Default}
		if got != w {
			t.Errorf("%q is %+v, want %+v", text, got, w)
		}
	}
}

// TestConstants: ROS 1 keeps the raw text, for the md5sum; ROS 2 takes off quotes.
func TestConstants(t *testing.T) {
	for text, want := range map[string]string{
		"int32 X=0000001":              "0000001",
		"float32 X = 1e-3 # small":     "1e-3",
		"bool X=True":                  "True",
		"string X=a # no comment ":     "a # no comment",
		"string X= \"quoted\" = yes":   "\"quoted\" = yes",
		"string X=":                    "",
		"2|string X=\"a b\" # comment": "a b",
		"2|string X='a \\' b'":         "a ' b",
		"2|string X=\"a # b\"":         "a # b",
		"2|uint8 X=0x1F":               "0x1F",
		"2|string X=bare # comment":    "bare",
		`2|string X="say \"hi\""`:      `say "hi"`,
		`2|string X='say "hi"' # '`:    `say "hi"`,
		`2|string X="C:\dir\"`:         `C:\dir\`,
		`2|string X="a\\b"`:            `a\\b`,
		`2|string X="open`:             `"open`,
		`2|string X=""`:                "",
		`2|string<=9 X="wide"`:         "wide",
		"2|bool X=true":                "true",
		"2|int32 X=-0b101":             "-0b101",
		"string X=http://a/#b":         "http://a/#b",
		"string  X  =  a  b  ":         "a  b",
		"\tstring X=indented":          "indented",
		"char X=97":                    "97",
		"byte X = -1":                  "-1",
	} {
		d := ROS1
		if rest, ok := strings.CutPrefix(text, "2|"); ok {
			d, text = ROS2, rest
		}
		m := one(t, d, text)
		if c := m.Constants[0]; c.Name != "X" || c.Text != want {
			t.Errorf("%q is %+v, want %q", text, c, want)
		}
		again, err := Parse("pkg/T", Format(m, d), d, nil)
		if err != nil || !schema.Equal(m, again) {
			t.Errorf("%q is not the same after Format: %v %+v", text, err, again)
		}
		// The other dialect must carry the same text back.
		other := ROS2 - d
		there, err := Parse("pkg/T", Format(m, other), other, nil)
		if err != nil || there.Constants[0].Text != want {
			t.Errorf("%q in the other dialect: %v %+v", text, err, there)
		}
	}
}

// TestDirty: definitions that real recordings have.
func TestDirty(t *testing.T) {
	for name, c := range map[string]struct {
		d      Dialect
		text   string
		lookup map[string]string
		deps   string
	}{
		"bare Header": {ROS1, "Header h\n" + line80 + "\nMSG: std_msgs/Header\nuint32 seq\n", nil,
			"std_msgs/Header"},
		"roslib Header": {ROS1, "Header h\n" + line80 + "\nMSG: roslib/Header\nuint32 seq\n", nil,
			"roslib/Header"},
		"own Header in a list":   {ROS1, "Header[] h\n" + line80 + "\nMSG: pkg/Header\nint8 a\n", nil, "pkg/Header"},
		"relative before others": {ROS1, "A a\n" + line80 + "\nMSG: pkg/A\nint8 x\n", nil, "pkg/A"},
		"CRLF":                   {ROS1, "A a\r\n" + line80 + "\r\nMSG: pkg/A\r\nint8 x\r\n", nil, "pkg/A"},
		"equal blocks twice": {ROS1, "A a\n" + line80 + "\nMSG: pkg/A\nint8 x\n" + line80 +
			"\nMSG: pkg/A\nint8 x\n", nil, "pkg/A"},
		"missing, looked up": {ROS1, "other/A a", map[string]string{"other/A": "B b", "other/B": "int8 x"},
			"other/A other/B"},
		"other separators": {ROS1, "A a\n====================\nMSG: pkg/A\nint8 x\n", nil, "pkg/A"},
		"NUL at the end":   {ROS1, "A a\n" + line80 + "\nMSG: pkg/A\nint8 x\n\x00", nil, "pkg/A"},
		"blocks that differ in comments": {ROS1, "A a\n" + line80 + "\nMSG: pkg/A\nint8 x\n" + line80 +
			"\nMSG: pkg/A\n# again\n\nint8  x # y", nil, "pkg/A"},
		"MSG: in comment and constant": {ROS1, "# MSG: pkg/B\nstring X=MSG: pkg/C\nA a\n" + line80 +
			"\nMSG: pkg/A\nint8 x\n", nil, "pkg/A"},
		"bare Header block": {ROS1, "Header h\n" + line80 + "\nMSG: Header\nuint32 seq\n", nil,
			"std_msgs/Header"},
		"ROS 1, not its own Header": {ROS1, "Header h\n" + line80 + "\nMSG: pkg/Header\nint8 a\n" + line80 +
			"\nMSG: std_msgs/Header\nuint32 seq\n", nil, "std_msgs/Header"},
		"ROS 2, its own Header": {ROS2, "Header h\n" + line80 + "\nMSG: pkg/Header\nint8 a\n",
			map[string]string{"std_msgs/msg/Header": "string frame_id"}, "pkg/msg/Header"},
		"ROS 2, bare Header": {ROS2, "Header h", map[string]string{"std_msgs/msg/Header": "string frame_id"},
			"std_msgs/msg/Header"},
		"ROS 2 names in ROS 1 text": {ROS1, "q/msg/A a\n" + line80 + "\nMSG: q/msg/A\nint8 x\n", nil, "q/A"},
		"the root as a block too": {ROS1, "A a\n" + line80 + "\nMSG: pkg/T\nA a\n" + line80 + "\nMSG: pkg/A\nint8 x\n",
			nil, "pkg/A"},
		"the root as a block only": {ROS1, line80 + "\nMSG: pkg/T\nA a\n" + line80 + "\nMSG: pkg/A\nint8 x\n", nil,
			"pkg/A"},
		"all of it looked up":    {ROS1, "", map[string]string{"pkg/T": "A a", "pkg/A": "int8 x"}, "pkg/A"},
		"full names":             {ROS2, "q/msg/A a\n" + line80 + "\nMSG: q/msg/A\nint8 x\n", nil, "q/msg/A"},
		"full name, short field": {ROS2, "q/A a\n" + line80 + "\nMSG: q/msg/A\nint8 x\n", nil, "q/msg/A"},
		"short name, full field": {ROS2, "q/msg/A a\n" + line80 + "\nMSG: q/A\nint8 x\n", nil, "q/msg/A"},
		"separator in a constant": {ROS1, "string X=" + line80 + "\nA a\n" + line80 + "\nMSG: pkg/A\nint8 x\n", nil,
			"pkg/A"},
		"banner that separates nothing": {ROS1, line80 + "\n# title\n" + line80 + "\nA a\n" + line80 +
			"\nMSG: pkg/A\nint8 x\n", nil, "pkg/A"},
		"empty dependency": {ROS1, "A a\n" + line80 + "\nMSG: pkg/A\n" + line80 + "\nMSG: pkg/B\nint8 x\n", nil, "pkg/A"},
		"lower case type":  {ROS1, "tf/tfThing a\n" + line80 + "\nMSG: tf/tfThing\nint8 x\n", nil, "tf/tfThing"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Parse("pkg/T", []byte(c.text), c.d, func(n string) (string, bool) { s, ok := c.lookup[n]; return s, ok })
			if err != nil {
				t.Fatal(err)
			}
			var deps []string
			for _, d := range schema.Dependencies(m) {
				deps = append(deps, d.Name)
			}
			if got := strings.Join(deps, " "); got != c.deps {
				t.Errorf("depends on %q, want %q", got, c.deps)
			}
			again, err := Parse("pkg/T", Format(m, c.d), c.d, nil)
			if err != nil || !schema.Equal(m, again) || schema.MD5(m) != schema.MD5(again) {
				t.Errorf("not the same after Format: %v", err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	deep := "T1 t\n"
	for i := 1; i < 80; i++ {
		deep += fmt.Sprintf("%s\nMSG: pkg/T%d\nT%d t\n", line80, i, i+1)
	}
	deep += line80 + "\nMSG: pkg/T80\nint8 x\n"
	for text, want := range map[string]string{
		"int32":                                  "line 1: a type without a name",
		"\n\nUnknown x":                          "it is missing; pkg/T uses it",
		"int32 x\nint32 x":                       "twice",
		"T t":                                    "contains itself",
		"A a\n" + line80 + "\nMSG: pkg/A\nT t\n": "contains itself",
		"int32[x] a":                             "not a number",
		"int32[99999999999] a":                   "not a number",
		"int32[ a":                               "bracket",
		"int32 a,b":                              "cannot be the name",
		"int32 1a":                               "cannot be the name",
		"string <=10 a":                          "cannot be a name",
		"string<=0 a":                            "not a number",
		"int8[<=0] a":                            "not a number",
		"int8[-1] a":                             "not a number",
		"int8[1][2] a":                           "not a number",
		"@optional int8 a":                       "@optional",
		"wstring a":                              "missing",
		"a//b x":                                 "missing",
		"../b x":                                 "not a name of a type",
		"A a\n" + line80 + "\nMSG: pkg/A\nint8 x\n" + line80 + "\nMSG: pkg/A\nint16 x": "defined twice",
		"int8 x\nA a\n" + line80 + "\nMSG: pkg/A\n\nint8 ?\n":                          "definition of pkg/A, line 2",
		"int32 a b":   "more than a type and a name",
		"int32[] X=1": "constant cannot be",
		"time X=1":    "constant cannot be",
		"int32 =1":    "without a name",
		"int32<=3 x":  "only strings",
		deep:          "nested too deeply",
		strings.Repeat("int8 X=1\n", maxFields+1): "100,000",
		strings.Repeat(" ", maxText+1):            "16 MiB",
	} {
		_, err := Parse("pkg/T", []byte(text), ROS1, nil)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// TestBomb: forty types, each with ten of the next, are 10^40 fields when they
// are written out; as a graph they are nothing.
func TestBomb(t *testing.T) {
	text := ""
	for i := range 40 {
		if i > 0 {
			text += fmt.Sprintf("%s\nMSG: pkg/B%d\n", line80, i)
		}
		for k := range 10 {
			text += fmt.Sprintf("B%d f%d\n", i+1, k)
		}
	}
	text += line80 + "\nMSG: pkg/B40\nint8 x\n"
	began := time.Now()
	m, err := Parse("pkg/B0", []byte(text), ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = schema.MD5(m)
	if _, err := schema.RIHS01(m); err != nil || !schema.Equal(m, m) {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestNames: a name stands in the text once and in each use of it.
func TestNames(t *testing.T) {
	long := "p/" + strings.Repeat("x", 1<<20)
	text := strings.Repeat("A a\n", 50_000) + line80 + "\nMSG: " + long + "\nint8 x\n"
	began := time.Now()
	for name, text := range map[string]string{long + "/T": strings.Repeat("A a\n", 50_000), "p/T": text + long + " a\n"} {
		if _, err := Parse(name, []byte(text), ROS1, nil); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.100v", err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestFormat: the text itself, in both dialects.
func TestFormat(t *testing.T) {
	m, err := Parse("pkg/msg/T",
		[]byte("# comment\nfloat32[<=3] v\nq/msg/A[] a # why\nstring<=8 s \"x y\"\nstring S='it'\n"+line80+
			"\nMSG: q/msg/A\nint8 x\nB b\n"+
			line80+"\nMSG: q/B\n"), ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := "string S=\"it\"\nfloat32[<=3] v\nq/A[] a\nstring<=8 s \"x y\"\n"
	if got := string(FormatSingle(m, ROS2)); got != root {
		t.Errorf("%s", got)
	}
	want := root + "\n" + line80 + "\nMSG: q/A\nint8 x\nq/B b\n\n" + line80 + "\nMSG: q/B\n"
	if got := string(Format(m, ROS2)); got != want {
		t.Errorf("%s", got)
	}
	hostile := &schema.Message{Name: "pkg/T", Constants: []schema.Constant{{Kind: schema.String, Name: "X",
		Text: "a\nint8 b"}},
		Fields: []schema.Field{{Name: "c", Type: schema.Type{Kind: schema.IDLChar}},
			{Name: "e", Type: schema.Type{Kind: schema.Enum}}}}
	if got := string(Format(hostile, ROS1)); got != "string X=a int8 b\nchar c\nint32 e\n" {
		t.Errorf("%s", got)
	}
}

func TestServices(t *testing.T) {
	srv := "int64 a\nint64 b\n---\nint64 sum\n"
	for _, text := range []string{srv, line80 + "\nSRV: example_interfaces/srv/AddTwoInts\n" + srv} {
		m, err := Parse("example_interfaces/srv/AddTwoInts_Event", []byte(text), ROS2, nil)
		if err != nil {
			t.Fatal(err)
		}
		hash, err := schema.RIHS01(m)
		if err != nil || hash != "RIHS01_32c1d140259c71e5c355115942bcb31df98b4330e4d906b1b75ccb1c9b3ce6c8" {
			t.Errorf("%s %v", hash, err)
		}
		again, err := Parse(m.Name, Format(m, ROS2), ROS2, nil)
		if err != nil || !schema.Equal(m, again) {
			t.Errorf("not the same after Format: %v", err)
		}
	}
	for text, name := range map[string]string{"int8 a\n---\nint8 b\n---\nint8 c\n": "p/srv/X_Event",
		"int8 a\n---\nint8 b\n": "p/action/X_FeedbackMessage"} {
		if _, err := Parse(name, []byte(text), ROS2, nil); err == nil || !strings.Contains(err.Error(), "parts") {
			t.Errorf("%s of %q: %v", name, text, err)
		}
	}
	action := "int32 order\n---\nint32[] sequence\n---\nint32[] partial\n"
	for name, fields := range map[string]string{
		"Fibonacci_FeedbackMessage": "goal_id feedback", "Fibonacci_SendGoal_Event": "info request response",
		"Fibonacci_GetResult_Response": "status result",
		"Fibonacci_SendGoal_Request":   "goal_id goal", "Fibonacci_SendGoal_Response": "accepted stamp",
		"Fibonacci_Goal": "order",
	} {
		m, err := Parse("p/action/"+name, []byte(action), ROS2, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range m.Fields {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != fields {
			t.Errorf("%s has %v, want %s", name, got, fields)
		}
	}
}

// TestDerivedText: the definition of a message that ROS 2 derives names its parts with two words, as
// other readers know them, and is read as what it was.
func TestDerivedText(t *testing.T) {
	for name, text := range map[string]string{"p/srv/S_Event": "int8 a\n---\nq/T b\n",
		"p/action/A_SendGoal_Event": "q/T a\n---\n---\nstring b\n", "p/action/A_FeedbackMessage": "---\n---\nq/T a\n"} {
		text += strings.Repeat("=", 80) + "\nMSG: q/T\nuint8[3] x\n"
		m, err := Parse(name, []byte(text), ROS2, nil)
		if err != nil {
			t.Fatal(err)
		}
		again := string(Format(m, ROS2))
		if strings.Contains(again, "/srv/") || strings.Contains(again, "/action/") {
			t.Errorf("%s: three words in\n%s", name, again)
		}
		back, err := Parse(name, []byte(again), ROS2, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := schema.RIHS01(m)
		if got, _ := schema.RIHS01(back); got != want {
			t.Errorf("%s has the type hash %s, and read again %s", name, want, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Header h\nint32[3] x\nstring S=a # b\n"+line80+
		"\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n", true)
	f.Add("string<=3[<=2] s \"x\"\nbuiltin_interfaces/Time t\nint8 X=1\n", false)
	f.Add("int64 a\n---\nint64 b\n", false)
	f.Add("T_Event e\n---\nint64 b\n---\nstring S=\"x\\\"\n", false)
	f.Fuzz(func(t *testing.T, text string, ros1 bool) {
		d := ROS2
		if ros1 {
			d = ROS1
		}
		for _, name := range []string{"pkg/T", "pkg/srv/T_Event", "pkg/action/T_SendGoal_Event"} {
			m, err := Parse(name, []byte(text), d, nil)
			if err != nil || len(m.Fields)+len(m.Constants) == 0 && name != "pkg/T" {
				continue // an event without text is made from its service, which is not there
			}
			again, err := Parse(name, Format(m, d), d, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, Format(m, d))
			}
			if !schema.Equal(m, again) || schema.MD5(m) != schema.MD5(again) {
				t.Fatalf("another message\n%s", Format(m, d))
			}
		}
	})
}
