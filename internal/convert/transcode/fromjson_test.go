package transcode

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// parseJSON makes the program of a schema with these properties.
func parseJSON(t testing.TB, properties string) *FromJSON {
	t.Helper()
	o, err := jsonschema.NewNamer().Parse("p/T", []byte(`{"type": "object", "properties": {`+properties+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	return CompileFromJSON(o)
}

// plain writes values in ROS 1 serialization.
func plain(values ...any) []byte {
	w := ros.NewWriter(nil, false)
	for _, v := range values {
		switch v := v.(type) {
		case int:
			w.U64(uint64(int64(v)))
		case uint32:
			w.U32(v)
		case float64:
			w.F64(v)
		case bool:
			w.Bool(v)
		case string:
			w.String([]byte(v))
		case []byte:
			w.Bytes(v)
		}
	}
	return w.Buf
}

const (
	jsonInteger = `"v": {"type": "integer"}`
	jsonNumber  = `"v": {"type": "number"}`
	jsonString  = `"v": {"type": "string"}`
	jsonTime    = `"v": {"properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}`
	jsonAny     = `"v": {}`
)

// TestFromJSON: values of each form, those that do not fit, and those that the schema
// does not have.
func TestFromJSON(t *testing.T) {
	const fits, odd, unknown = 0, 1, 2
	for _, c := range []struct {
		properties, message string
		want                []byte
		is                  int
	}{
		{jsonInteger, `{"v": -9223372036854775808}`, plain(math.MinInt64), fits},
		{jsonInteger, `{"v": 1.0e3}`, plain(1000), fits},
		{jsonInteger, `{"v": null}`, plain(0), fits},
		{jsonInteger, `{}`, plain(0), fits},
		{jsonInteger, "\n{ \"v\"\t:\r1 , \"v\" : 2 }\n", plain(2), fits},
		{jsonInteger, `{"v": 9223372036854775808}`, plain(0), odd},
		{jsonInteger, `{"v": 1.5}`, plain(0), odd},
		{jsonInteger, `{"v": "1"}`, plain(0), odd},
		{jsonInteger, `{"v": NaN}`, plain(0), odd},
		{jsonInteger, `{"v": 1, "w": [{}]}`, plain(1), unknown},
		{jsonNumber, `{"v": true}`, plain(1.0), fits},
		{jsonNumber, `{"v": false}`, plain(0.0), fits},
		{jsonInteger, `{"v": true}`, plain(1), fits},
		{jsonNumber, `{"v": -0.5e-1}`, plain(-0.05), fits},
		{jsonNumber, `{"v": "-Infinity"}`, plain(math.Inf(-1)), fits},
		{jsonNumber, `{"v": Infinity}`, plain(math.Inf(1)), fits},
		{jsonNumber, `{"v": 1e999}`, plain(math.Inf(1)), odd},
		{jsonNumber, `{"v": "1"}`, plain(0.0), odd},
		{jsonNumber, `{"v": {}}`, plain(0.0), odd},
		{`"v": {"type": "boolean"}`, `{"v": true}`, plain(true), fits},
		{`"v": {"type": "boolean"}`, `{"v": 1}`, plain(false), odd},
		{jsonString, `{"v": "a\n\"\\\u00e4\ud83d\ude00\ud83d"}`, plain("a\n\"\\ä😀\uFFFD"), fits},
		{jsonString, "{\"v\": \"\xff\"}", plain("\uFFFD"), fits},
		{jsonString, `{"v": [1, 2]}`, plain("[1, 2]"), fits},
		{`"v": {"type": "string", "contentEncoding": "base64"}`, `{"v": "AQID"}`, plain([]byte{1, 2, 3}), fits},
		{`"v": {"type": "string", "contentEncoding": "base64"}`, `{"v": "AQ=="}`, plain([]byte{1}), fits},
		{`"v": {"type": "string", "contentEncoding": "base64"}`, `{"v": "A"}`, plain([]byte{}), odd},
		{jsonTime, `{"v": {"nsec": 999999999, "sec": 4294967295}}`, plain(uint32(math.MaxUint32), uint32(999999999)), fits},
		{jsonTime, `{"v": {"sec": 1, "nsec": 1000000000}}`, plain(uint32(0), uint32(0)), odd},
		{jsonTime, `{"v": {"sec": -1}}`, plain(uint32(0), uint32(0)), odd},
		{jsonTime, `{"v": {"sec": 1, "zone": 2}}`, plain(uint32(1), uint32(0)), unknown},
		{jsonAny, `{"v": {"a" : [ 1 ]} }`, plain(`{"a" : [ 1 ]}`), fits},
		{jsonAny, `{"v": null}`, plain("null"), fits},
		{`"v": {"items": {"type": "integer"}}`, `{"v": [1, null, 3]}`, plain(uint32(3), 1, 0, 3), fits},
		{`"v": {"items": {"type": "integer"}}`, `{"v": 1}`, plain(uint32(0)), odd},
		{`"v": {"properties": {"x": {"type": "integer"}, "y": {"type": "string"}}}, "w": {"type": "integer"}`,
			`{"w": 9, "v": {"y": "a", "x": 1}}`, plain(1, "a", 9), fits},
		{`"v": {"properties": {"x": {"type": "integer"}, "y": {"type": "string"}}}`, `{"v": 5}`, plain(0, ""), odd},
		{`"v": {"items": {"properties": {"x": {"type": "integer"}}}}`, `{"v": [{"x": 1}, {}, {"x": 3}]}`,
			plain(uint32(3), 1, 0, 3), fits},
	} {
		p := parseJSON(t, c.properties)
		got, err := p.Append([]byte("x"), []byte(c.message))
		if err != nil || !bytes.Equal(got, append([]byte("x"), c.want...)) {
			t.Errorf("%s: % x, want % x: %v", c.message, got[1:], c.want, err)
		}
		if p.Odd() != b(c.is == odd) || p.Unknown() != b(c.is == unknown) || len(p.Losses()) != int(b(c.is == odd)) {
			t.Errorf("%s: %d odd, %d unknown, %v", c.message, p.Odd(), p.Unknown(), p.Losses())
		}
		if p.Reset(); p.Odd()+p.Unknown() != 0 {
			t.Error("counts are left")
		}
		for i := range len(strings.TrimSpace(c.message)) { // cut, and with each byte changed
			cut := strings.TrimSpace(c.message)[:i]
			if out, err := p.Append(nil, []byte(cut)); !errors.Is(err, ErrMalformed) || len(out) > 0 {
				t.Errorf("%q: % x, %v", cut, out, err)
			}
			flipped := []byte(c.message)
			flipped[i] ^= 0x5f
			_, _ = p.Append(nil, flipped)
		}
	}
}

func b(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// TestJSONRefused: text that is not a message.
func TestJSONRefused(t *testing.T) {
	p := parseJSON(t, jsonAny)
	for _, text := range []string{
		"", " ", "[]", "null", `{"v": 1} x`, `{"v": 1}}`, `{"v" 1}`, `{"v": }`, `{v: 1}`, `{"v": 01}`, `{"v": -}`,
		`{"v": 1.}`, `{"v": .5}`, `{"v": 1e}`,
		`{"v": +1}`, `{"v": tru}`, `{"v": 1,}`, `{"v": [1,]}`, `{"v": "\x"}`, `{"v": "\u12g4"}`, "{\"v\": \"\n\"}", `{"v": "`,
		`{"v": nan}`,
		`{"v": ` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, strings.Repeat(`{"v":`, 1_000_000),
	} {
		if _, err := p.Append(nil, []byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	// An object that is not there has all its fields: a list of them is bounded.
	wide := parseJSON(t, `"v": {"items": {"properties": {`+strings.TrimSuffix(manyProperties(500), ",")+`}}}`)
	if _, err := wide.Append(nil, []byte(`{"v": [`+strings.TrimSuffix(strings.Repeat("{},", 100_000), ",")+
		`]}`)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a list of empty objects: %v", err)
	}
}

func manyProperties(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(`"` + strings.Repeat("y", i+1) + `": {"type": "integer"},`)
	}
	return out.String()
}

// BenchmarkFromJSON: a picture in base64, and a small message.
func BenchmarkFromJSON(b *testing.B) {
	for name, c := range map[string][2]string{
		"picture": {`"data": {"type": "string", "contentEncoding": "base64"}, "n": {"type": "integer"}`,
			`{"n": 1, "data": "` + strings.Repeat("QUJD", 1<<18) + `"}`},
		"small": {`"x": {"type": "number"}, "y": {"type": "number"}, "s": {"type": "string"}`,
			`{"x": 1.25, "y": -7.5, "s": "a word"}`},
	} {
		b.Run(name, func(b *testing.B) {
			p, src := parseJSON(b, c[0]), []byte(c[1])
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				var err error
				if out, err = p.Append(out[:0], src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
