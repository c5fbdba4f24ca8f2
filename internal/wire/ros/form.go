package ros

import "fmt"

// A Form is one of the ways in which messages stand on the wire.
type Form uint8

// The forms. The encapsulation header distinguishes the forms of CDR.
const (
	ROS1         Form = iota
	PlainLE           // XCDR1, little endian: what ROS 2 writes
	PlainBE           // XCDR1, big endian
	Plain2LE          // XCDR2
	Plain2BE          // XCDR2
	Delimited2LE      // XCDR2, delimited
	Delimited2BE      // XCDR2, delimited
	Forms             // how many there are
)

// HeaderSize is the length of CDR's encapsulation header.
const HeaderSize = 4

// FormOf returns the form of a CDR message. XCDR2 has two numberings of ids, 06 to
// 09 and 10 to 15 (hex); both occur. The error is an *Error.
func FormOf(message []byte) (Form, error) {
	if len(message) < HeaderSize {
		return 0, &Error{0, "a CDR message has a header of 4 bytes, this one ends before"}
	}
	if message[0] == 0 {
		switch message[1] {
		case 0x01:
			return PlainLE, nil
		case 0x00:
			return PlainBE, nil
		case 0x07, 0x11:
			return Plain2LE, nil
		case 0x06, 0x10:
			return Plain2BE, nil
		case 0x09, 0x15:
			return Delimited2LE, nil
		case 0x08, 0x14:
			return Delimited2BE, nil
		}
	}
	return 0, &Error{0, fmt.Sprintf("CDR representation %02x %02x is not supported", message[0], message[1])}
}

// A Layout is how a form puts values into bytes.
type Layout struct {
	MaxAlign  int // the largest alignment: 8, 4, or 1 for none
	BigEndian bool
	NUL       bool // strings end with NUL, which their length counts
	Filler    bool // a struct without fields is one zero byte
	Sizes     bool // a u32 size stands before lists and arrays of what is not a number
	Delimited bool // and before each struct
}

// Layout returns the layout of a form.
func (f Form) Layout() Layout { return layouts[f] }

var layouts = [Forms]Layout{
	ROS1:         {MaxAlign: 1},
	PlainLE:      {MaxAlign: 8, NUL: true, Filler: true},
	PlainBE:      {MaxAlign: 8, NUL: true, Filler: true, BigEndian: true},
	Plain2LE:     {MaxAlign: 4, NUL: true, Filler: true, Sizes: true},
	Plain2BE:     {MaxAlign: 4, NUL: true, Filler: true, Sizes: true, BigEndian: true},
	Delimited2LE: {MaxAlign: 4, NUL: true, Filler: true, Sizes: true, Delimited: true},
	Delimited2BE: {MaxAlign: 4, NUL: true, Filler: true, Sizes: true, Delimited: true, BigEndian: true},
}

// Padding returns how many bytes lead from pos to a multiple of n, a power of two.
func Padding(pos, n int) int { return -pos & (n - 1) }

// MaxPadding is how many bytes middlewares add after the last field at most: they
// fill up to a multiple of 8.
const MaxPadding = 7

// IsPadding reports whether the bytes after the last field of a CDR message are
// padding: at most MaxPadding bytes, all of them zero.
func IsPadding(rest []byte) bool {
	if len(rest) > MaxPadding {
		return false
	}
	for _, v := range rest {
		if v != 0 {
			return false
		}
	}
	return true
}
