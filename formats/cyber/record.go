package cyber

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// section is a section header: u32 type | 4 bytes that mean nothing | i64 size.
type section struct {
	typ  uint32
	size int64
}

func parseSection(b []byte) section {
	return section{binary.LittleEndian.Uint32(b), int64(binary.LittleEndian.Uint64(b[8:]))}
}

// A message is a SingleMessage in a chunk body, by offsets.
type message struct {
	name    []byte // channel_name; valid until the source of its bytes moves
	time    uint64 // ns
	inner   int    // where its fields begin, from the start of the message
	content int    // where content begins, from there too
	length  int    // of content
	size    int    // of the whole, with the tag and length before it
}

// maxMessage is the longest message that anything reads, in bytes.
const maxMessage = math.MaxInt32

// state describes what parseMessage has made of some bytes.
type state uint8

const (
	whole  state = iota // a message; its content may go on after the bytes
	short               // more bytes are needed
	broken              // no message
	odd                 // fields in another order than Apollo's, or others: parse all of it
)

// parse reads the message at the beginning of b as far as its content, in the
// form that every writer uses:
//
//	0a size  0a length channel_name  10 time  1a length content
func (m *message) parse(b []byte) state {
	if len(b) == 0 {
		return short
	}
	if b[0] != 1<<3|byte(protowire.BytesType) {
		return broken
	}
	size, n := varint(b[1:])
	if n <= 0 {
		return less(n)
	}
	at := 1 + n
	if size > maxMessage-16 {
		return broken
	}
	m.inner, m.size = at, at+int(size)
	if at == len(b) {
		return short
	}
	if size == 0 || b[at] != 1<<3|byte(protowire.BytesType) {
		return odd
	}
	length, n := varint(b[at+1:])
	if n <= 0 {
		return less(n)
	}
	at += 1 + n
	if length > uint64(m.size-at) {
		return broken
	}
	if length > uint64(len(b)-at) {
		return short
	}
	m.name = b[at : at+int(length)]
	at += int(length)
	m.time, m.content, m.length = 0, at, 0
	if at < m.size {
		if at == len(b) {
			return short
		}
		if b[at] == 2<<3|byte(protowire.VarintType) {
			if m.time, n = varint(b[at+1:]); n <= 0 {
				return less(n)
			}
			at += 1 + n
			m.content = at
		}
	}
	if at < m.size {
		if at == len(b) {
			return short
		}
		if b[at] != 3<<3|byte(protowire.BytesType) {
			return odd
		}
		length, n := varint(b[at+1:])
		if n <= 0 {
			return less(n)
		}
		at += 1 + n
		if length > uint64(m.size) || at > m.size {
			return broken
		}
		m.content, m.length = at, int(length)
		at += m.length
	}
	if at != m.size {
		if at > m.size {
			return broken
		}
		return odd
	}
	return whole
}

// less is the state of bytes in which no varint could be read.
func less(n int) state {
	if n == 0 {
		return short
	}
	return broken
}

// varint reads a varint, quickly if it has the usual one or two bytes. n is 0 if b ends too early,
// and -1 if the varint never ends.
func varint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	if len(b) > 1 && b[1] < 0x80 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	for i, c := range b[:min(len(b), 10)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if i == 9 && c > 1 {
				return 0, -1
			}
			return v, i + 1
		}
	}
	if len(b) < 10 {
		return 0, 0
	}
	return 0, -1
}

// A walker reads the heads of the messages of a chunk body in the file.
type walker struct {
	w   *window
	end int64 // of the body, as far as the file has it
	m   message
}

// headBytes is enough for most heads.
const headBytes = 256

// next reads the head of the message at an offset. The state is whole, short
// when the message goes on after the end of the body, or broken.
func (k *walker) next(at int64) (state, error) {
	st := short
	for n := headBytes; st == short; n = 128 << 10 {
		b, err := k.w.peek(at, int(min(int64(n), k.end-at)))
		if err != nil {
			return broken, err
		}
		if st = k.m.parse(b); st == short && (n > headBytes || len(b) < n) {
			return short, nil
		}
	}
	if st == broken {
		return broken, nil
	}
	if int64(k.m.size) > k.end-at {
		return short, nil
	}
	if st == odd {
		return k.odd(at)
	}
	return whole, nil
}

// odd reads a message field by field: in any order, the last one of a kind counts, unknown ones are
// skipped. A message without a channel is broken.
func (k *walker) odd(at int64) (state, error) {
	end := at + int64(k.m.size)
	var name, content field
	k.m.time = 0
	err := k.w.fields(at+int64(k.m.inner), end, func(x field) error {
		switch {
		case x.num == 1 && x.from >= 0:
			name = x
		case x.num == 2 && x.from < 0:
			k.m.time = x.v
		case x.num == 3 && x.from >= 0:
			content = x
		}
		return nil
	})
	if isIO(err) {
		return broken, err
	}
	if err != nil || name.to == 0 || name.to-name.from > 64<<10 {
		return broken, nil
	}
	b, err := k.w.peek(name.from, int(name.to-name.from))
	if err != nil {
		return broken, err
	}
	k.m.name = b
	k.m.content, k.m.length = k.m.size, 0
	if content.to > 0 {
		k.m.content, k.m.length = int(content.from-at), int(content.to-content.from)
	}
	return whole, nil
}
