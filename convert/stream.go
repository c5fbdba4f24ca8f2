package convert

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A StreamJob says which recording to stream, and how. The zero value of all but
// the first two is the default.
type StreamJob struct {
	Path   string
	Format *storage.Format

	Read     storage.ReadOptions
	Select   selection.Selection
	Edit     selection.Edit  // but for RestampLog, which changes messages
	Distro   string          // as Job.Distro
	Limits   *storage.Format // messages at times that it cannot store are left out; nil: none
	Order    Order
	NoIndex  bool  // read the times of messages first, instead of believing an index
	Expected int64 // about how many messages write takes before it returns ErrEnough; 0: all
	Threads  int   // workers; 0 is one per core, 12 at most
	Progress func(Progress)

	// End, when set, is called with the recording when its messages were read: for what it
	// has besides them.
	End func(storage.Reader) error
}

// A StreamTopic says what becomes of the messages of a topic.
type StreamTopic struct {
	Skip    bool            // they are not asked for: what holds nothing else may not be read
	Drop    bool            // they are read, and left out
	Program mapping.Program // runs in the workers, in any order; nil: the bytes as they are
}

// A StreamResult is what is known at the end of a stream.
type StreamResult struct {
	Info    *storage.Info // with the damage met on the way
	Refused []Refused     // index = TopicID
}

// Refused counts the messages of a topic that were left out.
type Refused struct {
	Messages int64 // by the program
	Times    int64 // by StreamJob.Limits
	First    error // what the program said of the first
}

// ErrIndex is wrapped by the error of Stream if the index of the recording turns out to be
// wrong: stream it again with NoIndex.
var ErrIndex = errIndex

// ErrEnough is for write to return: the stream ends there, without an error. The
// result is then about what was read until then.
var ErrEnough = errors.New("enough")

// Stream reads a recording on all cores and gives each message to write, in the
// order of Run: by log time, and in the order of the file where times are equal.
// It writes nothing but, where times are far out of order, a temporary file.
//
// plan is called once, before the first message, with a description that has the
// names of Edit, and tells which topics Select takes; it says what becomes of each.
// Messages keep the number of their topic. One that its program refuses is left
// out and counted. A message and its data are valid until write returns; an error
// of plan or write ends the stream, and is returned.
func Stream(ctx context.Context, job StreamJob, plan func(info *storage.Info, taken []bool) ([]StreamTopic, error), write func(*storage.Message) error) (res *StreamResult, err error) {
	read := &Job{Source: job.Path, SourceFormat: job.Format, Read: job.Read, Select: job.Select, Edit: job.Edit, Threads: job.Threads}
	if job.Edit.Restamp == selection.RestampLog {
		return nil, errors.New("internal error: a stream does not set stamps")
	}
	src, err := openSource(ctx, read)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.close()) }()
	choice, err := choose(read, src)
	if err != nil {
		return nil, err
	}
	named := *src.info
	named.Topics = slices.Clone(named.Topics)
	for i := range named.Topics {
		named.Topics[i].Name = job.Edit.Name(named.Topics[i].Name)
	}
	topics, err := plan(&named, slices.Clone(choice.Topics))
	if err != nil {
		return nil, err
	}
	for i := range topics {
		choice.Topics[i] = choice.Topics[i] && !topics[i].Skip
	}
	to := &sink{write: write, format: job.Limits, choice: choice, latch: &job.Edit.Latch, offset: job.Edit.Offset, routes: make([]route, len(topics))}
	if to.format == nil {
		to.format = &storage.Format{}
	}
	p := &pipeline{src: src, sinks: []*sink{to}, order: job.Order, workers: workers(job.Threads, 0), tempDir: os.TempDir(), budget: budgetOf(0)}
	var stamps []*mapping.Stamp
	if job.Edit.Restamp == selection.RestampHeader {
		mapper := mapping.New(mapping.Options{SourceDistro: job.Distro})
		stamps = make([]*mapping.Stamp, len(topics))
		for i := range topics {
			stamps[i] = mapper.Stamp(&src.info.Topics[i].Topic)
		}
	}
	how := reading{order: job.Order, stamps: stamps, limit: job.Expected, threads: job.Threads, disbelieve: job.NoIndex}
	if err := prepare(ctx, src, p.sinks, how); err != nil {
		return nil, err
	}
	for i, t := range topics {
		to.routes[i] = route{skip: !choice.Topics[i], drop: t.Drop, sink: storage.TopicID(i), plan: t.Program}
		if stamps != nil {
			to.routes[i].stamp = stamps[i]
		}
	}
	thinOut(to.routes, &job.Edit, src.info)
	p.meter = newMeter(src, job.Progress)
	defer p.meter.stop()
	if err := p.run(ctx); !errors.Is(err, ErrEnough) {
		if err == nil {
			err = src.checkCounts(choice, p.counts)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
	}
	res = &StreamResult{Refused: make([]Refused, len(p.counts))}
	for i, c := range p.counts {
		res.Refused[i] = Refused{Messages: c.bad, Times: c.outOfRange, First: c.firstBad}
	}
	if job.End != nil {
		if err := job.End(src.reader); err != nil {
			return nil, err
		}
	}
	res.Info = src.info.Clone()
	res.Info.Damage = src.reader.Damage()
	return res, nil
}
