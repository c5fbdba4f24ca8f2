package verify

import (
	"context"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A comparison is one run.
type comparison struct {
	job      *Job
	sources  []*recording.Source
	again    map[string]bool // the names to compare once more; nil: all are compared, for the first time
	reversed bool            // types are mapped from B to A, and not from A to B
	info     [2]*storage.Info
	chosen   [2][]bool
	times    [2]selection.Window
	counts   [2][]int64 // messages of each topic by the index; nil: it is not known, or not all are read
	link     *linker
	pairs    []*pair
	extras   [2]extras.Digests // of the first comparison
	places   [2]bool           // whether a side has a place for extras
	queued   []*pair           // with queues that are not empty
	alones   [2]map[sum]string // names of the topics that a side does not have, when they were first needed
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

func (c *comparison) query(i int) recording.Query {
	s := c.side(i)
	q := recording.Query{Select: s.Select, Edit: s.Edit, Threads: c.job.Threads}
	if c.job.Level == Counts { // at the others a time is judged when the other side does not have it
		q.Limits = c.side(1 - i).Format
	}
	return q
}

// run reads both sides at once.
func (c *comparison) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	feeds := [2]*feed{newFeed(0), newFeed(1)}
	meter := newMeter(c.job.Progress)
	var wg sync.WaitGroup
	for i, f := range feeds {
		q := c.query(i)
		q.Progress = meter.side(i)
		if c.again == nil {
			q.End = func(r storage.Reader) error { return c.readExtras(ctx, i, r) }
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			f.run(ctx, c.sources[i], q)
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

// undecided lists the topics whose shortcut has failed.
func (c *comparison) undecided() map[string]bool {
	names := map[string]bool{}
	for _, p := range c.pairs {
		if p.failed() {
			names[p.name()] = true
		}
	}
	return names
}

// compareAgain compares the topics with these names once more, without a shortcut. The new pairs for which want is
// true replace the old ones.
func (c *comparison) compareAgain(
	ctx context.Context, names map[string]bool, reversed bool, want func(*pair) bool,
) error {
	if len(names) == 0 {
		return nil
	}
	again := &comparison{job: c.job, sources: c.sources, again: names, reversed: reversed}
	if err := again.run(ctx); err != nil {
		return err
	}
	named := map[string][]*pair{}
	for _, o := range again.pairs {
		if want(o) {
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
	return nil
}

// same reports whether two pairs are of the same groups.
func (p *pair) same(o *pair) bool {
	for i, g := range p.groups {
		if h := o.groups[i]; (g == nil) != (h == nil) || g != nil && (g.name != h.name ||
			g.members[0].topic.ID != h.members[0].topic.ID) {
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
			c.info[i], c.chosen[i] = got.info, got.chosen
			c.times[i] = c.side(i).times(got.info)
			c.counts[i] = c.side(i).indexed(got.info)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var known [2]mapping.Known
	for i, info := range c.info {
		c.places[i] = storage.ReaderCapabilities(c.sources[i].Reader).Extras != nil
		var err error
		if known[i], err = c.sources[i].Known(ctx, info); err != nil {
			return err
		}
	}
	c.link = newLinker(c.job, c.info, c.chosen, known)
	if c.reversed {
		c.link.reversed = c.again
	}
	c.pairs = c.link.pairs()
	if c.again != nil {
		c.pairs = slices.DeleteFunc(c.pairs, func(p *pair) bool { return !c.again[p.name()] })
	}
	for _, p := range c.pairs {
		if c.again == nil && c.job.Level == Content && !c.job.apart && p.alike() {
			p.shortcut = &shortcut{}
		}
	}
	for i, f := range feeds {
		f.pairs = make([]*pair, len(c.info[i].Topics))
		plan := make([]recording.Topic, len(c.info[i].Topics))
		for k := range plan {
			plan[k].Drop = true
		}
		c.each(i, func(p *pair, k int, id storage.TopicID) {
			f.pairs[id] = p
			plan[id] = recording.Topic{Program: emptyProgram{}}
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

// emptyProgram is the program of a message whose content does not count.
type emptyProgram struct{}

func (emptyProgram) Append(dst, _ []byte) ([]byte, error) { return dst, nil }
func (emptyProgram) SizeHint(int) int                     { return 0 }
