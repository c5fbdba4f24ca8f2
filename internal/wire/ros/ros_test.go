package ros

import (
	"bytes"
	"testing"
)

// put writes one of everything.
func put(cdr bool) []byte {
	w := NewWriter(nil, cdr)
	w.U8(1)
	w.U16(2)
	w.U8(3)
	w.U64(4)
	w.Bool(true)
	w.Time(5e9 + 6)
	w.String([]byte("seven"))
	w.F32(8.5)
	w.U8(0)
	w.F64(9.5)
	w.Bytes([]byte{10, 11})
	return w.Buf
}

func TestLayout(t *testing.T) {
	want := []byte{1, 2, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 6, 0, 0, 0,
		5, 0, 0, 0, 's', 'e', 'v', 'e', 'n', 0, 0, 8, 65, 0, 0, 0, 0, 0, 0, 0, 35, 64, 2, 0, 0, 0, 10, 11}
	if got := put(false); !bytes.Equal(got, want) {
		t.Errorf("ROS 1:\n got %v\nwant %v", got, want)
	}
	want = []byte{0, 1, 0, 0,
		1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0,
		6, 0, 0, 0, 's', 'e', 'v', 'e', 'n', 0, 0, 0, 0, 0, 8, 65, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 35, 64, 2, 0, 0, 0, 10, 11}
	if got := put(true); !bytes.Equal(got, want) {
		t.Errorf("CDR:\n got %v\nwant %v", got, want)
	}
}

func TestThereAndBack(t *testing.T) {
	for _, cdr := range []bool{false, true} {
		body := put(cdr)
		if cdr {
			body = body[HeaderSize:]
		}
		walk := func(body []byte) (ok bool, err error) {
			r := NewReader(body, cdr)
			ok = r.U8() == 1 && r.U16() == 2 && r.U8() == 3 && r.U64() == 4 && r.U8() == 1 && r.Time() == 5e9+6 &&
				string(r.String()) == "seven" && r.F32() == 8.5 && r.U8() == 0 && r.F64() == 9.5 && bytes.Equal(r.Bytes(),
				[]byte{10, 11})
			return ok && r.Len() == 0, r.Err()
		}
		if ok, err := walk(body); !ok || err != nil {
			t.Errorf("cdr %v: %v %v", cdr, ok, err)
		}
		for n := range body {
			if ok, err := walk(body[:n]); ok || err == nil {
				t.Errorf("cdr %v: cut at %d goes unnoticed", cdr, n)
			}
		}
	}
}

func TestTimeRange(t *testing.T) {
	for _, c := range []struct {
		cdr      bool
		in, want int64
	}{
		{false, -1, 0}, {true, -1, 0}, {true, 1 << 62, 2147483647999999999}, {false, 1 << 62, 4294967295999999999},
		{false, 4294967295999999999, 4294967295999999999},
	} {
		w := NewWriter(nil, c.cdr)
		w.Time(c.in)
		body := w.Buf
		if c.cdr {
			body = body[HeaderSize:]
		}
		r := NewReader(body, c.cdr)
		if got := r.Time(); got != c.want {
			t.Errorf("cdr %v: %d becomes %d, not %d", c.cdr, c.in, got, c.want)
		}
	}
}
