package engine

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// A StreamJob describes which recording to stream, and how. The zero value of all but
// the first two is the default.
type StreamJob struct {
	Path   string
	Format *storage.Format
	Read   storage.ReadOptions

	// Source, when set, is the recording: it is open, and stays so. Stream is then to be
	// called in Retry, with all that is read together.
	Source *Source

	Select      selection.Selection
	Edit        selection.Edit  // but for RestampLog, which changes messages
	Definitions []*defset.Set   // as convert.Job.Definitions
	Distro      string          // as convert.Job.Distro
	Limits      *storage.Format // messages at times that it cannot store are left out; nil: none
	Order       Order
	Known       func(mapping.Known) // when set, is called before the plan with what is known about definitions
	Expected    int64               // about how many messages write takes before it returns ErrEnough; 0: all
	Threads     int                 // workers; 0 is one per core, 12 at most
	Progress    func(Progress)

	// Pick, when set, has the index find the messages: its Reverse, Skip and NoData define which, in the order of
	// time; topics and times are those of Select. They are read one after the other, until ErrEnough. An
	// error that wraps storage.ErrUnsupported means that the format has no such index.
	Pick *storage.Query

	// End, if set, is called with the recording after its messages were read, for its
	// attachments and metadata records.
	End func(storage.Reader) error
}

// A StreamTopic describes what becomes of the messages of a topic.
type StreamTopic struct {
	Skip    bool            // they are not selected; blocks that have no others may be skipped
	Drop    bool            // they are read, and left out
	Program mapping.Program // runs in the workers, in any order; nil: the bytes as they are
}

// A StreamPlan is Visitor.Plan.
type StreamPlan func(info *storage.Info, selected []bool) ([]StreamTopic, error)

// A StreamResult is what is known at the end of a stream.
type StreamResult struct {
	Info    *storage.Info // with the damage met on the way
	Refused []Refused     // index = TopicID
}

// Refused counts the messages of a topic that were left out.
type Refused struct {
	Messages int64 // by the program
	Times    int64 // by StreamJob.Limits
	First    error // what the program reported about the first
}

// ErrEnough is returned by write to end the stream without an error. The result is then
// that of the messages read so far.
var ErrEnough = errors.New("enough")

// look returns the description of the recording with the names of Edit, and what is known about its
// definitions if Known or the edit needs that.
func (job *StreamJob) look(ctx context.Context, src *Source) (named *storage.Info, known mapping.Known, err error) {
	named = src.Info.Clone()
	for i := range named.Topics {
		named.Topics[i].Name = job.Edit.Name(named.Topics[i].Name)
	}
	if job.Known == nil && job.Edit.Restamp != selection.RestampHeader {
		return named, known, nil
	}
	if known, err = mapping.Look(ctx, src.Reader, named, job.Definitions, job.Distro); err == nil && job.Known != nil {
		job.Known(known)
	}
	return named, known, err
}

// read is one attempt.
func (job *StreamJob) read(ctx context.Context, v Visitor) (*StreamResult, error) {
	if job.Edit.Restamp == selection.RestampLog {
		return nil, errors.New("internal error: a stream does not set stamps")
	}
	src := job.Source
	choice, err := src.Choose(&job.Select, &job.Edit)
	if err != nil {
		return nil, err
	}
	named, known, err := job.look(ctx, src)
	if err != nil {
		return nil, err
	}
	topics, err := v.Plan(named, slices.Clone(choice.Topics))
	if err != nil {
		return nil, err
	}
	for i := range topics {
		choice.Topics[i] = choice.Topics[i] && !topics[i].Skip
	}
	if job.Pick != nil {
		return job.pick(ctx, choice, topics, v)
	}
	to := &Sink{Format: job.Limits, Choice: choice, Edit: &job.Edit, Routes: make([]Route, len(topics))}
	if to.Format == nil {
		to.Format = &storage.Format{}
	}
	p := &Pipeline{Source: src, Sinks: []*Sink{to}, Visitor: v, Order: job.Order, Limit: job.Expected, Threads: job.Threads, TempDir: os.TempDir(), Progress: job.Progress}
	if job.Edit.Restamp == selection.RestampHeader {
		mapper := mapping.New(known.Options())
		p.Stamps = make([]*mapping.Stamp, len(topics))
		for i := range topics {
			p.Stamps[i] = mapper.Stamp(&named.Topics[i].Topic)
		}
	}
	defer p.Close()
	if err := p.Prepare(ctx); err != nil {
		return nil, err
	}
	for i, t := range topics {
		to.Routes[i] = Route{Skip: !choice.Topics[i], Drop: t.Drop, Sink: storage.TopicID(i), Program: t.Program}
		if p.Stamps != nil {
			to.Routes[i].Stamp = p.Stamps[i]
		}
	}
	if err := p.Run(ctx); err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	res := &StreamResult{Refused: make([]Refused, len(p.counts))}
	for i, c := range p.counts {
		res.Refused[i] = Refused{Messages: c.Bad, Times: c.OutOfRange, First: c.FirstBad}
	}
	if job.End != nil {
		if err := job.End(src.Reader); err != nil {
			return nil, err
		}
	}
	return res.end(src), nil
}

// end adds what is known of the source at the end.
func (res *StreamResult) end(src *Source) *StreamResult {
	res.Info = src.Info.Clone()
	res.Info.Damage = src.Reader.Damage()
	return res
}
