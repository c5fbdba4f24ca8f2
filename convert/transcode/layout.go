package transcode

import "fmt"

// A layout is how an encoding puts values into bytes.
type layout struct {
	align     int  // the largest alignment: 8, 4, or 1 for none
	big       bool // big endian
	nul       bool // strings end with NUL, which their length counts
	dummy     bool // a struct without fields is one zero byte
	sizes     bool // XCDR2: a size stands before lists of what is not primitive
	delimited bool // and before each struct
}

var ros1Layout = layout{align: 1}
var cdrLayout = layout{align: 8, nul: true, dummy: true}

// A variant is a form of CDR that messages come in.
type variant uint8

const (
	plainLE variant = iota
	plainBE
	plain2LE
	plain2BE
	delimited2LE
	delimited2BE
	variants
)

// cdrHeader is the length of the encapsulation header: 00, id, two bytes of options.
const cdrHeader = 4

// encapsulation gives the variant by id. XCDR2 has two numberings: that of RTPS
// (06 to 09) and that of XTypes 7.4.3.4 (10 to 15); readers meet both.
var encapsulation = map[byte]variant{
	0x00: plainBE, 0x01: plainLE,
	0x06: plain2BE, 0x07: plain2LE, 0x08: delimited2BE, 0x09: delimited2LE,
	0x10: plain2BE, 0x11: plain2LE, 0x14: delimited2BE, 0x15: delimited2LE,
}

func variantOf(src []byte) (variant, error) {
	if len(src) < cdrHeader {
		return 0, &Error{0, "a CDR message has a header of 4 bytes, this one ends before"}
	}
	if src[0] == 0 && src[1] == 1 {
		return plainLE, nil
	}
	v, ok := encapsulation[src[1]]
	if src[0] != 0 || !ok {
		return 0, &Error{0, fmt.Sprintf("CDR representation %02x %02x is not one that is read", src[0], src[1])}
	}
	return v, nil
}

// A Form is what the encapsulation header of a CDR message tells of its form.
type Form struct {
	BigEndian bool
	Sizes     bool // XCDR2: a u32 stands before lists of what is not primitive: their size
	Delimited bool // and before each struct
}

// FormOf returns the form of a CDR message, or an error if it is none that is read.
func FormOf(message []byte) (Form, error) {
	v, err := variantOf(message)
	l := layoutOf(CDR, v)
	return Form{l.big, l.sizes, l.delimited}, err
}

func layoutOf(w Wire, v variant) layout {
	if w == ROS1 {
		return ros1Layout
	}
	l := cdrLayout
	l.big = v == plainBE || v == plain2BE || v == delimited2BE
	if v >= plain2LE {
		l.align, l.sizes = 4, true
	}
	l.delimited = v >= delimited2LE
	return l
}

// A phase is what is known of a position when the program is compiled: its
// remainder r modulo m, a power of two up to 8.
type phase struct{ m, r int }

func (p phase) add(n int) phase { return phase{p.m, (p.r + n) & (p.m - 1)} }

// pad returns how many bytes of padding lead to a multiple of a, when that is known.
func (p phase) pad(a int) (n int, known bool) {
	if a > p.m {
		return 0, false
	}
	return -p.r & (a - 1), true
}

// join is what is known of a position that two ways lead to.
func (p phase) join(q phase) phase {
	m := min(p.m, q.m)
	for m > 1 && p.r&(m-1) != q.r&(m-1) {
		m /= 2
	}
	return phase{m, p.r & (m - 1)}
}
