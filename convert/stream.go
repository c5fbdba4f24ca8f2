package convert

import (
	"context"
	"errors"
	"os"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// A StreamJob says which recording to stream, and how.
type StreamJob struct {
	Path     string
	Format   *storage.Format
	Read     storage.ReadOptions
	Measured bool // measure the times of all blocks first, instead of believing the index
	Threads  int  // workers; 0 is one per core
	Progress func(Progress)
}

// A StreamTopic says what becomes of the messages of a topic.
type StreamTopic struct {
	Drop    bool
	Program mapping.Program // runs in the workers, in any order; nil: the bytes as they are
}

// ErrDisorder is the error of Stream when the times that the index promised were
// not those of the messages: stream again with Measured.
var ErrDisorder = errDisorder

// Stream reads a recording on all cores and gives each message to write, in the
// order of Run: by log time, and in the order of the file where times are equal.
// It writes nothing. plan is called once, before the first message, and says what
// becomes of each topic; messages keep the number of their topic. A message that
// its program refuses is left out. The message and its data are valid until write
// returns; an error of write ends the stream, and is returned.
//
// The result has the recording's description with the warnings met on the way.
func Stream(ctx context.Context, job StreamJob, plan func(*storage.Info) ([]StreamTopic, error), write func(*storage.Message) error) (info *storage.Info, err error) {
	read := &Job{Source: job.Path, SourceFormat: job.Format, Read: job.Read}
	src, err := openSource(ctx, read)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.close()) }()
	topics, err := plan(src.info)
	if err != nil {
		return nil, err
	}
	spans := src.hints()
	if job.Measured {
		if spans, err = measure(ctx, read, src); err != nil {
			return nil, err
		}
	}
	p := &pipeline{
		src: src, write: write, spans: spans, workers: workers(job.Threads),
		format: &storage.Format{}, tempDir: os.TempDir(), budget: spillBudget,
		routes: make([]route, len(topics)),
	}
	for i, t := range topics {
		p.routes[i] = route{drop: t.Drop, sink: storage.TopicID(i), plan: t.Program}
	}
	p.meter = newMeter(src, job.Progress)
	defer p.meter.stop()
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return src.reader.Info()
}
