package convert

import (
	"context"
	"errors"
	"os"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
)

// A Tap learns how an output comes about, so that a Maker can make parts of it again: where in the source each begins.
// Job.Write.FS has to take the bytes: nothing is guarded.
type Tap struct {
	Trace  *recording.Trace              // records where messages go, in the run itself and not in a Maker
	Begin  func(*recording.Source) error // is called before the topics of the source are planned
	Opened func(*recording.Sink) error   // is called when the output was created
}

// A Maker makes parts of the output of a job, whose Tap has what becomes of them. It is for one goroutine.
type Maker struct {
	src *recording.Source
	out *output
}

// NewMaker opens the source of a job.
func NewMaker(ctx context.Context, job Job) (*Maker, error) {
	src, err := recording.Open(ctx, job.Ref())
	if err != nil {
		return nil, err
	}
	out, err := newOutput(ctx, &job, src)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return &Maker{src, out}, nil
}

// Make makes the part of a window. After an error the Maker is to be closed.
func (m *Maker) Make(ctx context.Context, w *recording.Window) (err error) {
	p := pipelineOf(m.src, m.out)
	p.Window, p.TempDir = w, os.TempDir()
	defer p.Close()
	if err := p.Prepare(ctx); err != nil {
		return err
	}
	if err := m.out.open(ctx, m.src, p.WriterMemory()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.out.close()) }()
	return p.Run(ctx)
}

// Close closes the source.
func (m *Maker) Close() error { return m.src.Close() }

// pipelineOf returns what moves the messages of a source to outputs.
func pipelineOf(src *recording.Source, outputs ...*output) *recording.Pipeline {
	job := outputs[0].job
	p := &recording.Pipeline{Source: src, Order: job.Order, Threads: job.Threads, Dedupe: job.Dedupe}
	if job.Edit.Restamp == selection.RestampHeader {
		p.Stamps = outputs[0].plan.stamps
	}
	for _, o := range outputs {
		p.Sinks = append(p.Sinks, &o.Sink)
	}
	return p
}
