package report

import (
	"context"
	"math"
	"slices"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

// How much --quick reads.
const (
	quickSamples = 64  // moments at which plots and tracks have a message
	quickRows    = 300 // messages that are looked at for a moment, until all topics have one
	quickStatic  = 20  // lists of static transforms
)

// glance takes what the index has, and samples of the messages that make plots, tracks and the tree.
func (g *gatherer) glance(ctx context.Context) error {
	in, rec := g.info, g.rec
	rec.Messages, rec.Bytes = in.Messages, -1
	g.spans = make([]timeSpan, len(g.streams))
	for i, s := range g.streams {
		g.spans[i] = timeSpan{count: s.messages}
		if s.messages > 0 {
			g.spans[i].first, g.spans[i].last = in.Start, in.End
		}
	}
	res := &check.Result{Findings: []check.Finding{}}
	for _, w := range in.Warnings {
		f := check.Finding{Number: len(res.Findings) + 1, Severity: check.Warning, Code: w.Code, Count: 1, Message: w.Message,
			Hint: w.Hint}
		if res.Warnings++; w.Damage {
			f.Severity = check.Error
			res.Warnings, res.Errors = res.Warnings-1, res.Errors+1
		}
		res.Findings = append(res.Findings, f)
	}
	slices.SortStableFunc(res.Findings, func(a, b check.Finding) int { return int(b.Severity) - int(a.Severity) })
	g.addFindings(res)
	g.note("findings of messages, gaps and bursts: --quick reads no more than the index and samples")
	if in.Messages > 0 {
		g.period(in.Start, in.End)
		if err := g.shareOut(ctx); err != nil {
			return err
		}
		if err := g.sampleAll(ctx); err != nil {
			return err
		}
	}
	list := make([]check.Topic, len(g.streams))
	for i, s := range g.streams {
		x := g.spans[i]
		list[i] = check.Topic{Name: s.topic.Name, Type: s.topic.Type, Encoding: s.topic.Encoding, Messages: x.count,
			Bytes: -1, First: x.first, Last: x.last}
		if d := less(x.last, x.first); x.count > 2 && d > 0 {
			period := d / (x.count - 1)
			list[i].Period = &period
		}
	}
	g.addTopics(list)
	return nil
}

// shareOut counts the messages of a topic as if they were spread evenly over the blocks that have the topic.
func (g *gatherer) shareOut(ctx context.Context) error {
	from := storage.ReaderCapabilities(g.r).Blocks
	var blocks []storage.Block
	if from != nil {
		var err error
		if blocks, _, err = from.Blocks(ctx, nil); err != nil {
			return err
		}
	}
	blocks = slices.DeleteFunc(blocks, func(b storage.Block) bool { return !b.Timed || b.Messages == 0 })
	if len(blocks) == 0 {
		g.note("when topics have messages: the index does not have that")
		return nil
	}
	g.note("exact times of messages: rates and bins are of the blocks that have the topic")
	g.times.at(g.info.Start)
	g.times.cover(g.info.End)
	of := make([][]int, len(g.streams)) // blocks
	for i := range blocks {
		if len(blocks[i].Topics) == 0 { // it may have any
			for k := range of {
				of[k] = append(of[k], i)
			}
			continue
		}
		for _, id := range blocks[i].Topics {
			if k := g.rows[id]; len(of[k]) == 0 || of[k][len(of[k])-1] != i {
				of[k] = append(of[k], i)
			}
		}
	}
	for k, list := range of {
		g.shareRow(k, blocks, list)
	}
	return nil
}

// shareRow spreads the messages of a stream over blocks.
func (g *gatherer) shareRow(row int, blocks []storage.Block, list []int) {
	x := &g.spans[row]
	if x.count == 0 || len(list) == 0 {
		return
	}
	x.first, x.last = math.MaxInt64, math.MinInt64
	each, done := float64(x.count)/float64(len(list)), 0.0
	for _, i := range list {
		b := &blocks[i]
		first, last := max(b.Start, g.info.Start), min(b.End, g.info.End)
		if first > last {
			first, last = g.info.Start, g.info.End // a block of a wrong index
		}
		x.first, x.last = min(x.first, first), max(x.last, last)
		from, to := g.times.key(first), g.times.key(last)
		for bin := from; bin <= to; bin++ {
			before := math.Floor(done + 1e-6)
			done += each / float64(to-from+1)
			g.times.put(row, bin, uint32(math.Floor(done+1e-6)-before))
		}
	}
}

// cover widens a histogram without messages to a time.
func (h *histogram) cover(t int64) { h.at(t) }

// put counts messages of a stretch.
func (h *histogram) put(row int, k int64, n uint32) {
	if n == 0 || k < h.first || k > h.last {
		return
	}
	if h.rows[row] == nil {
		h.rows[row] = make([]uint32, h.size)
	}
	h.rows[row][k&(h.size-1)] += n
}

// sampleAll reads messages of all topics with plots, tracks or transforms, at moments all over the recording.
func (g *gatherer) sampleAll(ctx context.Context) error {
	query := storage.ReaderCapabilities(g.r).Query
	var ids, static []storage.TopicID
	for _, s := range g.streams {
		switch {
		case s.edges != nil && s.static:
			static = append(static, s.ids...)
		case len(s.looks) > 0 || s.edges != nil:
			ids = append(ids, s.ids...)
		}
	}
	if len(ids)+len(static) == 0 {
		return nil
	}
	if query == nil {
		g.doubt("plots, tracks and transforms: the format has no index of times")
		return nil
	}
	x := &sampler{g: g, query: query, seen: make([]int, len(g.of))}
	if len(static) > 0 {
		err := x.take(ctx, storage.Query{Topics: static, Limit: quickStatic}, 0)
		if err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	moments := spread(g.info.Start, g.info.End, quickSamples)
	for i := range moments[1:] {
		if g.spentEnough() {
			g.note("%d of %d samples of plots and tracks, as they would read too much", len(moments)-1-i, len(moments)-1)
			break
		}
		k := scattered(i, quickSamples)
		q := storage.Query{Topics: ids, Start: moments[k], End: moments[k+1] - 1, Limit: quickRows}
		if q.End < q.Start {
			continue
		}
		if err := x.take(ctx, q, len(ids)); err != nil {
			return err
		}
	}
	g.note("most messages in plots and tracks: --quick takes %d at most of each topic", quickSamples)
	return nil
}

// spread returns the beginnings of n equal parts of a time, and the time after its end.
func spread(first, last int64, n int) []int64 {
	step := (float64(last) - float64(first) + 1) / float64(n)
	list := make([]int64, n+1)
	for i := range n {
		list[i] = first + int64(step*float64(i))
	}
	list[n] = last
	if last < math.MaxInt64 {
		list[n]++
	}
	return list
}

// scattered returns number i of the numbers below n, a power of two, in an order in which the first of them are
// far apart.
func scattered(i, n int) (k int) {
	for n > 1 {
		n /= 2
		k += i % 2 * n
		i /= 2
	}
	return k
}

// A sampler takes messages of queries.
type sampler struct {
	g     *gatherer
	query storage.Querier
	seen  []int // index = TopicID: the number of the last query that took a message of it
	n     int
	made  any
}

// take takes the first message of each topic, until all of them had one; all messages if topics is 0.
func (x *sampler) take(ctx context.Context, q storage.Query, topics int) error {
	x.n++
	found := 0
	for m, err := range x.query.Query(ctx, q) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			x.g.doubt("some samples of plots and tracks: %v", err)
			return nil
		case topics > 0 && x.seen[m.Topic] == x.n:
			continue
		}
		x.seen[m.Topic] = x.n
		one := []storage.Message{*m}
		if x.made, err = (pass{x.g}).Work(storage.Block{Offset: -1}, one, x.made); err != nil {
			return err
		}
		x.g.take(one, x.made.(*sights))
		if found++; found == topics {
			return nil
		}
	}
	return nil
}

// spentEnough reports whether --quick has read as much as it may.
func (g *gatherer) spentEnough() bool {
	return g.o.Quick && g.o.Read != nil && g.o.Read() > max(g.info.Size/quickShare, quickLeast)
}

// What --quick reads at most before it takes no more samples: a part of the recording, or some bytes if that is more.
const (
	quickShare = 30
	quickLeast = 64 << 20
)
