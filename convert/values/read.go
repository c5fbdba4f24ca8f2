package values

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// A Query says which messages of a topic are read, and how. The zero value is all of them, in the order of time.
type Query struct {
	// Start and End bound the log time, ns since 1970. Both are part of the range. Both 0: all times.
	Start, End int64

	// FileOrder reads in the order of the file, and needs no index.
	FileOrder bool

	Definitions []*defset.Set // as convert.Job.Definitions
	Distro      string        // as convert.Job.Distro
	Threads     int           // that decode; 0: one per core, 12 at most
}

// A Message is a value with its times, ns since 1970.
type Message[T any] struct {
	LogTime, PublishTime int64
	Value                T
}

// Read returns the messages of a topic as values of T, in the order of their log times; messages of
// equal times are in the order of the file. They are decoded on all cores, ahead of the loop, and
// each is the caller's to keep. Parts of the recording without the topic, or outside of the range,
// are not read if its index has them. Memory is bounded by the memory of some blocks of the
// recording and their values.
//
//	for m, err := range values.Read[fix](ctx, r, "/gps/fix", values.Query{}) { ... m.LogTime, m.Value }
//
// A message that does not fit its definition or T is an error after which the loop goes on: of it m has the times. The
// loop ends after any other error, such as a missing topic, a T that does not fit its type (ErrType), or the end of
// ctx. If an index turns out to be wrong when messages have been returned, the error wraps storage.ErrCorrupt:
// FileOrder does without it.
//
// A reader whose format has no blocks (storage.BlockReader) is read in the order of the file, by ReadNext, and once.
// Of others several loops may run, one at a time.
func Read[T any](ctx context.Context, r storage.Reader, topic string, q Query) iter.Seq2[Message[T], error] {
	return func(yield func(Message[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		v := &visitor[T]{ctx: ctx, topic: topic, decoded: make(chan []decoded[T])}
		var failed error
		go func() {
			defer close(v.decoded)
			failed = v.read(r, q)
		}()
		defer func() {
			cancel()
			for range v.decoded { // until the reading has ended
			}
		}()
		for list := range v.decoded {
			for i := range list {
				if !yield(list[i].Message, list[i].err) {
					return
				}
			}
		}
		if failed != nil {
			yield(Message[T]{}, failed)
		}
	}
}

// A decoded is a message after it was decoded.
type decoded[T any] struct {
	Message[T]
	err error
}

// A visitor decodes the messages of a topic. See recording.Visitor.
type visitor[T any] struct {
	ctx     context.Context
	topic   string
	source  *recording.Source
	codecs  []*Codec[T] // index = TopicID; nil: of another topic
	decoded chan []decoded[T]
	sent    bool // something was
}

// read reads the recording, and again without its index if that turns out to be wrong in time.
func (v *visitor[T]) read(r storage.Reader, q Query) (err error) {
	v.source = recording.SourceOf(r, recording.Ref{Definitions: q.Definitions, Distro: q.Distro})
	query := recording.Query{Threads: q.Threads, Edit: selection.Edit{Latch: selection.NoLatch}}
	if q.FileOrder || storage.ReaderCapabilities(r).Blocks == nil {
		query.Order = recording.OrderFile
	}
	if q.Start != 0 || q.End != 0 {
		if q.Start > q.End {
			return nil
		}
		query.Select.Start = selection.At(q.Start)
		if q.End < math.MaxInt64 {
			query.Select.End = selection.At(q.End + 1)
		}
	}
	for {
		_, err = v.source.Read(v.ctx, query, v)
		if outside := (*selection.EmptyError)(nil); errors.As(err, &outside) {
			return v.compile(v.source.Info) // the topic and its type may still be wrong
		}
		if err == nil || !v.source.Again(err) {
			return err
		}
		if v.sent {
			return fmt.Errorf("topic %s: %w: read it in the order of the file, or write the index anew: bagconv reindex: %w",
				v.topic, err, storage.ErrCorrupt)
		}
	}
}

// compile makes the codecs of all topics of that name.
func (v *visitor[T]) compile(info *storage.Info) error {
	mapper, err := v.source.Mapper(v.ctx, info)
	if err != nil {
		return err
	}
	v.codecs = make([]*Codec[T], len(info.Topics))
	known := false
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if t.Name != v.topic {
			continue
		}
		known = true
		if v.codecs[i], err = compileTopic[T](mapper, t); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("there is no topic %s", v.topic)
	}
	return nil
}

// Plan implements recording.Visitor.
func (v *visitor[T]) Plan(info *storage.Info, _ []bool) ([]recording.Topic, error) {
	if err := v.compile(info); err != nil {
		return nil, err
	}
	topics := make([]recording.Topic, len(v.codecs))
	for i, c := range v.codecs {
		topics[i].Skip = c == nil
	}
	return topics, nil
}

// Work implements recording.Visitor. What it returns belongs to the loop.
func (v *visitor[T]) Work(_ storage.Block, msgs []storage.Message, _ any) (any, error) {
	list := make([]decoded[T], len(msgs))
	for i := range msgs {
		m, d := &msgs[i], &list[i]
		d.LogTime, d.PublishTime = m.LogTime, m.PublishTime
		if err := v.codecs[m.Topic].Decode(m.Data, &d.Value); err != nil {
			var none T
			d.Value, d.err = none, fmt.Errorf("topic %s, message at time %d: %w", v.topic, m.LogTime, err)
		}
	}
	return list, nil
}

// Take implements recording.Visitor.
func (v *visitor[T]) Take(_ storage.Block, _ []storage.Message, from, to int, made any) error {
	select {
	case v.decoded <- made.([]decoded[T])[from:to]:
		v.sent = true
		return nil
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	}
}

// compileTopic returns the codec of a topic.
func compileTopic[T any](m *mapping.Mapper, t *storage.Topic) (*Codec[T], error) {
	d, err := m.Define(t)
	if err == nil {
		var c *Codec[T]
		if c, err = compileFor[T](d); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("topic %s: %w", t.Name, err)
}
