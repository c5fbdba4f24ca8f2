package verify

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/extras"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// counted is what is known of a pair while its messages pass.
type counted struct {
	sides      [2]sideCount
	held       bool // it stands in comparison.held
	index      int64
	first      *Difference
	differ     int64
	shifted    bool              // first may turn out to be a message at another time
	pending    [sha256.Size]byte // that message
	published, // messages with another time of sending
	beyond, // messages with a time that the other encoding cannot hold
	replaced, // messages with text that the other encoding cannot hold
	recoded int64 // messages with other bytes and the same content
}

type sideCount struct {
	queue    []entry // messages at the time of now that the other side has not had yet
	head     int
	messages int64
	refused  engine.Refused
	unknown  int64 // messages with more than their definition, and not the same bytes on the other side
	hash     hash.Hash
	text     string                // of sum
	hashed   [8 + sha256.Size]byte // what goes into it of one message
	least    int64
	greatest int64
}

// A comparison is one run.
type comparison struct {
	job     *Job
	sources [2]*engine.Source
	turned  map[string]bool // the names to compare, the other way round; nil: all as they are
	info    [2]*storage.Info
	taken   [2][]bool
	times   [2]selection.Window
	counts  [2][]int64 // messages of each topic by the index; nil: it is not known, or not all are read
	link    *linker
	pairs   []*pair
	extras  [2]extras.Digests // of a comparison that is not turned
	held    []*pair           // with queues that are not empty
	alones  [2]map[sum]string // names of the topics that a side does not have, when they were first needed
}

func (job *Job) ignores(c Code) bool { return slices.Contains(job.Ignore, c) }
func (job *Job) exact(c Code) bool   { return slices.Contains(job.Exact, c) }

func (c *comparison) side(i int) *Side { return c.job.side(i) }

func (job *Job) side(i int) *Side {
	if i == 0 {
		return &job.A
	}
	return &job.B
}

func (c *comparison) stream(i int) engine.StreamJob {
	s := c.side(i)
	job := engine.StreamJob{Source: c.sources[i], Select: s.Select, Edit: s.Edit, Distro: c.job.Distro, Threads: c.job.Threads}
	if c.job.Level == Counts { // at the others a time is judged when the other side does not have it
		job.Limits = c.side(1 - i).Format
	}
	return job
}

// run reads both sides at once.
func (c *comparison) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	feeds := [2]*feed{newFeed(0), newFeed(1)}
	meter := newMeter(c.job.Progress)
	var wg sync.WaitGroup
	for i, f := range feeds {
		job := c.stream(i)
		job.Progress = meter.side(i)
		if c.turned == nil {
			job.End = func(r storage.Reader) error { return c.readExtras(ctx, i, r) }
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			f.run(ctx, job)
			if f.err != nil {
				cancel(c.side(i).explain(f.err))
			}
		}()
	}
	if err := c.start(ctx, feeds); err == nil {
		c.merge(feeds)
	} else {
		cancel(err)
	}
	for _, f := range feeds {
		for range f.batches { // it ends, as ctx is cancelled or all is read
		}
	}
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause // of both, the one that failed first
	}
	for i, f := range feeds {
		c.info[i] = f.result.Info
		c.countIndex(i, f)
		c.each(i, func(p *pair, k int, id storage.TopicID) {
			p.sides[i].unknown += p.link.unknown(i, k)
			p.sides[i].refused.Messages += f.result.Refused[id].Messages
			p.sides[i].refused.Times += f.result.Refused[id].Times
		})
	}
	return c.locate(ctx)
}

// doubtful lists the topics whose types a conversion maps to each other, and that
// differ: the side that was taken for what the other was made from may be the wrong
// one.
func (c *comparison) doubtful() map[string]bool {
	names := map[string]bool{}
	for _, p := range c.pairs {
		if p.link != nil && p.link.from >= 0 && p.first != nil && c.job.Level == Content {
			names[p.name()] = true
		}
	}
	return names
}

// adopt takes over those topics that are equal the other way round.
func (c *comparison) adopt(turned *comparison) {
	named := map[string][]*pair{}
	for _, o := range turned.pairs {
		if o.first == nil {
			named[o.name()] = append(named[o.name()], o)
		}
	}
	for i, p := range c.pairs {
		for _, o := range named[p.name()] {
			if o.same(p) {
				c.pairs[i] = o
			}
		}
	}
}

// same tells pairs of the same groups.
func (p *pair) same(o *pair) bool {
	for i, g := range p.groups {
		if h := o.groups[i]; (g == nil) != (h == nil) || g != nil && (g.name != h.name || g.members[0].topic.ID != h.members[0].topic.ID) {
			return false
		}
	}
	return true
}

// start waits for both descriptions, pairs the topics, and lets the streams go.
func (c *comparison) start(ctx context.Context, feeds [2]*feed) error {
	for i, f := range feeds {
		select {
		case got := <-f.infos:
			c.info[i], c.taken[i] = got.info, got.taken
			c.times[i] = c.side(i).times(got.info)
			c.counts[i] = c.side(i).indexed(got.info)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c.link = newLinker(c.job, c.info, c.taken, c.turned)
	c.pairs = c.link.pairs()
	if c.turned != nil {
		c.pairs = slices.DeleteFunc(c.pairs, func(p *pair) bool { return !c.turned[p.name()] })
	}
	for i, f := range feeds {
		f.pairs = make([]*pair, len(c.info[i].Topics))
		plan := make([]engine.StreamTopic, len(c.info[i].Topics))
		for k := range plan {
			plan[k].Drop = true
		}
		c.each(i, func(p *pair, k int, id storage.TopicID) {
			f.pairs[id] = p
			plan[id] = engine.StreamTopic{Program: nothing{}}
			if c.job.Level != Counts {
				plan[id].Program = p.program(i, k, false)
			}
		})
		f.plan <- plan
	}
	return nil
}

// each calls f for every topic of a side, with the number of its program.
func (c *comparison) each(side int, f func(p *pair, k int, id storage.TopicID)) {
	for _, p := range c.pairs {
		if p.groups[side] == nil {
			continue
		}
		for k, m := range p.groups[side].members {
			f(p, k, m.topic.ID)
		}
	}
}

// nothing is the program of a message whose content does not count.
type nothing struct{}

func (nothing) Append(dst, _ []byte) ([]byte, error) { return dst, nil }
func (nothing) SizeHint(int) int                     { return 0 }

// merge takes the entries of both sides in order of time. Those of one time meet
// in the queues of their pair; what is left there when the time has passed has no
// counterpart.
func (c *comparison) merge(feeds [2]*feed) {
	var now int64
	turn := 0
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
			side, turn = turn, 1-turn
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
	s, o := &p.sides[side], &p.sides[1-side]
	if s.messages == 0 {
		s.least = e.time
	}
	s.greatest = e.time
	s.messages++
	if c.job.Level == Counts {
		return
	}
	if s.hash == nil {
		s.hash = sha256.New()
	}
	binary.LittleEndian.PutUint64(s.hashed[:], uint64(e.time))
	copy(s.hashed[8:], e.digest[:])
	s.hash.Write(s.hashed[:])
	if p.groups[1-side] == nil || p.link == nil {
		return
	}
	if o.head < len(o.queue) {
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
	if !p.held {
		p.held = true
		c.held = append(c.held, p)
	}
}

// compare compares two messages of one time.
func (c *comparison) compare(p *pair, a, b *entry) {
	switch {
	case !a.becomes(b) && !b.becomes(a) || a.seq != b.seq || (a.flags^b.flags)&flagBad != 0 || b.flags&^a.flags&flagOpen != 0:
		p.differ++
		if p.first == nil {
			p.first = &Difference{Kind: KindContent, Index: p.index, Time: a.time}
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
		p.beyond++
	}
	if (a.flags|b.flags)&flagText != 0 {
		p.replaced++
	}
	if a.publish != b.publish {
		p.published++
	}
	p.index++
}

// becomes tells whether a conversion of e to the encoding of o has the content of o.
func (e *entry) becomes(o *entry) bool {
	return e.digest == o.digest || e.flags&(flagTime|flagText) != 0 && e.held == binary.LittleEndian.Uint64(o.digest[:])
}

// flush ends a time: what is still in the queues has no counterpart.
func (c *comparison) flush() {
	for _, p := range c.held {
		p.held = false
		for side := range p.sides {
			s := &p.sides[side]
			for i := range s.queue[s.head:] {
				if e := &s.queue[s.head+i]; c.storable(1-side, e.time) {
					p.unmatched(side, e)
				} else {
					s.messages--
					s.refused.Times++
				}
			}
			s.queue, s.head = s.queue[:0], 0
		}
	}
	c.held = c.held[:0]
}

// storable tells whether the format of a side can store a time.
func (c *comparison) storable(side int, ns int64) bool {
	f := c.side(side).Format
	return f.MinTime == 0 && f.MaxTime == 0 || f.MinTime <= ns && ns <= f.MaxTime
}

// unmatched notes a message that one side alone has.
func (p *pair) unmatched(side int, e *entry) {
	if p.shifted && p.first.Kind != kinds[side] && p.pending == e.digest {
		// It was not missing: it stands here, at another time.
		p.shifted = false
		was, is := p.first.Time, e.time
		if side == 0 {
			was, is = is, was
		}
		p.first = &Difference{Kind: KindTime, Index: p.first.Index, Time: was, Path: "log time", A: nsText(was), B: nsText(is)}
		return
	}
	if p.shifted && p.first.Kind != kinds[side] {
		p.shifted = false
	}
	p.differ++
	if p.first == nil {
		p.first = &Difference{Kind: kinds[side], Index: p.index, Time: e.time}
		p.shifted, p.pending = true, e.digest
	}
}

// kinds are those of a message that one side alone has.
var kinds = [2]Kind{KindMissing, KindExtra}

// sum is the content hash, when all messages have passed.
func (s *sideCount) sum() string {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	if s.text == "" {
		s.text = hex.EncodeToString(s.hash.Sum(nil))
	}
	return s.text
}

// nsText is a time as seconds with nine digits behind the point.
func nsText(ns int64) string {
	sign := ""
	u := uint64(ns)
	if ns < 0 {
		sign, u = "-", -u
	}
	return fmt.Sprintf("%s%d.%09d", sign, u/1e9, u%1e9)
}
