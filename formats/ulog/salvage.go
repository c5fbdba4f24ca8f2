package ulog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/storage"
)

const (
	certain  = 4 // points of a row of messages that are no accident
	longest  = 8 // messages that are looked at
	ctxEvery = 1 << 20
)

// likely reports whether a message that can be right is so by more than its head: noise can look like others.
func (r *reader) likely(m *message) bool {
	var text []byte
	switch m.op {
	case opInfo, opMulti:
		kv, _ := parseKeyValue(m.op, m.body)
		base, n, array := strings.Cut(kv.typ, "[")
		count, err := strconv.Atoi(strings.TrimSuffix(n, "]"))
		if !array {
			count, err = 1, nil
		}
		return err == nil && len(kv.value) == count*kinds[base].size
	case opText:
		text = m.body[textHead:]
	case opTagged:
		text = m.body[taggedHead:]
	default:
		return true
	}
	level := m.body[0]
	stamp := m.body[len(m.body)-len(text)-8:]
	return level >= '0' && level <= '7' && nanoseconds(stamp) != noTime && utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
}

// follows reports whether messages follow at an offset after a doubtful message.
func (s *scanner) follows(at int64) bool {
	if at == s.end {
		return true
	}
	var m message
	whole, err := s.r.message(&s.ahead, &m, at, s.end)
	switch {
	case err != nil:
		return false
	case !whole: // the file ends within it
		return s.end-at < headLen || names[m.op] != ""
	}
	return s.r.wrong(&m, at) == "" && s.r.likely(&m) || s.row(at, 1)
}

// row reports whether messages follow each other at an offset: a certain number of points of them, or atEnd points up
// to the end.
func (s *scanner) row(at int64, atEnd int) bool {
	points := 0
	var m message
	for range longest {
		if at == s.end {
			return points >= atEnd
		}
		whole, err := s.r.message(&s.ahead, &m, at, s.end)
		if err != nil {
			return false
		}
		if !whole {
			return points >= atEnd
		}
		why := s.r.wrong(&m, at)
		switch {
		case why == wrongID && len(m.body) > dataHead:
			points++
		case why == unknownType && isLetter(m.op) && len(m.body) > 0:
		case why != "" || !s.r.likely(&m):
			return false
		case m.op == opSync:
			points += certain
		case m.op == opData:
			points += certain - 1
		default:
			points++
		}
		if points >= certain {
			return true
		}
		at = m.end()
	}
	return false
}

// find returns the first offset from at to end where reading can go on, or end. Reading does not go
// on at a message of data that nothing describes: too many bytes look like one.
func (s *scanner) find(at, end int64) (int64, error) {
	var m message
	for ; at < end; at++ {
		if at%ctxEvery == 0 && s.r.src.Ctx.Err() != nil {
			return at, s.r.src.Ctx.Err()
		}
		b, err := s.w.Ahead(at, min(headLen, s.end-at))
		if err != nil {
			return at, s.r.src.Fail(at, "message", err)
		}
		if len(b) < headLen || names[b[2]] == "" {
			continue
		}
		whole, err := s.r.message(&s.w, &m, at, s.end)
		if err != nil {
			return at, s.r.src.Fail(at, "message", err)
		}
		if whole && s.r.wrong(&m, at) == "" && s.row(at, certain-1) {
			return at, nil
		}
	}
	return end, nil
}

// salvage leaves out a message that cannot be right, and returns where reading goes on: within it, if its size is
// wrong, after it, or after all that is no message.
func (s *scanner) salvage(m *message, whole bool, why string) (next int64, err error) {
	end := s.end
	if whole && s.follows(m.end()) {
		end = m.end()
	}
	op, at, size := m.op, m.at, m.end()-m.at // the body is not valid after this
	id := uint16(0)
	if op == opData && len(m.body) >= dataHead {
		id = binary.LittleEndian.Uint16(m.body)
	}
	if next, err = s.find(at+1, end); err != nil {
		return next, err
	}
	if next == end && end < s.end || whole && next == s.end && at+size == s.end {
		return next, s.skip(op, id, at, size, why)
	}
	return next, s.gap(at, next, whole, why)
}

// skip leaves out one message, after which reading goes on.
func (s *scanner) skip(op byte, id uint16, at, size int64, why string) error {
	if s.visit != nil {
		if err := s.visit(&message{at: at, op: op}, at+size, why); err != nil {
			return err
		}
	}
	lost := storage.Lost{Bytes: size}
	switch op {
	case opData:
		if why == wrongID {
			s.count(id, at, size)
			return nil
		}
		lost.Messages = 1
	case opText, opTagged, opParameter, opDefault:
		lost.Messages = 1
	default:
		lost.Uncounted = true
	}
	code := "message"
	if why == unknownType {
		code, why = "unknown", fmt.Sprintf("%s: %q", why, op)
	}
	return s.r.src.WarnLost(lost, code, at, true, "%s; its %d bytes are left out", why, size)
}

// count counts a message that nothing describes.
func (s *scanner) count(id uint16, at, bytes int64) {
	u := s.unread[id]
	if u == nil {
		u = &unread{at: at}
		s.unread[id] = u
	}
	u.messages++
	u.bytes += bytes
}

// gap leaves out what is not a message, up to where reading goes on.
func (s *scanner) gap(at, next int64, whole bool, why string) error {
	s.close(at)
	if s.begin(next); s.visit != nil {
		if err := s.visit(&message{at: at}, next, why); err != nil {
			return err
		}
	}
	lost := storage.Lost{Bytes: next - at, Uncounted: true}
	warn := func(code, format string, args ...any) error {
		return s.r.src.WarnLost(lost, code, at, true, format, args...)
	}
	if next < s.end {
		return warn("gap", "%d bytes are not messages: %s; reading goes on at byte %d", lost.Bytes, why, next)
	}
	rest := "the file"
	if s.end < s.r.src.Size {
		rest = "what stands before the appended data"
	}
	switch zeros, err := s.zeros(at); {
	case err != nil:
		return err
	case zeros:
		return warn("zero-tail", "the last %d bytes of %s are zeros", lost.Bytes, rest)
	case whole:
		return warn("gap", "the last %d bytes of %s are not messages: %s", lost.Bytes, rest, why)
	}
	return warn("truncated", "%s ends within a message, of which it has %d bytes", rest, lost.Bytes)
}

// zeros reports whether all bytes of the part from at on are 0.
func (s *scanner) zeros(at int64) (bool, error) {
	for at < s.end {
		b, err := s.w.Data(at, min(64<<10, s.end-at))
		if err != nil {
			return false, s.r.src.Fail(at, "message", err)
		}
		if len(bytes.TrimLeft(b, "\x00")) > 0 {
			return false, nil
		}
		at += int64(len(b))
	}
	return true, nil
}

// account reports what was counted on the way.
func (s *scanner) account() error {
	r := s.r
	for _, id := range slices.Sorted(maps.Keys(s.unread)) {
		u := s.unread[id]
		lost := storage.Lost{Messages: u.messages, Bytes: u.bytes}
		if err := r.src.WarnLost(lost, "no-subscription", u.at, true,
			"%d messages with the id %d, which no readable subscription describes, are left out",
			u.messages, id); err != nil {
			return err
		}
	}
	if n := r.unstamped.count; n > 0 {
		if err := r.src.Warn("unstamped", r.unstamped.at, false,
			"%d messages have the time 0: what published them did not set their timestamp", n); err != nil {
			return err
		}
	}
	if n := r.dropouts.count; n > 0 {
		return r.src.WarnLost(storage.Lost{Uncounted: true}, "dropout", r.dropouts.at, false,
			"%d dropouts, %v in all: the logger could not follow, and nothing counts the messages of these times",
			n, r.dropped)
	}
	return nil
}
