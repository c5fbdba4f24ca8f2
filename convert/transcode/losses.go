package transcode

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A Loss is what some messages of a program had, and their output does not have.
type Loss struct {
	Code     string // stable and short: "fields-dropped"
	Messages int64
	Bytes    int64  // of the source, 0 when they are not counted
	Message  string // what it is
}

// A LossCounter counts what the messages of one program lost. It may be used by
// any number of goroutines; the zero value is ready.
type LossCounter struct {
	target   string        // type that is written
	paths    []string      // of source fields that it has no place for
	valued   []atomic.Bool // which of them had a value
	dropped  atomic.Int64  // messages with such a value
	trailing atomic.Int64  // messages with bytes behind their last field
	bytes    atomic.Int64  // how many
	replaced atomic.Int64  // messages with U+FFFD in place of text
	wrapped  atomic.Int64  // messages with a time that the destination cannot hold
}

func (c *LossCounter) init(target string, paths []string) {
	c.target, c.paths, c.valued = target, paths, make([]atomic.Bool, len(paths))
}

// Losses lists what was lost so far; it is empty as long as nothing was.
func (c *LossCounter) Losses() (out []Loss) {
	if n := c.dropped.Load(); n > 0 {
		var paths []string
		for i := range c.paths {
			if c.valued[i].Load() {
				paths = append(paths, c.paths[i])
			}
		}
		out = append(out, Loss{Code: "fields-dropped", Messages: n, Message: fmt.Sprintf("%s has no field for %s", c.target, List(paths))})
	}
	if n := c.trailing.Load(); n > 0 {
		out = append(out, Loss{Code: "trailing-bytes", Messages: n, Bytes: c.bytes.Load(),
			Message: "bytes after the last field are left out; the definition may be older than the publisher"})
	}
	if n := c.replaced.Load(); n > 0 {
		out = append(out, Loss{Code: "text-replaced", Messages: n, Message: "text that is not Unicode gets U+FFFD for invalid parts"})
	}
	if n := c.wrapped.Load(); n > 0 {
		out = append(out, Loss{Code: "time-wrapped", Messages: n,
			Message: "times before 1970 or from 2038 on: the same bytes mean another time there"})
	}
	return out
}

// Reset sets all counts to zero.
func (c *LossCounter) Reset() {
	for i := range c.valued {
		c.valued[i].Store(false)
	}
	for _, n := range []*atomic.Int64{&c.dropped, &c.trailing, &c.bytes, &c.replaced, &c.wrapped} {
		n.Store(0)
	}
}

// Trailing counts a message that has rest behind its last field, unless that is
// padding.
func (c *LossCounter) Trailing(rest []byte) {
	if n := Trailing(rest); n > 0 {
		c.trailing.Add(1)
		c.bytes.Add(int64(n))
	}
}

// value notes that the field of that number, from 1, had a value in a message.
func (c *LossCounter) value(number uint16) {
	if v := &c.valued[number-1]; !v.Load() {
		v.Store(true)
	}
}

// all counts a message in which fields had values, any of all.
func (c *LossCounter) all() {
	for i := range c.paths {
		c.value(uint16(i + 1))
	}
	c.dropped.Add(1)
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
	if len(paths) <= maxPaths {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxPaths], ", "), len(paths)-maxPaths)
}
