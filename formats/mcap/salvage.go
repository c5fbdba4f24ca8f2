package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// A gap is a range of bytes that could not be read as records.
type gap struct {
	from, to int
	err      error
}

// A cursor goes over the records of b: a decompressed chunk, or bytes of the file.
// If bytes make no sense as a record it goes on at the next that do. A message
// whose end is not a record's start is left out: its length may be damaged.
type cursor struct {
	b     []byte
	known func(channel uint16) bool // which channels a message found after damage may have; nil: any

	// suspect is set if there is damage somewhere in b: a message that has another
	// record in it is taken to be longer than it was.
	suspect bool

	op   byte
	at   int    // where the record begins
	body []byte // points into b

	next int
	gaps []gap
}

var (
	errLength = errors.New("the length of a message is damaged")
	errCut    = fmt.Errorf("a record is cut: %w", storage.ErrTruncated)
)

// step goes to the next record. It is false at the end.
func (c *cursor) step() bool {
	for c.next < len(c.b) {
		p, rest := c.next, c.b[c.next:]
		h, err := parseHead(rest)
		if err == nil && h.length > uint64(len(rest)-recordHead) {
			err = errCut
		}
		if err == nil {
			end := p + recordHead + int(h.length)
			if end == len(c.b) || followed(c.b[end:]) {
				if h.op != opMessage {
					end = c.fieldsEnd(p, end, h.op)
				} else if c.suspect {
					if q := nextRecord(c.b, p+recordHead, c.known); q < end {
						c.gap(p, q, errLength)
						continue
					}
				}
				c.op, c.at, c.body, c.next = h.op, p, c.b[p+recordHead:end:end], end
				return true
			}
			// What follows is not a record. A record with inner lengths is believed, but for bytes
			// after its fields.
			if h.op != opMessage && h.op <= opDataEnd && checkBody(h.op, h.length, c.b[p+recordHead:end]) == nil {
				if q := nextRecord(c.b, p+recordHead, c.known); q < end && checkBody(h.op, uint64(q-p-recordHead),
					c.b[p+recordHead:q]) == nil {
					end = q
				}
				c.op, c.at, c.body, c.next = h.op, p, c.b[p+recordHead:end:end], end
				return true
			}
			err = errLength
		}
		if err == errZero && zeros(rest) {
			c.gap(p, len(c.b), errZero)
			return false
		}
		c.gap(p, nextRecord(c.b, p+1, c.known), err)
	}
	return false
}

// gap goes past bytes that are not records.
func (c *cursor) gap(from, to int, err error) {
	c.gaps = append(c.gaps, gap{from, to, err})
	c.next = to
}

// fieldsEnd returns where the record from p to end ends: after its fields, if another
// record begins there.
func (c *cursor) fieldsEnd(p, end int, op byte) int {
	n, err := knownFields(op, uint64(end-p-recordHead), c.b[p+recordHead:end])
	if q := p + recordHead + int(n); err == nil && q+recordHead <= end && nextRecord(c.b, q, c.known) == q {
		return q
	}
	return end
}

// followed reports whether b, which is what stands after a record, can begin with
// another record, or with the zeros of a file that was made longer than it became.
func followed(b []byte) bool {
	if len(b) < recordHead {
		return b[0] != 0 || zeros(b)
	}
	length := binary.LittleEndian.Uint64(b[1:])
	if b[0] == 0 {
		return length == 0 && zeros(b[:min(len(b), 64)])
	}
	// A cut record is longer than what is left, but not by any number.
	return length <= uint64(len(b)-recordHead) || length < 1<<32 && b[0] <= opDataEnd || bytes.HasPrefix(b, []byte(magic))
}

func zeros(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// nextRecord returns the offset, from from on, of the next bytes in b that read as a record, fit
// into b, and are followed by another record or the end of b; else len(b).
func nextRecord(b []byte, from int, known func(uint16) bool) int {
	for at := from; at+recordHead <= len(b); at++ {
		op := b[at]
		if op == 0 || op > opDataEnd {
			continue
		}
		length := binary.LittleEndian.Uint64(b[at+1:])
		if length > uint64(len(b)-at-recordHead) {
			continue
		}
		end := at + recordHead + int(length)
		body := b[at+recordHead : end]
		if checkBody(op, length, body) != nil || end < len(b) && !followed(b[end:]) {
			continue
		}
		if op == opMessage && known != nil && !known(binary.LittleEndian.Uint16(body)) {
			continue
		}
		return at
	}
	return len(b)
}
