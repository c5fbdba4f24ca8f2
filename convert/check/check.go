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
// The work is done in two halves (recording.Read): workers decode on all cores (decode.go), and
// what depends on the order of messages is then done block by block in the order of the file
// (tracker.go, stream.go). So the findings are the same for any number of workers. Memory grows
// with the number of topics and not with the number of messages.
//
// The recording is not changed. Run may be called concurrently for different
// readers.
package check

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// Options describe what counts as odd. The zero value has the defaults.
type Options struct {
	Threads     int             // 0: one per core
	Definitions []*defset.Set   // as convert.Job.Definitions
	Target      *mapping.Target // the definitions that programs have today: types that differ are findings; nil: none
	// whose standard definitions to take where the recording has no definitions; "": its own, else
	// mapping.DefaultDistro
	Distro string

	Gap         float64       // a gap is longer than this times the topic's median period; 0: DefaultGap
	StampOffset time.Duration // header stamps may be this far from the log time; 0: DefaultStampOffset

	Contract *Contract // what the recording must have; nil: nothing

	// Also sees all messages besides, in the order of the file; nil: nobody does. Its Plan decides nothing.
	Also recording.Visitor

	Progress func(recording.Progress)
}

// A Timeline is how many messages the topics have over time.
type Timeline = recording.Timeline

// The defaults of Options.
const (
	DefaultGap         = 10
	DefaultStampOffset = time.Second
)

// A Result is what was found.
type Result struct {
	Path     string        `json:"path"`            // as of Info, as are Format, Version and Size
	Error    string        `json:"error,omitempty"` // why it cannot be read; never set by Run, which returns an error
	Format   string        `json:"format"`
	Version  string        `json:"version"`
	Size     int64         `json:"size"`
	Info     *storage.Info `json:"-"`        // after all was read
	Messages int64         `json:"messages"` // read
	Bytes    int64         `json:"-"`        // of message data
	Decoded  int64         `json:"decoded"`  // messages that fit their definition
	// least log time, ns since 1970; nil without messages, as the next two
	Start    *int64 `json:"start_ns,string"`
	End      *int64 `json:"end_ns,string"`      // the greatest
	Duration *int64 `json:"duration_ns,string"` // from Start to End
	Errors   int    `json:"errors"`             // findings of each severity
	Warnings int    `json:"warnings"`
	Notes    int    `json:"notes"`

	Findings []Finding           `json:"findings"` // errors first, then warnings, then notes; numbered from 1
	Topics   []Topic             `json:"topics"`   // by name, then type, then encoding
	Timeline *recording.Timeline `json:"timeline"` // of Topics, in their order; nil without messages
}

// Reaches reports whether there is a finding of a severity, or a worse one.
func (r *Result) Reaches(s Severity) bool {
	return r.Errors > 0 || r.Warnings > 0 && s <= Warning || r.Notes > 0 && s <= Note
}

// A Topic describes all messages of one name, type and encoding.
type Topic struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Encoding string `json:"encoding"`

	Messages    int64 `json:"count"`
	Bytes       int64 `json:"bytes"`
	First       int64 `json:"-"`           // least log time,
	Last        int64 `json:"-"`           // and the greatest; both 0 without messages
	Decoded     int64 `json:"decoded"`     // messages that fit their definition
	Undecodable int64 `json:"undecodable"` // and messages that do not

	// Hz is the mean rate of the messages, to 0.001; nil when there are too few. Period is the median time
	// between two, ns, to 3 %; nil when there are too few. Regular is set if most are close to it.
	Hz     *float64 `json:"hz_mean"`
	Period *int64   `json:"period_ns,string"`
	// the longest time without a message between two, ns; nil when it is not known
	MaxGap  *int64 `json:"max_gap_ns,string"`
	Regular bool   `json:"regular"`

	// Gaps are the times without a message that are findings, from one log time to another, the longest first. There
	// are some 64 at most.
	Gaps [][2]int64 `json:"-"`
}

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
	src := recording.SourceOf(r, recording.Ref{Definitions: o.Definitions, Distro: o.Distro})
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
	if _, err := src.Read(ctx, query, recording.Both(c, o.Also)); err != nil {
		return nil, err
	}
	c.info.Damage = r.Damage() // with what was met on the way
	res := c.result()
	if o.Contract != nil {
		c.findings = append(c.findings, breaches(o.Contract, res)...)
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	for i := range c.findings {
		c.findings[i].Number = i + 1
		*[]*int{&res.Notes, &res.Warnings, &res.Errors}[c.findings[i].Severity]++
	}
	res.Findings = append(res.Findings, c.findings...)
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
	in := c.info
	res := &Result{Path: in.Path, Format: in.Format, Version: in.Version, Size: in.Size, Info: in, Findings: []Finding{},
		Topics: []Topic{}}
	start, end := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range c.streams {
		if s.n > 0 {
			start, end = min(start, s.min), max(end, s.max)
		}
		res.Messages += s.n
		res.Bytes += s.bytes
	}
	if duration := end - start; res.Messages > 0 {
		res.Start, res.End, res.Duration = &start, &end, &duration
	}
	c.readerFindings()
	c.definitionFindings()
	c.recordingFindings(res)
	c.lossFindings()

	slices.SortStableFunc(c.streams, func(a, b *stream) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.typ, b.typ), cmp.Compare(a.encoding, b.encoding))
	})
	var numbers [][]int
	for _, s := range c.streams {
		numbers = append(numbers, []int{s.number})
		t := Topic{Name: s.name, Type: s.typ, Encoding: s.encoding, Messages: s.n, Bytes: s.bytes, First: s.min, Last: s.max,
			Regular: s.regular()}
		if rate := hz(t.Messages, t.First, t.Last); rate > 0 {
			rate = math.Round(rate*1000) / 1000
			t.Hz = &rate
		}
		if period := s.intervals.quantile(0.5); period >= 0 {
			t.Period = &period
		}
		if gaps, known := s.gaps(); known && len(gaps) > 0 {
			longest := gaps[0].length()
			t.MaxGap = &longest
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
	res.Timeline = recording.Grouped(c.times.Timeline(), numbers)
	return res
}
