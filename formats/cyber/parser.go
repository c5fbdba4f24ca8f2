package cyber

import (
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A parser makes messages of the bytes of a part.
type parser struct {
	c      *chunk
	base   int64 // offset of batch.Buf in the file
	end    int64 // of the body
	batch  *storage.Batch
	topics map[string]*channel

	name  string // of the last message
	topic storage.TopicID
}

// run parses from the start of the buffer to the first message that begins at
// stop or later, and returns where that is.
func (p *parser) run(stop int64) (int64, error) {
	var m message
	b := p.batch
	for at := 0; p.base+int64(at) < stop; {
		st := m.parse(b.Buf[at:])
		if st == short || st != broken && m.size > len(b.Buf)-at {
			need := int64(len(b.Buf)-at) + 64<<10
			if st != short {
				need = int64(m.size)
			}
			have := p.base + int64(len(b.Buf))
			if st == short {
				need = min(need, p.end-p.base-int64(at))
			}
			if st == short && have < p.end || st != short && need <= p.end-p.base-int64(at) {
				moved, err := p.extend(at + int(need))
				if err != nil {
					return 0, err
				}
				if moved { // the messages so far lie in the old buffer
					b.Messages, at = b.Messages[:0], 0
				}
				continue
			}
			st = short
		}
		var err error
		if st == odd {
			st, err = p.odd(&m, at)
		}
		if err == nil && st == whole {
			if err = p.add(&m, at); err == errMalformed {
				st, err = broken, nil
			}
		}
		if err == nil && st == whole {
			at += m.size
		} else if err == nil {
			var next int64
			next, err = p.c.skip(p.base+int64(at), st)
			at = int(next - p.base)
		}
		if err != nil {
			return 0, err
		}
		if p.base+int64(at) >= stop {
			return p.base + int64(at), nil
		}
	}
	return stop, nil
}

// extend makes the buffer n bytes long, from the file. moved means that it has other memory.
func (p *parser) extend(n int) (moved bool, err error) {
	b := p.batch
	had := len(b.Buf)
	if n > cap(b.Buf) {
		// Some more, so that it does not move for each block.
		buf := make([]byte, n, max(n, min(cap(b.Buf)*3/2, n+partSize)))
		copy(buf, b.Buf)
		b.Buf, moved = buf, true
	}
	b.Buf = b.Buf[:n]
	if err := iox.ReadFull(p.c.file.file, b.Buf[had:], p.base+int64(had)); err != nil {
		return moved, p.c.file.fail(p.base+int64(had), "chunk", err)
	}
	return moved, nil
}

// odd parses a message whose fields are not in the usual order.
func (p *parser) odd(m *message, at int) (state, error) {
	w := p.c.file.window()
	defer windows.Put(w)
	k := walker{w: w, end: p.end}
	st, err := k.next(p.base + int64(at))
	if err != nil {
		return broken, p.c.file.fail(p.base+int64(at), "chunk", err)
	}
	*m = k.m
	m.name = append([]byte(nil), k.m.name...)
	return st, nil
}

// add appends the message at a place of the buffer. It returns errMalformed if its
// channel can have no such name.
func (p *parser) add(m *message, at int) error {
	if string(m.name) != p.name || p.name == "" {
		ch := p.topics[string(m.name)]
		switch {
		case ch == nil && !plausibleName(m.name):
			return errMalformed
		case ch == nil:
			return p.c.undeclared(m.name)
		}
		p.name, p.topic = ch.name, ch.at(p.c.body)
	}
	t := int64(m.time)
	at += m.content
	p.batch.Messages = append(p.batch.Messages, storage.Message{
		Topic: p.topic, LogTime: t, PublishTime: t, Data: p.batch.Buf[at : at+m.length : at+m.length],
	})
	return nil
}

// codeUndeclared is the code of warnings about messages whose channel nothing declares.
const codeUndeclared = "undeclared-channel"

// undeclared warns of messages whose channel nothing declares.
func (c *chunk) undeclared(name []byte) error {
	return c.file.warn(codeUndeclared, c.head, true, storage.Lost{},
		"messages of channel %.80q are not read: neither a section nor the index declares it", name)
}

// plausibleName reports whether bytes can be a channel name, or are there by accident.
func plausibleName(b []byte) bool {
	return len(b) > 0 && utf8.Valid(b)
}
