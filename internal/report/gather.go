package report

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// Options say what is gathered.
type Options struct {
	Name  string        // of the recording
	Path  string        // to show; without passwords of URLs
	Check check.Options // but for Also
	Plots []FieldName   // to plot; nil: the fields of well-known types
	Quick bool          // reads the index, and samples of messages
	Read  func() int64  // how many bytes were read so far, for Quick; nil: nobody knows
}

// Gather gathers what the report says of an open recording of which nothing was read. doubts are the lines of LeftOut
// that the user should hear of at once.
func Gather(ctx context.Context, r storage.Reader, o Options) (rec *Recording, doubts []string, err error) {
	g := &gatherer{o: o, r: r, info: r.Info(), all: map[string]int{}, edges: map[edgeKey]*edge{}}
	g.rec = &Recording{Name: o.Name, Path: o.Path, Quick: o.Quick, Plots: []Plot{}, Tracks: []Track{}, LeftOut: []string{},
		Losses: []string{}}
	if err := g.open(ctx); err != nil {
		return nil, nil, err
	}
	if o.Quick {
		err = g.glance(ctx)
	} else {
		err = g.readAll(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if g.rec.Cameras, err = g.cameras(ctx); err != nil {
		return nil, nil, err
	}
	if g.rec.Clouds, err = g.clouds(ctx); err != nil {
		return nil, nil, err
	}
	g.draw()
	g.describe()
	g.sayLeft()
	return g.rec, g.doubts, nil
}

// A gatherer is a Recording in the making.
type gatherer struct {
	o      Options
	r      storage.Reader
	info   *storage.Info
	rec    *Recording
	known  mapping.Known
	mapper *mapping.Mapper
	start  int64 // ns since 1970: what times of the report are counted from

	streams []*stream // by name, type and encoding
	of      []*stream // index = TopicID
	rows    []int32   // index = TopicID: the stream's place in streams
	looks   []*look
	curves  []*curve // of rec.Plots
	trails  []*trail
	edges   map[edgeKey]*edge
	times   *histogram // of streams
	spans   []timeSpan // of streams, when they are known

	moreEdges int64
	left, all map[string]int // by what: how many are left out, and of how many
	texts     atomic.Int64   // that were cut
	written   atomic.Int64   // bytes of all texts
	doubts    []string
}

// A timeSpan is the least and greatest log time of a stream.
type timeSpan struct {
	count       int64
	first, last int64
}

// open prepares what all ways of reading have in common.
func (g *gatherer) open(ctx context.Context) (err error) {
	c := &g.o.Check
	if g.known, err = mapping.Look(ctx, g.r, g.info, c.Definitions, c.Distro); err != nil {
		return err
	}
	o := g.known.Options()
	o.Encoding = "cdr"
	g.mapper = mapping.New(o)
	if g.info.Messages > 0 {
		g.start = g.info.Start
	}
	g.listStreams()
	g.rows = make([]int32, len(g.of))
	place := make(map[*stream]int32, len(g.streams))
	for i, s := range g.streams {
		place[s] = int32(i)
	}
	for i, s := range g.of {
		g.rows[i] = place[s]
	}
	cells := maxCells / max(1, min(len(g.streams), mostTopics))
	g.times = newHistogram(len(g.streams), int64(min(max(cells, leastBins), mostBins)), g.start)
	g.plan()
	return nil
}

// readAll reads all messages once.
func (g *gatherer) readAll(ctx context.Context) error {
	o := g.o.Check
	o.Also = pass{g}
	res, err := check.Run(ctx, g.r, o)
	if err != nil {
		return err
	}
	g.info = res.Info
	rec := g.rec
	rec.Messages, rec.Bytes = res.Messages, res.Bytes
	if res.Start != nil {
		g.start = *res.Start
		g.period(*res.Start, *res.End)
	}
	g.spans = make([]timeSpan, len(res.Topics))
	for i := range res.Topics { // in the order of streams
		t := &res.Topics[i]
		g.spans[i] = timeSpan{t.Messages, t.First, t.Last}
	}
	g.addFindings(res)
	g.addTopics(res.Topics)
	return nil
}

// period sets the times of the recording.
func (g *gatherer) period(start, end int64) {
	g.rec.Begin, g.rec.Finish = moment(start), moment(end)
	g.rec.Duration = secondsOf(less(end, start))
}

// workers returns how many goroutines read samples.
func (g *gatherer) workers() int {
	if n := g.o.Check.Threads; n > 0 {
		return n
	}
	return min(runtime.GOMAXPROCS(0), 4)
}

// row returns the place of a stream.
func (g *gatherer) row(s *stream) int { return int(g.rows[s.ids[0]]) }

// count returns how many messages a stream has.
func (g *gatherer) count(s *stream) int64 { return g.spans[g.row(s)].count }

// span returns the least and greatest log time of a stream.
func (g *gatherer) span(s *stream) (first, last int64) {
	x := g.spans[g.row(s)]
	return x.first, x.last
}

// addFindings takes the findings, the worst first.
func (g *gatherer) addFindings(res *check.Result) {
	rec := g.rec
	rec.Errors, rec.Warnings, rec.Notes = res.Errors, res.Warnings, res.Notes
	rec.Findings = make([]Finding, 0, min(len(res.Findings), mostFindings))
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Code == "topic-lost" && len(rec.Losses) < mostLines {
			rec.Losses = append(rec.Losses, g.sentence(f.Topic+": "+f.Message))
		}
		if i >= mostFindings {
			continue
		}
		out := Finding{Number: f.Number, Severity: f.Severity.String(), Code: f.Code, Topic: g.text(f.Topic), Count: f.Count,
			Message: g.sentence(f.Message), Hint: g.sentence(f.Hint)}
		if f.Time != nil {
			t := g.seconds(*f.Time)
			out.Time = &t
		}
		rec.Findings = append(rec.Findings, out)
	}
	if n := len(res.Findings) - len(rec.Findings); n > 0 {
		g.leave("finding", n)
		g.all["finding"] = len(res.Findings)
	}
}

// addTopics takes the topics, but for those with the fewest messages if there are too many.
func (g *gatherer) addTopics(list []check.Topic) {
	least := int64(0)
	if n := len(list) - mostTopics; n > 0 {
		counts := make([]int64, 0, len(list))
		for i := range list {
			counts = append(counts, list[i].Messages)
		}
		slices.Sort(counts)
		least = counts[n]
		g.leave("topic", n)
		g.all["topic"] = len(list)
	}
	g.rec.BinWidth = g.times.width() / 1e9
	g.rec.BinStart = secondsOf(less(g.times.origin, g.start)) + float64(g.times.first)*g.rec.BinWidth
	g.rec.Topics = make([]Topic, 0, min(len(list), mostTopics))
	above := 0
	for i := range list {
		if list[i].Messages > least {
			above++
		}
	}
	ties := mostTopics - above // of those with exactly so many messages
	for i := range list {
		t := &list[i]
		if t.Messages < least || t.Messages == least && ties <= 0 {
			continue
		}
		if t.Messages == least {
			ties--
		}
		g.rec.Topics = append(g.rec.Topics, g.topic(t, g.times.bins(i)))
	}
}

// topic describes a topic.
func (g *gatherer) topic(t *check.Topic, bins []uint32) Topic {
	out := Topic{Name: g.text(t.Name), Type: g.text(t.Type), Encoding: g.text(t.Encoding), Messages: t.Messages,
		Bytes: t.Bytes, Rate: rateOf(t), Bins: bins, Gaps: []Span{}, Bursts: []Span{}}
	if t.Messages > 0 {
		out.First, out.Last = g.seconds(t.First), g.seconds(t.Last)
	}
	for _, x := range t.Gaps[:min(len(t.Gaps), mostSpans)] {
		out.Gaps = append(out.Gaps, Span{g.seconds(x[0]), g.seconds(x[1])})
	}
	if t.Regular {
		out.Bursts = g.bursts(bins, out.Rate)
	}
	out.Expected = g.expected(t.Name)
	return out
}

// rateOf returns the rate of a topic: the mean between its gaps if the median agrees with it to 4 %, and else the
// median, which is known to 3 %.
func rateOf(t *check.Topic) float64 {
	if t.Messages < 3 || t.Period == nil || *t.Period <= 0 {
		return 0
	}
	median := 1e9 / float64(*t.Period)
	n, time := float64(t.Messages-1-int64(len(t.Gaps))), float64(t.Last)-float64(t.First)
	for _, x := range t.Gaps {
		time -= float64(x[1]) - float64(x[0])
	}
	if mean := n / time * 1e9; n > 0 && time > 0 && math.Abs(mean/median-1) < 0.04 {
		median = mean
	}
	return round(median, 1e3)
}

// bursts returns the stretches with more than three times the messages that the rate says.
func (g *gatherer) bursts(bins []uint32, rate float64) []Span {
	list := []Span{}
	limit := max(3*rate*g.rec.BinWidth, 10)
	for i, n := range bins {
		if float64(n) <= limit {
			continue
		}
		from := g.rec.BinStart + float64(i)*g.rec.BinWidth
		if k := len(list) - 1; k >= 0 && i > 0 && float64(bins[i-1]) > limit {
			list[k].To = from + g.rec.BinWidth
		} else if len(list) < mostSpans {
			list = append(list, Span{from, from + g.rec.BinWidth})
		}
	}
	return list
}
