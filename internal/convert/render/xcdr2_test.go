package render

import (
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// TestEnds: a delimited struct ends after its stated size, whatever fields its publisher
// has added; characters beyond 16 bits stand whole in the 4 bytes of a unit.
func TestEnds(t *testing.T) {
	m, err := rosmsg.Parse("a/msg/M", []byte("P p\nP[] ps\nuint8 x\nwstring w\n================\nMSG: a/msg/P\nuint8 y\n"),
		rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	const delimited = "\x00\x09\x00\x00" + "\x2a\x00\x00\x00" + "\x02\x00\x00\x00\x05\x06\x00\x00" +
		"\x14\x00\x00\x00\x02\x00\x00\x00" + "\x01\x00\x00\x00\x07\x00\x00\x00" + "\x04\x00\x00\x00\x08\x00\x00\x00" +
		"\x09\x00\x00\x00" + "\x02\x00\x00\x00A\x00"
	const plain = "\x00\x01\x00\x00" + "\x05\x00\x00\x00" + "\x02\x00\x00\x00\x07\x08\x09\x00" +
		"\x01\x00\x00\x00\x00\xf6\x01\x00"
	for _, c := range []struct {
		o         Options
		msg, want string
	}{
		{Options{}, delimited, `{"p":{"y":5},"ps":[{"y":7},{"y":8}],"x":9,"w":"A"}`},
		{Options{Style: CSV, Paths: []string{"ps[1].y", "x"}}, delimited, `8,9`},
		{Options{}, plain, `{"p":{"y":5},"ps":[{"y":7},{"y":8}],"x":9,"w":"` + "\U0001f600" + `"}`},
	} {
		p, err := compileROS(m, serial.CDR, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Append(nil, []byte(c.msg)); err != nil || string(got) != c.want {
			t.Errorf("%v: %s, want %s", err, got, c.want)
		}
	}
}
