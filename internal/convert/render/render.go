// Package render writes serialized messages as text: as JSON, YAML or cells of
// CSV. Like package transcode it compiles a definition once and then runs over
// the bytes of each message: no reflection, no value trees, no allocation but
// for growing the destination.
//
//	typ, err := message.ROS(definition, serial.ROS1)
//	p, err := render.Compile(typ, render.Options{Style: render.JSON})
//	text, err = p.Append(text, message)
//
//	bytes of the message            04 00 00 00 6c 65 66 74 00 00 00 00 00 00 f0 3f
//	its definition                  string name, float64 x       (ROS 1)
//	JSON                            {"name":"left","x":1.0}
//	YAML, two lines                 name: "left"
//	                                x: 1.0
//	cells of CSV                    left,1.0
//
// A program reads ROS 1 serialization, CDR in all forms that package transcode
// reads, or protobuf. With [Options.Paths] it writes single fields instead of
// the whole message, as flat columns named by their paths.
//
// How values are written, so that a program in JavaScript and one in Python read
// the same value:
//
//   - floats have a point, in the fewest digits that identify the float32 or
//     float64; an exponent has a sign: 1.0, -0.0, 0.1, 1.0e+22. Floats that JSON has
//     no number for are the strings "NaN", "Infinity", "-Infinity"; in YAML they
//     are .nan, .inf, -.inf, and in CSV NaN, Infinity, -Infinity
//   - integers of 64 bits are strings in JSON and YAML, smaller ones are numbers
//   - a byte of a text that is not UTF-8 is written as \udcXX, a code that stands
//     alone in no valid text and that Python's surrogateescape turns back into the
//     byte XX. In CSV it is the byte itself; in YAML, whose parsers refuse such
//     codes, the whole text is !!binary "base64"
//   - a member of a union of IDL that is not chosen and an @optional one that is absent are null
//   - a ROS 1 time or duration is the struct that it is in ROS 2: sec, nanosec
//   - lists of bytes and protobuf bytes are {"$bytes":N}, or base64 with
//     Options.Bytes; other lists of more than [LongList] elements are
//     {"$length":N}, or whole with Options.Arrays. A list that a path names is
//     always whole
//   - of protobuf: an enum is its name, or its number if it has no name; a field
//     that is not set has its default; a message or a member of a oneof that is not
//     set is null; a map is a list of key and value
//
// Refused are long double, wchar and, as in package transcode, parameter lists.
//
// Input is not trusted: counts are compared with the bytes that remain, and the
// output is limited to a multiple of the input. Errors wrap
// [transcode.ErrMalformed]. A Program is immutable and may be used by any number
// of goroutines.
package render

import (
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/message"
)

// Style is a kind of text.
type Style uint8

// The styles.
const (
	JSON Style = iota // an object on one line
	YAML              // a block mapping, indented by two more than Options.Indent
	CSV               // cells, comma separated, quoted as RFC 4180 asks for
)

// LongList is how many elements a list may have to be written whole in any case.
const LongList = 128

// Options are how to write.
type Options struct {
	Style  Style
	Bytes  bool // lists of bytes as base64 instead of a note of their length
	Arrays bool // long lists whole instead of a note of their length
	Indent int  // of YAML, in steps of two blanks

	// Paths are the fields to write, in this order; nil is all of the message.
	// "a.b" is field b of field a, "list[2].b" is b of one element (null if the
	// list is shorter), and "list.b" is a list of the b of all elements. An empty
	// path is an empty cell in CSV, and nothing in the other styles. In CSV a struct
	// becomes the cells that it has in the whole message, see [Program.Columns].
	Paths []string
}

// The output of a message may have maxExtra bytes and maxGrowth for each byte of
// the message: a list of messages that take no bytes must not fill the memory.
const (
	maxExtra  = 32 << 20
	maxGrowth = 32
)

// A Program writes the messages of one type.
type Program struct {
	o       Options
	names   []string // of the columns; nil in JSON and YAML without paths
	columns []column // nil: the whole message
	picked  int      // how many columns are not empty
	typ     *message.Type
	looks   []look // of the fields of all types, by their number
	unknown atomic.Int64
	noted   [len(noteNames)]atomic.Int64
}

// Columns returns the names of the cells that a program for CSV writes: the paths that
// it got, with the paths of its fields in place of a struct, or the paths of all fields.
// The slice must not be changed.
func (p *Program) Columns() []string { return p.names }

// Unknown returns the number of messages so far that had fields which their
// descriptor does not have; those fields are not written.
func (p *Program) Unknown() int64 { return p.unknown.Load() }

// Noted returns the number of messages so far in which a list was written as its
// length: the long lists, and the lists of bytes.
func (p *Program) Noted() (long, bytes int64) {
	return p.noted[noteLength].Load(), p.noted[noteBytes].Load()
}

// Reset sets the counts of Unknown and Noted to zero.
func (p *Program) Reset() {
	p.unknown.Store(0)
	for i := range p.noted {
		p.noted[i].Store(0)
	}
}

// SizeHint returns how many bytes a message of n bytes becomes, about.
func (p *Program) SizeHint(n int) int {
	if p.o.Bytes || p.o.Arrays {
		return 512 + 3*n
	}
	return 512 + 3*min(n, 8<<10)
}

// Append writes the message src at the end of dst, without a line end. On error
// dst is returned at its old length. It keeps neither slice.
func (p *Program) Append(dst, src []byte) ([]byte, error) {
	w := out{buf: dst, style: p.o.Style, yaml: p.o.Style == YAML, bytes: p.o.Bytes, arrays: p.o.Arrays, indent: p.o.Indent,
		limit: len(dst) + maxExtra + maxGrowth*len(src)}
	r := run{out: w, Cursor: message.Open(p.typ, src), p: p}
	defer r.Close()
	if err := r.message(); err != nil {
		return dst, err
	}
	if r.Unknown() {
		p.unknown.Add(1)
	}
	for i, noted := range r.noted {
		if noted {
			p.noted[i].Add(1)
		}
	}
	return r.buf, nil
}
