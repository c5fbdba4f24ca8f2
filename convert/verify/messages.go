package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// pairCounts are what is known of a pair while its messages pass.
type pairCounts struct {
	sides      [2]sideCount
	shortcut   *shortcut // nil: the messages of both sides are read each for itself
	queued     bool      // it stands in comparison.held
	index      storage.Known
	first      *Difference
	differ     int64
	shifted    bool              // first may turn out to be a message at another time
	pending    [sha256.Size]byte // that message
	published, // messages with another time of sending
	wrapped, // messages with a time that the other encoding cannot hold
	reworded, // messages with a time in other words
	replaced, // messages with text that the other encoding cannot hold
	recoded int64 // messages with other bytes and the same content
}

type sideCount struct {
	queue    []entry // messages at the time of now that the other side has not had yet
	head     int
	messages int64
	refused  recording.Refused
	unknown  int64 // messages with more than their definition, and not the same bytes on the other side
	hash     hash.Hash
	parts    content.Sum
	text     string                // of sum
	hashed   [8 + sha256.Size]byte // what goes into it of one message
	least    int64
	greatest int64
}

// merge takes the entries of both sides in order of time. Entries of one time meet in the queues of
// their pair; what is left there when the time has passed has no counterpart.
func (c *comparison) merge(feeds [2]*feed) {
	var now int64
	next := 0
	for {
		a, b := feeds[0].next(), feeds[1].next()
		var side int
		switch {
		case a == nil && b == nil:
			c.flush()
			return
		case b == nil || a != nil && a.time < b.time:
			side = 0
		case a == nil || b.time < a.time:
			side = 1
		default: // the same time: in turns, so that queues stay short
			side, next = next, 1-next
		}
		e := a
		if side == 1 {
			e = b
		}
		if e.time != now {
			c.flush()
			now = e.time
		}
		c.take(side, e)
		feeds[side].pos++
	}
}

// take compares an entry with what the other side has, or keeps it.
func (c *comparison) take(side int, e *entry) {
	p := e.pair
	if p.failed() {
		return
	}
	s, o := &p.sides[side], &p.sides[1-side]
	if s.messages == 0 {
		s.least = e.time
	}
	s.greatest = e.time
	s.messages++
	if c.job.Level == Counts {
		return
	}
	if e.flags&flagHash == 0 {
		s.add(e)
	}
	if p.groups[1-side] == nil || p.link == nil {
		return
	}
	if o.waits() {
		other := &o.queue[o.head]
		o.head++
		if side == 0 {
			c.compare(p, e, other)
		} else {
			c.compare(p, other, e)
		}
		if o.head == len(o.queue) {
			o.queue, o.head = o.queue[:0], 0
		}
		return
	}
	s.queue = append(s.queue, *e)
	if !p.queued {
		p.queued = true
		c.queued = append(c.queued, p)
	}
}

// add adds a message to what is known of its side.
func (s *sideCount) add(e *entry) {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	binary.LittleEndian.PutUint64(s.hashed[:], uint64(e.time))
	copy(s.hashed[8:], e.digest[:])
	s.hash.Write(s.hashed[:])
	s.parts.Add(e.time, &e.digest)
}

// waits reports whether there are messages that the other side has not had.
func (s *sideCount) waits() bool { return s.head < len(s.queue) }

// fail notes that not all messages of the two sides are the same bytes.
func (p *pairCounts) fail() { p.shortcut.failed.Store(true) }

// failed reports whether the pair must be compared again.
func (p *pairCounts) failed() bool { return p.shortcut != nil && p.shortcut.failed.Load() }

// compare compares two messages of one time.
func (c *comparison) compare(p *pair, a, b *entry) {
	if b.flags&flagHash != 0 {
		if a.wire != b.wire || a.flags&flagBad != 0 {
			p.fail()
			return
		}
		b.digest, b.flags, b.seq, b.other, b.odd = a.digest, a.flags, a.seq, a.other, a.odd
		p.sides[1].add(b)
	}
	switch {
	case !a.becomes(b) && !b.becomes(a) || a.seq != b.seq || (a.flags^b.flags)&flagBad != 0 ||
		b.flags&^a.flags&flagOpen != 0:
		p.differ++
		if p.first == nil {
			at := a.time
			p.first = &Difference{Kind: KindContent, Index: p.index, Time: &at}
		}
	case a.raw != b.raw:
		p.recoded++
	}
	if a.raw != b.raw || !p.link.both {
		for i, e := range []*entry{a, b} {
			if e.flags&flagRest != 0 {
				p.sides[i].unknown++
			}
		}
	}
	if (a.flags|b.flags)&flagTime != 0 {
		p.wrapped++
	} else if a.odd != b.odd {
		p.reworded++
	}
	if (a.flags|b.flags)&flagText != 0 {
		p.replaced++
	}
	if a.publish != b.publish {
		p.published++
	}
	p.index++
}

// becomes reports whether a conversion of e to the encoding of o has the content of o.
func (e *entry) becomes(o *entry) bool {
	return e.digest == o.digest || e.flags&(flagTime|flagText) != 0 && e.other == binary.LittleEndian.Uint64(o.digest[:])
}

// flush ends a time: what is still in the queues has no counterpart.
func (c *comparison) flush() {
	for _, p := range c.queued {
		p.queued = false
		for side := range p.sides {
			s := &p.sides[side]
			for i := range s.queue[s.head:] {
				switch e := &s.queue[s.head+i]; {
				case p.shortcut != nil:
					p.fail()
				case c.storable(1-side, e.time):
					p.unmatched(side, e)
				default:
					s.messages--
					s.refused.Times++
				}
			}
			s.queue, s.head = s.queue[:0], 0
		}
	}
	c.queued = c.queued[:0]
}

// storable reports whether the format of a side can store a time.
func (c *comparison) storable(side int, ns int64) bool {
	f := c.side(side).Format
	return f.Holds.MinTime == 0 && f.Holds.MaxTime == 0 || f.Holds.MinTime <= ns && ns <= f.Holds.MaxTime
}

// unmatched notes a message that one side alone has.
func (p *pair) unmatched(side int, e *entry) {
	if p.shifted && p.first.Kind != kinds[side] && p.pending == e.digest {
		// It was not missing: it stands here, at another time.
		p.shifted = false
		was, is := *p.first.Time, e.time
		if side == 0 {
			was, is = is, was
		}
		p.first = &Difference{Kind: KindTime, Index: p.first.Index, Time: &was, Path: "log time", A: nsText(was),
			B: nsText(is)}
		return
	}
	if p.shifted && p.first.Kind != kinds[side] {
		p.shifted = false
	}
	p.differ++
	if p.first == nil {
		at := e.time
		p.first = &Difference{Kind: kinds[side], Index: p.index, Time: &at}
		p.shifted, p.pending = true, e.digest
	}
}

// kinds are the kinds for a message that only one side has.
var kinds = [2]Kind{KindMissing, KindExtra}

// sum returns the content hash, when all messages have passed.
func (s *sideCount) sum() string {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	if s.text == "" {
		s.text = hex.EncodeToString(s.hash.Sum(nil))
	}
	return s.text
}

// nsText returns a time as seconds with nine digits after the point.
func nsText(ns int64) string {
	sign := ""
	u := uint64(ns)
	if ns < 0 {
		sign, u = "-", -u
	}
	return fmt.Sprintf("%s%d.%09d", sign, u/1e9, u%1e9)
}
