package cyber

import (
	"bytes"
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// partSize is about how large the blocks of a chunk are, in bytes.
const partSize = 1 << 20

// A chunk is a CHUNK_BODY, with what the CHUNK_HEADER before it has. It is read in parts, which are
// blocks: part i has the messages that begin between bound(i) and bound(i+1). Where the first of
// these messages begins is found by going over the heads of all messages before, once, by whoever
// needs it first. A chunk of some MB of small messages is one part, if the
// file has others.
type chunk struct {
	file *file
	head int64 // offset of its first section
	body int64 // offset of what is in CHUNK_BODY
	size int64 // bytes of CHUNK_BODY, as far as the file has them
	cut  bool  // the file ends within

	bounded    bool // count, begin and end are from its header
	measured   bool // they are from its messages
	count      int64
	begin, end int64 // least and greatest time, ns
	raw        int64 // bytes of content

	mu    sync.Mutex
	cuts  []int64 // cuts[i] is where part i begins, as far as that is known
	spans []span  // of the parts, once measured
	reads []int64 // messages of each part that was read, and 1; only if the header counts them

	broken atomic.Bool // bytes of it cannot be read as messages
}

// A span is what measuring shows of a part.
type span struct {
	count      int64
	begin, end int64
}

// maxParts bounds what a body of a claimed size, in a file with holes, can cost.
const maxParts = 1 << 20

// What is not too large to be read as one part, if its messages are so small that going over their heads reads all of
// them: then it is read once. In bytes.
const (
	wholeSize    = 4 * partSize
	smallMessage = 2 << 10
)

func (c *chunk) parts() int {
	if c.bounded && c.count > 0 && c.size <= wholeSize && c.size/c.count < smallMessage &&
		(c.size <= c.file.size/2 || iox.Distant(c.file.file)) { // else there is one worker for it all
		return 1
	}
	return int(min(max(1, (c.size+partSize/2)/partSize), maxParts))
}

// bound is an offset in the file; the bound after the last part is the body's end.
func (c *chunk) bound(part int) int64 {
	n := c.parts()
	if part == n {
		return c.body + c.size
	}
	return c.body + c.size/int64(n)*int64(part)
}

// start returns where a part begins. It is safe for concurrent use.
func (c *chunk) start(ctx context.Context, part int) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cuts) == 0 {
		c.cuts = append(c.cuts, c.body)
	}
	if part < len(c.cuts) {
		return c.cuts[part], nil
	}
	w := c.file.window()
	defer windows.Put(w)
	k := walker{w: w, end: c.body + c.size}
	at := c.cuts[len(c.cuts)-1]
	for part >= len(c.cuts) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for stop := c.bound(len(c.cuts)); at < stop; {
			next, _, err := c.step(&k, at)
			if err != nil {
				return 0, err
			}
			at = next
		}
		c.cuts = append(c.cuts, at)
	}
	return at, nil
}

// starts keeps where a part begins.
func (c *chunk) starts(part int, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if part == len(c.cuts) {
		c.cuts = append(c.cuts, at)
	}
}

// step goes over the message at an offset of the body, or over what is not a message: then ok is
// false, and there is a warning.
func (c *chunk) step(k *walker, at int64) (next int64, ok bool, err error) {
	st, err := k.next(at)
	if err != nil {
		return 0, false, c.file.fail(at, "chunk", err)
	}
	if st == whole && (c.file.channels[string(k.m.name)] != nil || plausibleName(k.m.name)) {
		return at + int64(k.m.size), true, nil
	}
	if st == whole {
		st = broken
	}
	next, err = c.skip(at, st)
	return next, false, err
}

// skip goes past bytes of the body that are not messages, and warns. It returns where the next
// message of a known channel begins.
func (c *chunk) skip(at int64, st state) (next int64, err error) {
	f, end := c.file, c.body+c.size
	if st == short && c.cut {
		if !f.r.isOpen {
			f.tail.at = min(f.tail.at, at)
		}
		return end, nil
	}
	w := f.window()
	defer windows.Put(w)
	var m message
	for next = at + 1; next < end; {
		b, err := w.peek(next, int(min(searchStep, end-next)))
		if err != nil {
			return 0, f.fail(next, "chunk", err)
		}
		n := bytes.IndexByte(b, 0x0a)
		if n != 0 {
			if n < 0 {
				n = len(b)
			}
			next += int64(n)
			continue
		}
		if m.parse(b) == whole && int64(m.size) <= end-next && f.channels[string(m.name)] != nil {
			break
		}
		next++
	}
	lost := storage.Lost{Bytes: next - at, Uncounted: !c.bounded}
	if c.broken.CompareAndSwap(false, true) {
		lost.Blocks = 1
	}
	return next, f.warn("chunk-data", at, true, lost, "%d bytes of a chunk cannot be read as messages", next-at)
}

// heads goes over the heads of all messages. add is called for each, with the part
// that it begins in and its place; k.m is the message. It returns where the parts begin.
func (c *chunk) heads(ctx context.Context, k *walker, add func(part int, at int64) error) (cuts []int64, err error) {
	cuts = append(make([]int64, 0, c.parts()), c.body)
	n := 0
	for at := c.body; at < k.end; n++ {
		for len(cuts) < c.parts() && at >= c.bound(len(cuts)) {
			cuts = append(cuts, at)
		}
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		next, ok, err := c.step(k, at)
		if err == nil && ok {
			err = add(len(cuts)-1, at)
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	for len(cuts) < c.parts() {
		cuts = append(cuts, k.end)
	}
	return cuts, nil
}

// add takes the time of a message into a span.
func (s *span) add(t int64) {
	if s.count == 0 {
		s.begin, s.end = t, t
	}
	s.count++
	s.begin, s.end = min(s.begin, t), max(s.end, t)
}

// times goes over the heads of all messages for the times of the parts.
func (c *chunk) times(ctx context.Context) ([]span, error) {
	w := c.file.window()
	defer windows.Put(w)
	k := &walker{w: w, end: c.body + c.size}
	spans := make([]span, c.parts())
	cuts, err := c.heads(ctx, k, func(part int, _ int64) error {
		spans[part].add(int64(k.m.time))
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.cuts = cuts
	c.mu.Unlock()
	return spans, nil
}

// measure takes count, times and parts of a chunk from its messages. add is called for each
// message, with its place and channel.
func (c *chunk) measure(ctx context.Context, w *window, add func(at int64, name []byte) error) (err error) {
	k := &walker{w: w, end: c.body + c.size}
	stated := c.count
	c.spans = make([]span, c.parts())
	c.count, c.raw, c.begin, c.end = 0, 0, math.MaxInt64, math.MinInt64
	c.cuts, err = c.heads(ctx, k, func(part int, at int64) error {
		t := int64(k.m.time)
		c.count++
		c.raw += int64(k.m.length)
		c.begin, c.end = min(c.begin, t), max(c.end, t)
		c.spans[part].add(t)
		return add(at, k.m.name)
	})
	if err != nil {
		return err
	}
	c.measured = true
	switch {
	case !c.bounded || stated == c.count:
	case c.broken.Load() || c.cut: // which reports why
		c.file.lost.Messages += max(0, stated-c.count)
	default:
		return c.file.warn("count", c.head, false, storage.Lost{}, "a chunk counts %d messages; %d can be read", stated,
			c.count)
	}
	return nil
}

// wasRead notes how many messages a part has. When all parts of a chunk that was not measured are
// read, the messages must be as many as in its header.
func (c *chunk) wasRead(part int, n int64) error {
	if !c.bounded || c.measured {
		return nil
	}
	c.mu.Lock()
	if c.reads == nil {
		c.reads = make([]int64, c.parts())
	}
	c.reads[part] = n + 1
	c.mu.Unlock()
	if lost, known := c.lost(); known && lost != 0 && !c.broken.Load() {
		return c.file.warn("count", c.head, lost > 0, storage.Lost{}, "a chunk counts %d messages; %d can be read", c.count,
			c.count-lost)
	}
	return nil
}

// lost is how many messages the header of a chunk counts beyond the ones that were read: below 0 if
// there are more. It is not known until all parts are read. A chunk that was measured lost nothing
// since.
func (c *chunk) lost() (n int64, known bool) {
	if !c.bounded || c.measured {
		return 0, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reads == nil {
		return 0, false
	}
	n = c.count
	for _, read := range c.reads {
		if read == 0 {
			return 0, false
		}
		n -= read - 1
	}
	return n, true
}

// clamp makes an int64 of a number in the file.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// readWanted reads only the messages of a part from at on that b asks for, and the heads of all others. It is not ok,
// and b has no message, if there is anything else than messages of known channels.
func (c *chunk) readWanted(part int, at int64, b *storage.Batch) (ok bool, err error) {
	f, stop := c.file, c.bound(part+1)
	if b.Wanted == nil || f.r.strict || iox.Distant(f.file) {
		return false, nil
	}
	w := f.window()
	defer windows.Put(w)
	k := walker{w: w, end: c.body + c.size}
	count := int64(0)
	for b.Buf = b.Buf[:0]; at < stop; count++ {
		st, err := k.next(at)
		if err != nil {
			return false, f.fail(at, "chunk", err)
		}
		ch := f.channels[string(k.m.name)]
		if st != whole || ch == nil {
			b.Messages = b.Messages[:0]
			return false, nil
		}
		if topic := ch.at(c.body); b.Wanted[topic] {
			m := storage.Message{Topic: topic, LogTime: int64(k.m.time), PublishTime: int64(k.m.time)}
			n := len(b.Buf)
			b.Buf = append(b.Buf, make([]byte, k.m.length)...)
			m.Data = b.Buf[n:] // Buf may move: only its length counts
			if err := w.read(m.Data, at+int64(k.m.content)); err != nil {
				return false, f.fail(at, "message", err)
			}
			b.Messages = append(b.Messages, m)
		}
		at += int64(k.m.size)
	}
	b.Place()
	c.starts(part+1, at)
	return true, c.wasRead(part, count)
}

// read reads a part into b.
func (c *chunk) read(ctx context.Context, part int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	at, err := c.start(ctx, part)
	if err != nil {
		return err
	}
	f, end, stop := c.file, c.body+c.size, c.bound(part+1)
	if at >= stop {
		c.starts(part+1, at)
		return c.wasRead(part, 0)
	}
	if ok, err := c.readWanted(part, at, b); ok || err != nil {
		return err
	}
	// What is read at first: the messages up to stop, and the head of one more.
	n := int(min(stop+headBytes, end) - at)
	b.Buf = storage.Grow(b.Buf[:0], n)
	if err := iox.ReadFull(f.file, b.Buf, at); err != nil {
		return f.fail(at, "chunk", err)
	}
	p := parser{c: c, base: at, end: end, batch: b, topics: f.channels}
	at, err = p.run(stop)
	if err != nil {
		return err
	}
	b.File, b.At = f.path, p.base
	c.starts(part+1, at)
	return c.wasRead(part, int64(len(b.Messages)))
}
