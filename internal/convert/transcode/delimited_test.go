package transcode

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/schema"
)

// TestDelimited: fields that a publisher has added to a delimited struct are skipped and
// reported, wherever the struct stands.
func TestDelimited(t *testing.T) {
	inner := func(pkg string) *schema.Message {
		return &schema.Message{Name: pkg + "I", Fields: []schema.Field{field("a", schema.Uint32)}}
	}
	outer := func(pkg string, swap bool, array schema.Array) *schema.Message {
		in := strct("in", inner(pkg))
		if array != schema.Single {
			in = many(in, array, 2)
		}
		fields := []schema.Field{in, field("z", schema.Uint8)}
		if swap {
			fields[0], fields[1] = fields[1], fields[0]
		}
		return &schema.Message{Name: pkg + "T", Fields: fields}
	}
	for name, c := range map[string]struct {
		array     schema.Array
		swap      bool // the destination has the fields in another order
		cdr, ros1 string
		bytes     int64 // reported
	}{
		"as defined":       {schema.Single, false, "09000000 04000000 01000000 05", "01000000 05", 0},
		"a field more":     {schema.Single, false, "0d000000 08000000 01000000 07000000 05", "01000000 05", 4},
		"padding":          {schema.Single, false, "0d000000 08000000 01000000 00000000 05", "01000000 05", 0},
		"in another order": {schema.Single, true, "0d000000 08000000 01000000 07000000 05", "05 01000000", 4},
		"after the last":   {schema.Single, false, "0b000000 04000000 01000000 05 0806", "01000000 05", 2},
		"in a list": {schema.Unbounded, false,
			"1d000000 18000000 02000000 08000000 01000000 07000000 04000000 02000000 05", "02000000 01000000 02000000 05", 4},
		"in an array": {schema.Fixed, false, "19000000 14000000 08000000 01000000 07000000 04000000 02000000 05",
			"01000000 02000000 05", 4},
		"fewer bytes":          {schema.Single, false, "09000000 03000000 01000000 05", "", 0},
		"more than there are":  {schema.Single, false, "09000000 0f000000 01000000 05", "", 0},
		"a size beyond 31 bit": {schema.Single, false, "09000000 ffffffff 01000000 05", "", 0},
	} {
		p, err := Compile(outer("p/msg/", false, c.array), outer("p/", c.swap, c.array),
			Options{From: serial.CDR, To: serial.ROS1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in, _ := hex.DecodeString("00090000" + strings.ReplaceAll(c.cdr, " ", ""))
		out, err := p.Append(nil, in)
		if c.ros1 == "" {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %x, %v", name, out, err)
			}
			continue
		}
		if err != nil || hex.EncodeToString(out) != strings.ReplaceAll(c.ros1, " ", "") {
			t.Errorf("%s: %x, %v; want %s", name, out, err, c.ros1)
		}
		var lost int64
		for _, l := range p.Losses() {
			lost += l.Bytes
		}
		if lost != c.bytes {
			t.Errorf("%s: %d bytes are reported, want %d", name, lost, c.bytes)
		}
	}
}
