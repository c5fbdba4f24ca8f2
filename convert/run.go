package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Run converts one recording. The report is complete as far as the run came,
// also when it fails. When Run returns an error nothing stands at the sink's
// path that was not there before.
//
// Errors of the source and the sink wrap the sentinels of package storage; an
// existing output is fs.ErrExist unless Write.Overwrite is set; a cancelled
// context gives its cause. What CheckOutputs refuses, Run refuses too, and whatever
// else turns out on the way to be none of a run's business: see Job.Formats.
func Run(ctx context.Context, job Job) (*Report, error) {
	r := &Report{
		Source: End{Path: job.Source, Format: job.SourceFormat.Name},
		Sink:   End{Path: job.Sink, Format: job.SinkFormat.Name},
	}
	began := time.Now()
	err := run(ctx, &job, r)
	r.Elapsed = time.Since(began)
	return r, err
}

func run(ctx context.Context, job *Job, r *Report) (err error) {
	if err := guarded(job); err != nil {
		return err
	}
	src, err := openSource(ctx, job)
	if err != nil {
		return err
	}
	defer func() {
		// With the output in its place all was read, and an error would say otherwise.
		if e := src.close(); err != nil {
			err = errors.Join(err, e)
		}
	}()
	r.Source.Version, r.Source.Size, r.Source.Files = src.info.Version, src.info.Size, src.info.Files
	r.Warnings = src.info.Warnings

	take, err := choose(job, src)
	if err != nil {
		return err
	}
	r.Selection = take.describe(job, src.info)
	encoding, err := job.encoding()
	if err != nil {
		return err
	}
	plan := planTopics(job, encoding, src.info, take.Choice)
	how := reading{order: job.Order, latch: &job.Edit.Latch, threads: job.Threads}
	if job.Edit.Restamp == selection.RestampHeader {
		how.stamps = plan.stamps
	}
	counts, files, err := write(ctx, job, src, plan, take, how)
	if errors.Is(err, errIndex) {
		how.disbelieve = true
		counts, files, err = write(ctx, job, src, plan, take, how)
	}
	if info, infoErr := src.reader.Info(); infoErr == nil {
		r.Warnings, r.Lost = append(info.Warnings, src.changed...), info.Lost // with what was met on the way
	}
	if counts != nil {
		plan.describe(r, src.info, counts)
	}
	for _, c := range counts {
		r.Source.Messages += c.read
		r.Sink.Messages += c.written
	}
	for _, path := range files {
		n, _ := sizeOf(path) // the output stands, whatever becomes of it now
		r.Sink.Size += n
		r.Sink.Files = append(r.Sink.Files, iox.FinalPath(path))
	}
	if err == nil && job.Stage != nil {
		job.Stage.add(job, files)
	}
	return err
}

// write plans how to read the source, writes the output from start to end, and returns
// its files. Counts are nil if it did not come to reading.
func write(ctx context.Context, job *Job, src *source, plan *topicPlan, take *taken, how reading) (counts []topicCount, files []string, err error) {
	if err := take.prepare(ctx, src, how); err != nil {
		return nil, nil, err
	}
	path := job.Sink
	if job.Stage != nil {
		path = job.Stage.path(job)
	}
	w, err := job.SinkFormat.Create(ctx, path, writeOptions(job, src.info))
	if err != nil {
		return nil, nil, err
	}
	caps := storage.WriterCapabilities(w)
	defer func() {
		if err != nil && caps.Abort != nil {
			err = errors.Join(err, caps.Abort.Abort())
		}
	}()

	p := &pipeline{
		src: src, write: w.Write, order: job.Order, strict: job.Read.Strict,
		workers: workers(job.Threads, job.MaxMemory), format: job.SinkFormat,
		tempDir: filepath.Dir(filepath.Clean(job.Sink)), budget: budgetOf(job.MaxMemory),
		choice: take.Choice, offset: job.Edit.Offset, repeated: take.state,
	}
	if p.routes, err = routes(job, w, plan); err != nil {
		return nil, nil, err
	}
	thinOut(p.routes, &job.Edit, src.info)
	if caps.Copy != nil && job.Edit.Offset == 0 && caps.Copy.CopyFrom(src.reader, copied(p.routes)) {
		p.copier = caps.Copy
	}
	p.meter = newMeter(src, job.Progress)
	defer p.meter.stop()

	if caps.Blocks == nil {
		err = p.run(ctx)
	} else {
		enc := newEncoder(ctx, p.workers)
		caps.Blocks.OnBlock(enc.add)
		if err = p.run(enc.ctx); err == nil {
			err = caps.Blocks.Flush()
		}
		if encErr := enc.wait(); encErr != nil {
			err = encErr // the cause of whatever else failed
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	src.changed = src.files.changes()
	if err == nil {
		err = src.checkCounts(take.Choice, p.counts)
	}
	if err == nil {
		err = p.checkCounts()
	}
	if err == nil && !job.Select.All() && src.info.Messages > 0 && nothing(p.counts) {
		err = ErrNothing
	}
	if err == nil && job.Read.Strict {
		err = refuseLoss(src, plan, p.counts)
	}
	if err != nil {
		return p.counts, nil, err
	}
	if err = w.Close(); err != nil {
		return p.counts, nil, err
	}
	files = []string{path}
	if caps.Files != nil {
		files = caps.Files.Files()
	}
	return p.counts, files, nil
}

// ErrLossy is the error of a strict run that could not carry everything.
var ErrLossy = errors.New("not everything can be converted, and strict mode allows no loss")

// A LossError is why a strict run was refused: the losses and the damage that a run
// without strict would have reported. It wraps ErrLossy.
type LossError struct {
	Losses []Loss            // none by design
	Damage []storage.Warning // of the source
}

func (e *LossError) Error() string { return ErrLossy.Error() }

// Unwrap returns ErrLossy.
func (e *LossError) Unwrap() error { return ErrLossy }

// refuseLoss fails a strict run before its output gets its name.
func refuseLoss(src *source, plan *topicPlan, counts []topicCount) error {
	info, err := src.reader.Info()
	if err != nil {
		return err
	}
	r := Report{Warnings: append(info.Warnings, src.changed...)}
	plan.describe(&r, src.info, counts)
	refused := &LossError{}
	for _, l := range r.Losses {
		if !l.ByDesign {
			refused.Losses = append(refused.Losses, l)
		}
	}
	for _, w := range r.Warnings {
		if w.Damage {
			refused.Damage = append(refused.Damage, w)
		}
	}
	if len(refused.Losses)+len(refused.Damage) > 0 {
		return refused
	}
	return nil
}

// routes creates the topics in the sink.
func routes(job *Job, w storage.Writer, plan *topicPlan) ([]route, error) {
	out := make([]route, len(plan.results))
	for i := range out {
		out[i].drop, out[i].skip = true, !plan.chosen[i]
	}
	for k := range plan.sinks {
		s := &plan.sinks[k]
		id, err := createTopic(w, s)
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", s.topic.Name, err)
		}
		if s.refused != nil {
			continue
		}
		counter := &seqCounter{}
		for _, i := range s.sources {
			rt := route{sink: id, plan: plan.results[i].Plan, stamp: plan.stamps[i], mark: plan.marks[i]}
			if rt.plan != nil {
				if rt.seqAt = mapping.SeqOffset(rt.plan); rt.seqAt >= 0 && job.HeaderSeq == SeqCount {
					rt.seq = counter
				}
				mapping.Reset(rt.plan) // of an attempt before
			}
			out[i] = rt
		}
	}
	return out, nil
}

// createTopic creates a topic. One that the sink refuses is left out, and costs no
// other; where the definition is what it refuses, the messages go without.
func createTopic(w storage.Writer, s *sinkTopic) (storage.TopicID, error) {
	s.bare, s.refused = nil, nil // of an attempt before
	id, err := w.CreateTopic(s.topic)
	if !refusal(err) {
		return id, err
	}
	if bare := s.topic; len(bare.Schema.Data) > 0 {
		bare.Schema = storage.Schema{}
		if id, again := w.CreateTopic(bare); !refusal(again) {
			s.bare = err
			return id, again
		}
	}
	s.refused = err
	return 0, nil
}

// refusal tells whether an error is about a topic, and not about the output.
func refusal(err error) bool {
	return errors.Is(err, storage.ErrUnsupported) || errors.Is(err, storage.ErrCorrupt)
}

// checkCounts holds what was read against what was written and what is known
// to be left out: the promise that nothing is lost silently.
func (p *pipeline) checkCounts() error {
	for i, c := range p.counts {
		want := c.read + c.repeated - c.bad - c.outOfRange - c.tooLarge - c.thinned
		if p.routes[i].drop {
			want = 0
		}
		if c.written != want {
			return fmt.Errorf("internal error: topic %s: %d of %d messages written", p.src.info.Topics[i].Name, c.written, want)
		}
	}
	return nil
}

// writeOptions fills in what the recording itself says, and for messages that
// become CDR the distribution whose types they have now.
func writeOptions(job *Job, info *storage.Info) storage.WriteOptions {
	o := job.Write
	if o.Memory == 0 {
		o.Memory = budgetOf(job.MaxMemory).writer
	}
	if o.Metadata == nil {
		o.Metadata = info.Metadata
	}
	if o.Compression == "" && job.SourceFormat.Name == job.SinkFormat.Name {
		o.Compression = mostly(info.Compression, job.SinkFormat.Compressions)
	}
	if job.becomesCDR(info) {
		o.Metadata = maps.Clone(o.Metadata)
		if o.Metadata == nil {
			o.Metadata = map[string]string{}
		}
		o.Metadata[storage.MetaDistro] = job.distro()
	}
	return o
}

// mostly returns the codec of the most blocks, the first of codecs where there are
// none; of as many, the one that comes first.
func mostly(blocks map[string]int64, codecs []string) (most string) {
	for _, c := range codecs {
		if most == "" || blocks[c] > blocks[most] {
			most = c
		}
	}
	return most
}

// sizeOf adds up the bytes of a file or of all files in a folder.
func sizeOf(path string) (n int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err == nil {
			n += st.Size()
		}
		return err
	})
	return n, err
}
