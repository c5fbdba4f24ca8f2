package recording

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A Query says what is read of a recording, and how. The zero value is everything, in order of time.
type Query struct {
	Select   selection.Selection
	Edit     selection.Edit  // but for RestampLog, which changes messages
	Limits   *storage.Format // messages at times that it cannot store are left out; nil: no limits
	Order    Order
	Expected int64 // about how many messages the visitor takes before it returns ErrEnough; 0: all
	Threads  int   // workers; 0 is one per core, 12 at most
	Progress func(Progress)

	// Pick, if set, has the index find the messages, in the order of time; Select has topics and times. The messages
	// are read one after the other, until ErrEnough. An error that wraps storage.ErrUnsupported means that the format
	// has no such index.
	Pick *Pick

	// End, if set, is called with the recording after its messages were read, for its
	// attachments and metadata records.
	End func(storage.Reader) error
}

// A Topic describes what becomes of the messages of a topic.
type Topic struct {
	Skip    bool            // they are not selected; blocks that have no others may be skipped
	Drop    bool            // they are read, and left out
	Program mapping.Program // runs in the workers, in any order; nil: the bytes as they are
}

// A Result is what is known at the end.
type Result struct {
	Info    *storage.Info // with the damage met on the way
	Refused []Refused     // index = TopicID
}

// Refused counts the messages of a topic that were left out.
type Refused struct {
	Messages int64 // by the program, or because a condition cannot be decided
	Times    int64 // by Query.Limits
	First    error // what the program reported about the first
}

// ErrEnough is returned by a visitor to end the reading without an error. The result is then
// about the messages read so far.
var ErrEnough = errors.New("enough")

// Read reads the recording for a visitor. It is to be called within Use.
func (s *Source) Read(ctx context.Context, q Query, v Visitor) (*Result, error) {
	if q.Edit.Restamp == selection.RestampLog {
		return nil, errors.New("internal error: reading does not set stamps")
	}
	named := s.Info.Clone()
	for i := range named.Topics {
		named.Topics[i].Name = q.Edit.Name(named.Topics[i].Name)
	}
	choice, err := s.Choose(ctx, named, &q.Select, &q.Edit, q.Threads)
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
	if q.Pick != nil {
		return s.pick(ctx, q.Pick, choice, topics, v)
	}
	to := &Sink{Format: q.Limits, Choice: choice, Edit: &q.Edit, Routes: make([]Route, len(topics))}
	if to.Format == nil {
		to.Format = &storage.Format{}
	}
	p := &Pipeline{Source: s, Sinks: []*Sink{to}, Visitor: v, Order: q.Order, Limit: q.Expected, Threads: q.Threads,
		TempDir: os.TempDir(), Progress: q.Progress}
	if p.Stamps, err = s.stampsOf(ctx, named, q.Edit.Restamp); err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.Prepare(ctx); err != nil {
		return nil, err
	}
	for i, t := range topics {
		to.Routes[i] = Route{Skip: !choice.Topics[i], Drop: t.Drop, Sink: storage.TopicID(i), Program: t.Program}
		if p.Stamps != nil {
			to.Routes[i].ReadStamp = p.Stamps[i]
		}
	}
	if err := p.Run(ctx); err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	res := &Result{Refused: make([]Refused, len(p.counts))}
	for i, c := range p.counts {
		res.Refused[i] = Refused{Messages: c.Bad + c.Undecided, Times: c.OutOfRange, First: c.FirstBad}
		if c.Bad == 0 {
			res.Refused[i].First = c.FirstUndecided
		}
	}
	if q.End != nil {
		if err := q.End(s.Reader); err != nil {
			return nil, err
		}
	}
	return res.end(s), nil
}

// stampsOf returns what reads the stamps of each topic, if log times become the stamps; else nil.
func (s *Source) stampsOf(ctx context.Context, named *storage.Info, restamp selection.Restamp) ([]*mapping.Stamp,
	error) {
	if restamp != selection.RestampHeader {
		return nil, nil
	}
	mapper, err := s.Mapper(ctx, named)
	if err != nil {
		return nil, err
	}
	stamps := make([]*mapping.Stamp, len(named.Topics))
	for i := range stamps {
		stamps[i] = mapper.Stamp(&named.Topics[i].Topic)
	}
	return stamps, nil
}

// end adds what is known of the source at the end.
func (res *Result) end(src *Source) *Result {
	res.Info = src.Info.Clone()
	res.Info.Damage = src.Reader.Damage()
	return res
}
