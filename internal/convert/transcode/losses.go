package transcode

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A Loss is what some messages of a program had, and their output does not have, or has in another form.
type Loss struct {
	Code     string // stable and short: "fields-dropped"
	Messages int64
	Bytes    int64  // of the source, 0 when they are not counted
	Message  string // what it is
	Kept     bool   // the output has it, in another form: nothing is lost
}

// A LossCounter counts what the messages of one program lost. It may be used by
// any number of goroutines; the zero value is ready.
type LossCounter struct {
	target   string       // type that is written
	dropped  fieldLoss    // of source fields that target has no place for, which had a value
	changed  fieldLoss    // of numbers that target cannot hold
	cut      fieldLoss    // of lists and strings that are longer than target allows
	trailing atomic.Int64 // messages with bytes behind their last field
	bytes    atomic.Int64 // how many
	replaced atomic.Int64 // messages with U+FFFD in place of text
	wrapped  atomic.Int64 // messages with a time that the destination cannot hold
	normal   atomic.Int64 // messages with a time in other words
}

// A fieldLoss is a loss of some fields.
type fieldLoss struct {
	paths    []string
	hits     []atomic.Bool // which of the fields had the loss
	messages atomic.Int64
}

func (l *fieldLoss) init(paths []string) { l.paths, l.hits = paths, make([]atomic.Bool, len(paths)) }

// hit notes that the field of that number, from 1, had the loss in a message.
func (l *fieldLoss) hit(number uint16) {
	if h := &l.hits[number-1]; !h.Load() {
		h.Store(true)
	}
}

// add appends the loss, if there is one: that the target does what to the fields.
func (l *fieldLoss) add(out []Loss, code, target, what string) []Loss {
	n := l.messages.Load()
	if n == 0 {
		return out
	}
	var paths []string
	for i := range l.paths {
		if l.hits[i].Load() {
			paths = append(paths, l.paths[i])
		}
	}
	return append(out, Loss{Code: code, Messages: n, Message: fmt.Sprintf("%s %s %s", target, what, List(paths))})
}

func (l *fieldLoss) reset() {
	for i := range l.hits {
		l.hits[i].Store(false)
	}
	l.messages.Store(0)
}

func (c *LossCounter) init(target string, dropped []string) {
	c.target = target
	c.dropped.init(dropped)
}

// Losses lists what was lost so far; it is empty as long as nothing was.
func (c *LossCounter) Losses() (out []Loss) {
	out = c.dropped.add(out, "fields-dropped", c.target, "has no field for")
	out = c.changed.add(out, "numbers-changed", c.target, "gets the nearest number that it can hold for")
	out = c.cut.add(out, "lists-cut", c.target, "has no room for all of")
	if n := c.trailing.Load(); n > 0 {
		out = append(out, Loss{Code: "trailing-bytes", Messages: n, Bytes: c.bytes.Load(),
			Message: "bytes after the last field are left out; the definition may be older than the publisher"})
	}
	if n := c.replaced.Load(); n > 0 {
		out = append(out, Loss{Code: "text-replaced", Messages: n,
			Message: "parts of text that are not Unicode are replaced by U+FFFD"})
	}
	if n := c.wrapped.Load(); n > 0 {
		out = append(out, Loss{Code: "time-wrapped", Messages: n,
			Message: "times before 1970 or from 2038 on: the same bytes mean another time in the other encoding"})
	}
	if n := c.normal.Load(); n > 0 {
		out = append(out, Loss{Code: "time-normalized", Messages: n, Kept: true,
			Message: "times or durations with other nanoseconds than 0 to 999,999,999 are written with these; they mean the " +
				"same, and stay so on the way back"})
	}
	return out
}

// Normalized counts a message with a time that is not written in the same seconds and nanoseconds,
// but in other words that mean the same.
func (c *LossCounter) Normalized() { c.normal.Add(1) }

// Reset sets all counts to zero.
func (c *LossCounter) Reset() {
	for _, l := range []*fieldLoss{&c.dropped, &c.changed, &c.cut} {
		l.reset()
	}
	for _, n := range []*atomic.Int64{&c.trailing, &c.bytes, &c.replaced, &c.wrapped, &c.normal} {
		n.Store(0)
	}
}

// Trailing counts a message that has rest after its last field, unless that is
// padding.
func (c *LossCounter) Trailing(rest []byte) {
	if n := Trailing(rest); n > 0 {
		c.trailing.Add(1)
		c.bytes.Add(int64(n))
	}
}

// all counts a message in which any of the fields may have had values.
func (c *LossCounter) all() {
	for i := range c.dropped.paths {
		c.dropped.hit(uint16(i + 1))
	}
	c.dropped.messages.Add(1)
}

// Trailing returns how many bytes follow the last field of a CDR message: len(rest),
// or 0 when rest is padding.
func Trailing(rest []byte) int {
	if ros.IsPadding(rest) {
		return 0
	}
	return len(rest)
}

func isZero(p []byte) bool {
	for ; len(p) >= 8; p = p[8:] {
		if binary.LittleEndian.Uint64(p) != 0 {
			return false
		}
	}
	for _, v := range p {
		if v != 0 {
			return false
		}
	}
	return true
}

// maxPaths is how many fields a message names.
const maxPaths = 20

// List names the paths of fields, 20 of them at most.
func List(paths []string) string {
	return nearest.Some(paths, maxPaths)
}
