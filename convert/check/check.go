// Package check reads a recording from end to end and reports what is wrong or odd
// in it: what the reader found (storage.Reader.Damage), and what only all
// messages together show.
//
//	r, err := format.Open(ctx, path, storage.ReadOptions{})
//	res, err := check.Run(ctx, r, check.Options{})
//	for _, f := range res.Findings { fmt.Println(f.Severity, f.Code, f.Message) }
//
// Looked at are the times of each topic (gaps, jumps back, repeated stamps), its
// definition (missing, contradicted by its hash, two of one type), and every
// message, which is decoded by its definition. A Contract adds what the
// recording must have. docs/check.md lists all codes.
//
// The work is done in two halves (recording.Read): workers decode on all
// cores (decode.go), and what depends on the order of messages is then done
// block by block in the order of the file (tracker.go, stream.go). So the
// findings are the same for any number of workers. Memory grows with the number
// of topics and not with that of messages.
//
// The recording is not changed. Run may be called concurrently for different
// readers.
package check

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// Options describe what counts as odd. The zero value has the defaults.
type Options struct {
	Threads     int             // 0: one per core
	Definitions []*defset.Set   // as convert.Job.Definitions
	Target      *mapping.Target // the definitions that programs have today: types that differ are findings; nil: none
	Distro      string          // whose standard definitions to take where the recording has none; "": its own, else mapping.DefaultDistro

	Gap         float64       // a gap is longer than this times the topic's median period; 0: DefaultGap
	StampOffset time.Duration // header stamps may be this far from the log time; 0: DefaultStampOffset

	Contract *Contract // what the recording must have; nil: nothing

	Progress func(recording.Progress)
}

// The defaults of Options.
const (
	DefaultGap         = 10
	DefaultStampOffset = time.Second
)

// A Result is what was found.
type Result struct {
	Info     *storage.Info       // after all was read
	Messages int64               // read
	Bytes    int64               // of message data
	Start    int64               // least log time, and
	End      int64               // the greatest; both 0 without messages
	Decoded  int64               // messages that fit their definition
	Topics   []Topic             // by name, then type, then encoding
	Timeline *recording.Timeline // of Topics, in their order
	Findings []Finding           // errors first, then warnings, then notes; numbered from 1
}

// A Topic describes all messages of one name, type and encoding.
type Topic struct {
	Name, Type, Encoding string

	Messages, Bytes int64
	First, Last     int64 // least and greatest log time; both 0 without messages
	Decoded         int64 // messages that fit their definition
	Undecodable     int64 // and those that do not

	// Period is the median time between two messages, ns, to 3 %; -1 when there
	// are too few. Regular is set if most are close to it.
	Period  int64
	Regular bool
	MaxGap  int64 // the longest time without a message between two, ns; -1 when it is not known
}

// Hz returns the mean rate of the messages, 0 if there are too few.
func (t *Topic) Hz() float64 { return hz(t.Messages, t.First, t.Last) }

func hz(n, first, last int64) float64 {
	if n < 2 || last <= first {
		return 0
	}
	return float64(n-1) / float64(sub(last, first)) * 1e9
}

// Run reads the whole of r and returns what it found. Nothing may have been read
// from r before. An error means that the recording could not be read to its end.
func Run(ctx context.Context, r storage.Reader, o Options) (*Result, error) {
	if o.Gap <= 0 {
		o.Gap = DefaultGap
	}
	if o.StampOffset <= 0 {
		o.StampOffset = DefaultStampOffset
	}
	src, err := recording.SourceOf(r, recording.Ref{Definitions: o.Definitions, Distro: o.Distro})
	if err != nil {
		return nil, err
	}
	c := &checker{o: o, info: src.Info}
	known, err := src.Known(ctx, src.Info)
	if err != nil {
		return nil, err
	}
	c.define(known)
	c.targetFindings(known)
	c.follow()
	c.times = recording.NewHistogram(len(c.streams))
	query := recording.Query{Order: recording.OrderFile, Threads: o.Threads, Progress: o.Progress}
	query.Edit.Latch = selection.NoLatch
	if _, err := src.Read(ctx, query, c); err != nil {
		return nil, err
	}
	c.info.Damage = r.Damage() // with what was met on the way
	res := c.result()
	if o.Contract != nil {
		c.findings = append(c.findings, o.Contract.check(res)...)
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	for i := range c.findings {
		c.findings[i].Number = i + 1
	}
	res.Findings = c.findings
	return res, nil
}

// A checker is one run.
type checker struct {
	o        Options
	info     *storage.Info
	decoders []*decoder // index = TopicID; nil: nothing can be decoded
	kinds    []*kind    // of definitions, in the order of their first topic
	tracks   []track    // index = TopicID
	streams  []*stream  // in the order of their first topic
	order    order
	times    *recording.Histogram // of streams, by their number
	findings []Finding
}

// Plan takes all topics. See recording.Visitor.
func (c *checker) Plan(info *storage.Info, _ []bool) ([]recording.Topic, error) {
	return make([]recording.Topic, len(info.Topics)), nil
}

// result draws the conclusions.
func (c *checker) result() *Result {
	res := &Result{Info: c.info}
	for _, s := range c.streams {
		if s.n > 0 {
			if res.Messages == 0 {
				res.Start, res.End = s.min, s.max
			}
			res.Start, res.End = min(res.Start, s.min), max(res.End, s.max)
		}
		res.Messages += s.n
		res.Bytes += s.bytes
	}
	c.readerFindings()
	c.definitionFindings()
	c.recordingFindings(res)
	c.lossFindings()

	slices.SortStableFunc(c.streams, func(a, b *stream) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.typ, b.typ), cmp.Compare(a.encoding, b.encoding))
	})
	res.Timeline = c.times.Timeline()
	numbered := res.Timeline.Counts
	res.Timeline.Counts = nil
	for _, s := range c.streams {
		res.Timeline.Counts = append(res.Timeline.Counts, numbered[s.number])
		t := Topic{Name: s.name, Type: s.typ, Encoding: s.encoding, Messages: s.n, Bytes: s.bytes,
			First: s.min, Last: s.max, Period: s.intervals.quantile(0.5), Regular: s.regular(), MaxGap: -1}
		if gaps, known := s.gaps(); known && len(gaps) > 0 {
			t.MaxGap = gaps[0].length()
		}
		c.streamFindings(s, &t, res)
		for _, id := range s.ids {
			k := &c.tracks[id]
			c.trackFindings(s, id, k)
			t.Decoded += k.decoded
			t.Undecodable += k.bad.n
		}
		res.Decoded += t.Decoded
		res.Topics = append(res.Topics, t)
	}
	return res
}
