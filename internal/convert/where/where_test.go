package where

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/proto/cyber"
)

const definition = `int8 LOW=-3
int8 HIGH=5
string WORD=up
int32 n
uint64 big
float32 f
float64 nan
bool on
string name
time at
duration d
int16[] list
Item[] items
================================================================================
MSG: test/Item
uint8 LOW=4
uint8 kind
string label
float64[2] pair
`

// sample returns the type of the definition above and a message of it, in ROS 1.
func sample(t testing.TB) (*message.Type, []byte) {
	t.Helper()
	def, err := rosmsg.Parse("test/Sample", []byte(definition), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(def, serial.ROS1)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	text := func(b []byte, s string) []byte { return append(le.AppendUint32(b, uint32(len(s))), s...) }
	b := le.AppendUint32(nil, 7)
	b = le.AppendUint64(b, math.MaxUint64)
	b = le.AppendUint32(b, math.Float32bits(0.1))
	b = le.AppendUint64(b, math.Float64bits(math.NaN()))
	b = text(append(b, 1), "a lidär")
	b = le.AppendUint32(le.AppendUint32(b, 1_700_000_000), 500_000_000)
	b = le.AppendUint32(le.AppendUint32(b, math.MaxUint32), 500_000_000) // -0.5 s
	b = le.AppendUint16(le.AppendUint16(le.AppendUint32(b, 2), 3), 0xffff)
	b = le.AppendUint32(b, 2)
	for i, label := range []string{"one", "two"} {
		b = text(append(b, byte(4+i)), label)
		b = le.AppendUint64(le.AppendUint64(b, math.Float64bits(float64(i))), math.Float64bits(2.5))
	}
	return typ, b
}

// TestHolds: what conditions are of the message above: true, false, or a message that does not decide them.
func TestHolds(t *testing.T) {
	typ, data := sample(t)
	for text, want := range map[string]string{
		"/a.n == 7": "true", "/a.n > 7 or /a.n < 7": "false", "not (/a.n == 7)": "false", "3 < /a.n < 8": "true",
		"/a.n in [1, 7.0]": "true", "/a.n in 1..6": "false", "/a.n not in [1]": "true",
		"/a.n / 2 == 3.5": "true", "/a.n % 4 == 3": "true", "-/a.n % 4 == -3": "true", "/a.n ** 2 == 49": "true",
		"/a.n / 0 > 1": "/ 0: a division by zero", "/a.n % 0 > 1": "a division by zero",
		"/a.n * 9223372036854775807 > 0": "more than 64 bits", "/a.n + 9223372036854775807 > 0": "more than 64 bits",
		"-9223372036854775807 - /a.n < 0": "more than 64 bits",
		"/a.big > 0":                      "integers of conditions end at 2^63-1",
		"/a.f == 0.1":                     "false", "abs(/a.f - 0.1) < 1e-8": "true",
		"/a.nan > 0": "false", "/a.nan <= 0": "false", "/a.nan == /a.nan": "false", "/a.nan != /a.nan": "true",
		"isNaN(/a.nan)": "true", "/a.nan in [1, 2]": "false", "int(/a.nan) == 0": "no integer", "/a.n < /a.nan": "false",
		"/a.on": "true", "/a.on == false": "false", "!/a.on || /a.n == 7": "true",
		`/a.name == "a lidär"`: "true", `/a.name contains 'lid'`: "true", `upper(/a.name) endsWith "R"`: "true",
		`len(/a.name) == 7`: "true", `/a.name matches "^a .*r$"`: "true", `/a.name < "b"`: "true",
		`/a.at == date("2023-11-14T22:13:20.5Z")`: "true", `/a.at - date("2023-11-14T22:13:20Z") == duration("500ms")`: "true",
		"seconds(/a.at) == 1700000000.5": "true", "/a.at.sec == 1700000000": "true",
		`/a.d == duration("-0.5s")`: "true", "seconds(abs(/a.d)) == 0.5": "true",
		"/a.list[1] == -1": "true", "/a.list[2] == 0": "no element", "len(/a.list) == 2 || /a.list[2] == 0": "true",
		"any(/a.list[] == -1)": "true", "all(/a.list[] > 0)": "false", "none(/a.list[] == 4)": "true",
		"one(/a.list[] > -5)": "false", "count(/a.list[] > -5) == 2": "true", "sum(/a.list[]) == 2": "true",
		"min(/a.list[]) == -1": "true", "max(/a.list[]) == 3": "true", "mean(/a.list[]) == 1": "true",
		`any(/a.items[].kind == LOW)`: "has several values", `any(/a.items[].label == "two" && /a.items[].kind == 5)`: "true",
		`any(/a.items[].label == "two" && /a.items[].kind == 4)`: "false", "/a.items[1].pair[1] == 2.5": "true",
		"/a.n < HIGH": "false", "/a.name != WORD": "true", "len(/a.items) == 2": "true", "len(/a.items[0].pair) == 2": "true",
		"/a.n > 3 ? /a.on : false": "true", "/a.n == 7.0000000001": "false", "9007199254740993 == 9007199254740992.0 && /a.on": "no topic",
		"/a.n + 9007199254740986 == 9007199254740992.0": "false",
	} {
		c, err := Parse(text)
		var f *Filter
		if err == nil {
			f, err = c.Compile([]string{"/a"}, typ)
		}
		said := ""
		if err == nil {
			var holds bool
			holds, err = f.Holds(data)
			said = map[bool]string{true: "true", false: "false"}[holds]
		}
		if err != nil {
			said = err.Error()
		}
		if said != want && (err == nil || !strings.Contains(said, want)) {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
}

// TestCut: wherever a message ends, a condition is decided by what is before, or is an error, and never panics.
func TestCut(t *testing.T) {
	typ, data := sample(t)
	c, err := Parse(`/a.n == 7 && any(/a.items[].label == "two") && /a.list[0] == 3`)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Compile(c.Topics(), typ)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if holds, err := f.Holds(data[:n]); holds || err == nil {
			t.Errorf("%d bytes of %d: %t", n, len(data), holds)
		}
	}
	if holds, err := f.Holds(data); !holds || err != nil {
		t.Error(holds, err)
	}
}

// TestErrors: errors name the place and what there is.
func TestErrors(t *testing.T) {
	typ, _ := sample(t)
	for text, want := range map[string]string{
		"": "at its end: ", "1 > 2": `at character 1, "1 > 2": no topic is named`,
		"/a.n > /b.n": `at character 8, "/b.n": /a and /b are compared`, "/a.n > 1 || /b.n > 1": "/a and /b are compared",
		"/a.lst > 1":              `at character 4, "lst > 1": test/Sample has no field "lst"; did you mean list?`,
		"/a.items[0].labl == 'x'": `at character 13, "labl == 'x'": test/Item has no field "labl"; did you mean label?`,
		"/a > 1":                  "/a is a topic; name a field of it: n, big, f", "/a.items[0] == 1": "items is a struct; name a field of it: kind, label, pair",
		"/a.list == 1": "list is a list; write list[0]", "/a.list[] == 1": "[] stands for many values",
		"/a.items.label == 'x'": "write items[0]", "any(any(/a.list[] > 1))": "any() within another such function",
		"any(/a.list[] > 1 && /a.items[].kind > 1)": "list[] and items[] in one function", "any(/a.n > 1)": "any() needs [] behind a list",
		"/a.n": "it is an integer, and no condition", "/a.n == 'x'": "an integer == text; both sides must be of one kind",
		"/a.at > 3": `write date("2024-01-02T15:04:05Z")`, "/a.n == HIHG": "did you mean HIGH?", "/a.n == n": "write text in quotes",
		"/a.name matches '(('": `at character 17, "'(('": missing closing )`, "/a.name matches /a.name": "a regular expression in quotes",
		"foo(/a.n) == 1": "there is no function foo", "/a.n > 1 && filter(/a.list, # > 1)": "unexpected token",
		"let x = 1; /a.n > x": "no topic is named", "map(1..1000000000, #) == [] && /a.n == 1": "unexpected token", "/a.n ?? 1 > 0": "??",
		"/a.n in 3": "no list behind in", `date("soon") > /a.at`: "not a time such as", "/a.n > 99999999999999999999": "invalid integer literal",
		"/a.n ==": "unexpected token", `/a.name == "`: "literal not terminated", "/a.n[1+1] > 0": "an index is a number",
		strings.Repeat("(", 5000) + "/a.n": "unexpected token", strings.Repeat("/a.n+", 3000) + "1": "it may have 8192",
		"topic(1).x > 1": "topic() takes a name in quotes", "/a.list[0:1] == 1": "no part", "/aǀb.n == 1": "unexpected character",
	} {
		began := time.Now()
		c, err := Parse(text)
		if err == nil {
			_, err = c.Compile(c.Topics(), typ)
		}
		var wrong *Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &wrong) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.60s takes %s", text, took)
		}
	}
}

// TestProto: fields of protobuf, set and not set, and names of enums.
func TestProto(t *testing.T) {
	typ, err := message.Proto((&cyber.Header{}).ProtoReflect().Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	data := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2)
	for text, want := range map[string]bool{
		"/a.major_version == 2": true, "/a.minor_version == 0": true, "/a.compress == COMPRESS_NONE": true,
		"/a.compress == COMPRESS_BZ2": false,
	} {
		c, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Compile(c.Topics(), typ)
		if err != nil {
			t.Fatal(err)
		}
		if holds, err := f.Holds(data); holds != want || err != nil {
			t.Errorf("%s: %t, %v", text, holds, err)
		}
	}
}

// FuzzParse: no text panics, and what is read is tested on a message without a panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`/a.n > 2 && any(/a.items[].label == "two")`, "/a.list[3] % 0 in 1..2", "topic('/x*').n ? 1 : 2", "/a.n - -/b.n"} {
		f.Add(s)
	}
	typ, data := sample(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		if filter, err := c.Compile(c.Topics(), typ); err == nil {
			_, _ = filter.Holds(data)
			_, _ = filter.Holds(data[:len(data)/2])
		}
	})
}

// TestValue: values of all kinds as text; equal values have equal text.
func TestValue(t *testing.T) {
	typ, b := sample(t)
	for expr, want := range map[string]string{
		"/a.n": "7", "/a.n > 5 && /a.on": "true", "/a.name": "a lidär", "/a.nan": "NaN", "-/a.nan": "NaN", "0.0 * -/a.n": "0",
		"float(/a.n) * 0": "0", "/a.f + 0.0": "0.10000000149011612", "/a.at": "2023-11-14T22:13:20.5Z", "/a.d": "-500ms",
		"/a.list[1]": "-1", "count(/a.list[] > 0)": "1", "HIGH + /a.n": "12", "1/(/a.n-7)": "a division by zero",
		"/a.big": "2^63-1", "/a.list[9]": "no element",
	} {
		c, err := ParseValue(expr)
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Compile([]string{"/a"}, typ)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Value(b)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && got != want {
			t.Errorf("%s: %s, %v, want %s", expr, got, err, want)
		}
	}
	for _, expr := range []string{"/a.x == /b.x", "1 + 1", "/a.n +", strings.Repeat("-", 9000)} {
		if _, err := ParseValue(expr); err == nil {
			t.Errorf("%.20s is read", expr)
		}
	}
}
