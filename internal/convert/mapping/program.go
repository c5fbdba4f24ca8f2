package mapping

import (
	"sync"

	"github.com/bagconv/bagconv/internal/convert/transcode"
)

// ErrMalformed is wrapped by errors about messages that do not fit their definition.
var ErrMalformed = transcode.ErrMalformed

// A Program re-encodes the messages of one topic. It may be used by any number
// of goroutines. A program can also be Timed, a Counter, or have a SeqOffset.
type Program interface {
	// Append re-encodes src and appends it to dst. On error dst is returned at
	// its old length.
	Append(dst, src []byte) ([]byte, error)

	// SizeHint is how many bytes a message of n bytes becomes, with some to
	// spare for nearly all types.
	SizeHint(n int) int
}

// A Timed program needs the log time of the message, ns since 1970, for messages
// that have no time of their own.
type Timed interface {
	AppendAt(dst, src []byte, logTime int64) ([]byte, error)
}

// A Counter counts the messages that had fields which their descriptor does not
// have, and which were left out.
type Counter interface {
	Unknown() int64
	Reset()
}

// A loser counts what its messages lost.
type loser interface {
	Losses() []transcode.Loss
	Reset()
}

// Losses lists what the messages that p re-encoded so far had and their output
// does not have. It is empty when nothing was lost.
func Losses(p Program) []transcode.Loss {
	if c, ok := p.(interface {
		parts() (first, second Program)
	}); ok {
		first, second := c.parts()
		return append(Losses(first), Losses(second)...)
	}
	var out []transcode.Loss
	if c, ok := p.(Counter); ok && c.Unknown() > 0 {
		out = append(out, transcode.Loss{Code: "unknown-fields", Messages: c.Unknown(),
			Message: "messages have fields that their descriptor does not have; they are left out"})
	}
	if l, ok := p.(loser); ok {
		out = append(out, l.Losses()...)
	}
	return out
}

// Reset sets what Losses and a Counter count to zero.
func Reset(p Program) {
	if c, ok := p.(interface{ Reset() }); ok {
		c.Reset()
	}
}

// SeqOffset returns where in the output of a program the counter of a ROS 1
// Header lies that is to be counted up, -1 without one.
func SeqOffset(p Program) int {
	if s, ok := p.(interface{ SeqOffset() int }); ok {
		return s.SeqOffset()
	}
	return -1
}

// AppendAt runs a program on a message of that time.
func AppendAt(p Program, dst, src []byte, logTime int64) ([]byte, error) {
	if t, ok := p.(Timed); ok {
		return t.AppendAt(dst, src, logTime)
	}
	return p.Append(dst, src)
}

// A chain is two programs in a row, for the few types that have no direct way.
type chain struct {
	first, second Program
	buffers       sync.Pool
}

func chained(first, second Program) Program {
	if second == nil {
		return first
	}
	c := &chain{first: first, second: second}
	_, one := first.(Timed)
	_, two := second.(Timed)
	if one || two {
		return timedChain{c}
	}
	return c
}

// A timedChain is a chain with a program that needs the log time.
type timedChain struct{ *chain }

// AppendAt implements Timed.
func (c timedChain) AppendAt(dst, src []byte, logTime int64) ([]byte, error) {
	return c.run(dst, src, logTime)
}

// parts returns the two programs.
func (c *chain) parts() (first, second Program) { return c.first, c.second }

// Append implements Program.
func (c *chain) Append(dst, src []byte) ([]byte, error) { return c.run(dst, src, 0) }

func (c *chain) run(dst, src []byte, logTime int64) ([]byte, error) {
	buf, _ := c.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer c.buffers.Put(buf)
	mid, err := AppendAt(c.first, (*buf)[:0], src, logTime)
	if err != nil {
		return dst, err
	}
	*buf = mid
	return AppendAt(c.second, dst, mid, logTime)
}

// SizeHint implements Program.
func (c *chain) SizeHint(n int) int { return c.second.SizeHint(c.first.SizeHint(n)) }

// SeqOffset returns the offset of the second program.
func (c *chain) SeqOffset() int { return SeqOffset(c.second) }

// Unknown implements Counter.
func (c *chain) Unknown() (n int64) {
	for _, p := range []Program{c.first, c.second} {
		if u, ok := p.(Counter); ok {
			n += u.Unknown()
		}
	}
	return n
}

// Reset implements Counter.
func (c *chain) Reset() {
	Reset(c.first)
	Reset(c.second)
}
