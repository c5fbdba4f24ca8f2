package message

import (
	"fmt"
	"sync"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A Cursor stands before a value of a message. Open makes one.
type Cursor struct {
	// Unterminated and Replaced are about the last text that Text returned: its bytes do not end with the NUL of
	// CDR; it has UTF-16 that is no text.
	Unterminated, Replaced bool

	t       *Type
	inPlace bool
	src     []byte
	r       ros.Reader
	fuel    int // values without bytes that may still come

	x      *pb.Index // of protobuf
	places []place   // the messages around the cursor
	here   *place    // the last of places, or nil

	unknown, mistyped string // see Strays

	extents []schema.Extensibility // of the structs around the cursor, if they say whether they have a size
	rest    []byte                 // of a message that was made plain: what is behind its last field
	extra   int
	longer  bool

	plain, numbers, text []byte
	units                []uint16
	row                  []uint64
}

// maxFuel is how many values without bytes a message may have, beside one for each of its bytes, or 64 in protobuf:
// there they are messages that are not set, and each message around them has some.
const maxFuel = 1 << 16

func (c *Cursor) refuel(bytes int) {
	if c.t.wire != nil {
		bytes *= 64
	}
	c.fuel = maxFuel + bytes
}

// maxPlaces is for how many places the memory of a Cursor is kept.
const maxPlaces = 16

// maxKeep is up to how many bytes the memory of a Cursor is kept.
const maxKeep = 1 << 20

var cursors = sync.Pool{New: func() any { return new(Cursor) }}

// Open begins a message of a type of whole messages. Close must be called.
func Open(t *Type, message []byte) *Cursor { return open(t, message, false) }

// OpenInPlace is Open for values that are the message's own bytes, to be found by Seek and written to: a message
// is never made plain or put together of parts. Seek does not find what is behind a value that only IDL has.
func OpenInPlace(t *Type, message []byte) *Cursor { return open(t, message, true) }

func open(t *Type, message []byte, inPlace bool) *Cursor {
	c := cursors.Get().(*Cursor)
	c.begin(t, message, inPlace)
	return c
}

// Reopen begins another message of the type, which costs less than Close and Open.
func (c *Cursor) Reopen(message []byte) {
	c.end()
	c.begin(c.t, message, c.inPlace)
}

// begin begins a message.
func (c *Cursor) begin(t *Type, message []byte, inPlace bool) {
	c.t, c.src, c.inPlace = t, message, inPlace
	c.refuel(len(message))
	if t.wire != nil {
		c.r.Begin(message, ros.ROS1, 0)
		x, wrong := pb.NewIndex(message)
		if wrong != nil {
			c.FailAt(wrong.At, "%s", wrong.What)
		}
		c.x = x
		return
	}
	special := t.whole.special
	if special != nil && t.odd && !inPlace && special.Needed(message) {
		out, rest, extra, err := special.Plain(c.plain[:0], message)
		if err != nil {
			c.r.Begin(nil, ros.ROS1, 0)
			c.r.FailWith(err)
			return
		}
		c.src, c.plain, c.rest, c.extra, special = out, out, rest, extra, nil
	}
	if err := c.r.Open(c.src, t.whole.cdr); err != nil {
		c.r.Begin(nil, ros.ROS1, 0)
		c.r.FailWith(err)
	}
	if special != nil && c.r.Sizes {
		c.extents = append(c.extents, schema.Unstated)
	}
}

// Close ends the use of a Cursor.
func (c *Cursor) Close() {
	c.end()
	cursors.Put(c)
}

// end forgets the message.
func (c *Cursor) end() {
	if c.x != nil {
		c.x.Release()
	}
	if cap(c.places) > maxPlaces {
		c.places = nil
	}
	clear(c.places[:cap(c.places)])
	c.places, c.here = c.places[:0], nil
	c.r, c.src, c.rest, c.x, c.extra, c.longer = ros.Reader{}, nil, nil, nil, 0, false
	c.unknown, c.mistyped, c.extents = "", "", c.extents[:0]
	if max(cap(c.plain), cap(c.numbers), cap(c.text), cap(c.units)) > maxKeep {
		c.plain, c.numbers, c.text, c.units = nil, nil, nil, nil
	}
}

// OK reports whether there was no error.
func (c *Cursor) OK() bool { return c.r.OK() }

// Err returns the first error, a *ros.Error; nil if no error occurred.
func (c *Cursor) Err() error { return c.r.Err() }

// Fail makes what stands at the cursor its error, unless it has one.
func (c *Cursor) Fail(format string, a ...any) {
	if c.here != nil {
		c.FailAt(c.here.at, format, a...)
	} else {
		c.r.Fail(format, a...)
	}
}

// FailAt is Fail for an offset of the message, in bytes.
func (c *Cursor) FailAt(offset int, format string, a ...any) {
	c.r.FailWith(&ros.Error{Offset: offset, What: fmt.Sprintf(format, a...)})
}

// burn takes fuel for a value without bytes.
func (c *Cursor) burn() {
	if c.fuel--; c.fuel < 0 {
		c.Fail("too many values that take no bytes")
	}
}

// End ends a message whose fields were all read, and returns the first error. In ROS 1 no bytes may be left.
func (c *Cursor) End() error {
	if c.x == nil && !c.t.whole.cdr && c.r.Len() != 0 {
		c.r.Fail("%d bytes are left over", c.r.Len())
	}
	return c.Err()
}

// Rest returns the bytes behind the cursor, after End the bytes behind the last field; nothing in protobuf.
func (c *Cursor) Rest() []byte {
	switch {
	case c.x != nil:
		return nil
	case c.rest != nil && c.r.Len() == 0:
		return c.rest
	}
	return c.r.Rest()
}

// Extra returns how many bytes the structs of a message of IDL have that their definitions do not have.
func (c *Cursor) Extra() int { return c.extra }

// Longer reports whether a struct of ROS so far had bytes that its definition does not have, and that are no padding.
func (c *Cursor) Longer() bool { return c.longer || c.extra > 0 }

// Unknown reports whether there were fields that their type does not have, in protobuf.
func (c *Cursor) Unknown() bool { return c.x != nil && c.x.Unknown }

// Strays names the first field of protobuf so far that its type does not have, and the first field of which a value
// has another wire type than it should; "" without such a field.
func (c *Cursor) Strays() (unknown, mistyped string) { return c.unknown, c.mistyped }

// Pos returns the offset of the cursor in a message of ROS, bytes.
func (c *Cursor) Pos() int { return c.r.Offset() }

// Return goes back to where Pos was in the struct that is read, of ROS.
func (c *Cursor) Return(pos int) { c.r.Seek(pos - c.r.Offset() + c.r.Pos()) }

// Layout returns how a message of ROS puts values into bytes.
func (c *Cursor) Layout() ros.Layout { return c.r.Layout }

// Padding steps over the padding before a value of n bytes in ROS, which reading the value would do, too, and
// returns it.
func (c *Cursor) Padding(n int) []byte {
	rest, at := c.r.Rest(), c.r.Pos()
	c.r.Align(n)
	return rest[:c.r.Pos()-at]
}

// Sized reports whether structs of the message, and arrays of them, may have a size before them.
func (c *Cursor) Sized() bool { return c.r.Sizes }

// Enter begins the struct at the cursor, and returns what Leave wants: Fields for a visitor with a loop of its own.
// In between the visitor goes to fields by At: to all of them in their order, except in protobuf, or back by Return.
func (c *Cursor) Enter(t *Type) (end int) {
	if t.wire != nil {
		c.enterProto(t)
		return -1
	}
	if t.Least == 0 {
		c.burn()
	}
	switch {
	case len(c.extents) > 0:
		end = c.enterExtent(t)
	case t.clock:
		end = -1
	default:
		end = c.r.Struct()
	}
	if len(t.Fields) == 0 && c.r.Filler {
		c.r.U8()
	}
	return end
}

// enterExtent begins a struct where the definition says whether it has a size.
func (c *Cursor) enterExtent(t *Type) (end int) {
	around := c.extents[len(c.extents)-1]
	extent, inside := t.extent, t.extent
	switch {
	case around == schema.Unstated: // the struct of the whole message
		if extent = schema.Final; c.r.Delimited {
			extent = schema.Appendable
		}
		if inside == schema.Unstated || inside == schema.Mutable {
			inside = extent
		}
	case extent == schema.Unstated:
		extent, inside = around, around
	case extent == schema.Bare:
		inside = around
	}
	c.extents = append(c.extents, inside)
	if extent == schema.Appendable {
		return c.r.Delimiter()
	}
	return -1
}

// At goes to a field of the struct that was entered.
func (c *Cursor) At(f *Field) {
	if c.here != nil {
		c.here.field, c.here.element = f, false
	}
}

// Leave goes to the end of a struct, and returns the bytes that are skipped: fields that the definition does not
// have, or padding.
func (c *Cursor) Leave(end int) []byte {
	switch {
	case !c.r.OK():
		return nil
	case c.x != nil:
		c.leaveProto()
		return nil
	case len(c.extents) > 0:
		c.extents = c.extents[:len(c.extents)-1]
	}
	if end < 0 {
		return nil
	}
	more := c.r.End(end)
	c.longer = c.longer || !ros.IsPadding(more)
	return more
}
