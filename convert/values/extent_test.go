package values

import (
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/content"
	"github.com/bagconv/bagconv/convert/fit"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/render"
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// TestExtensibility: a struct that XCDR2 writes in another way than the one around it is refused by
// all that read messages, with the name of its type, and read where it is written in the same way.
func TestExtensibility(t *testing.T) {
	const plain, delimited, old = "\x00\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00", "\x00\x09\x00\x00\x0c\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00", "\x00\x01\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
	for _, c := range []struct{ inner, outer, data, want string }{
		{"", "", plain, ""}, {"", "", delimited, ""}, {"", "", old, ""},
		{"@final", "@final", plain, ""}, {"@appendable", "@appendable", delimited, ""}, {"@final", "", plain, ""}, {"@appendable", "", delimited, ""},
		{"@final", "@appendable", old, ""}, {"@appendable", "@final", old, ""}, {"@extensibility(APPENDABLE)", "@final", old, ""},
		{"@appendable", "@final", plain, "p/msg/I is @appendable"}, {"@extensibility(APPENDABLE)", "", plain, "p/msg/I is @appendable"},
		{"@final", "@appendable", delimited, "p/msg/I is @final"}, {"@extensibility(value=FINAL)", "", delimited, "p/msg/I is @final"},
	} {
		m, err := rosidl.Parse("p::msg::T", []byte("module p { module msg { "+c.inner+" struct I { long a; }; "+c.outer+" struct T { I i; long b; }; }; };"))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := transcode.Compile(m, m, transcode.Options{From: transcode.CDR, To: transcode.CDR})
		if err != nil {
			t.Fatal(err)
		}
		text, err := render.Compile(m, transcode.CDR, render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		canon, err := content.FromROS(m, content.CDR, content.Canonical(m, false), true)
		if err != nil {
			t.Fatal(err)
		}
		codec, err := Compile[map[string]any](&mapping.Definition{ROS: m}, "cdr")
		if err != nil {
			t.Fatal(err)
		}
		data := []byte(c.data)
		out, err := plan.Append(nil, data)
		line, errRender := text.Append(nil, data)
		var v map[string]any
		_, errFit := fit.Test(m, data, true)
		w := content.NewWriter(true)
		for name, err := range map[string]error{"transcode": err, "render": errRender, "values": codec.Decode(data, &v), "fit": errFit, "content": canon.Read(w, data)} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %s in %s, % x: %v, want %q", name, c.inner, c.outer, data, err, c.want)
			}
		}
		if c.want == "" && (string(out) != old || string(line) != `{"i":{"a":1},"b":2}` || string(w.Bytes()) != old[4:]) {
			t.Errorf("%s in %s: % x, %s, % x", c.inner, c.outer, out, line, w.Bytes())
		}
	}
}
