package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An output is what a run makes for a job.
type output struct {
	recording.Sink
	job           *Job
	plan          *topicPlan
	writer        storage.Writer // nil: it is not open
	caps          storage.WriterCaps
	old           []storage.Topic // of the recording that is added to
	path          string
	added         []storage.Attachment // Job.Attach
	extrasFolder  *extras.Folder       // what the sink has no place for; nil: that is lost
	refused       []Extra              // by the sink
	share         float64              // of the source that a dry run has read
	size          int64                // in bytes, or what a dry run expects; 0: not known
	made          []string             // see storage.Output.Files
	files         []string             // that were written, nil before the first
	createdTopics int                  // topics of the plan that the sink has
	kinds         map[topicKey]int     // numbers of recording.Route.Kind
	earlierRounds []recording.Count    // of the rounds so far
}

// newOutput plans the output of a job.
func newOutput(ctx context.Context, job *Job, src *recording.Source) (*output, error) {
	choice, err := choose(ctx, job, src)
	if err != nil {
		return nil, err
	}
	encoding, err := job.encoding()
	if err != nil {
		return nil, err
	}
	known, err := src.Known(ctx, src.Info)
	if err != nil {
		return nil, err
	}
	plan, err := planTopics(job, encoding, src.Info, choice, known)
	if err != nil {
		return nil, err
	}
	o := &output{job: job, plan: plan}
	for _, path := range job.Attach {
		a, err := extras.FromFile(job.Read.FS, path)
		if err != nil {
			return nil, err
		}
		o.added = append(o.added, a)
	}
	o.Sink = recording.Sink{Format: job.SinkFormat, Choice: choice, Edit: &job.Edit}
	return o, nil
}

// choose resolves the selection. A source that goes on has selected its topics itself: nobody
// knows which come.
func choose(ctx context.Context, job *Job, src *recording.Source) (*selection.Choice, error) {
	if !src.Resumes() {
		return src.Choose(ctx, src.Info, &job.Select, &job.Edit, job.Threads)
	}
	if !job.Select.All() || job.Order != OrderFile {
		return nil, errors.New("internal error: a selection or an order of a source that goes on")
	}
	return selection.Everything(len(src.Info.Topics)), nil
}

// open creates the output and its topics.
func (o *output) open(ctx context.Context, src *recording.Source, memory int64) (err error) {
	job := o.job
	o.path, o.Counts, o.earlierRounds = job.Sink, nil, nil
	if job.Stage != nil {
		o.path = job.Stage.path(job)
	}
	wanted := writeOptions(job, src.Info, memory)
	if job.Append {
		o.writer, o.old, err = job.SinkFormat.AppendTo(ctx, o.path, wanted)
	} else {
		o.writer, err = job.SinkFormat.Create(ctx, o.path, wanted)
	}
	if err != nil {
		o.writer = nil
		return err
	}
	o.Write, o.caps = o.writer.Write, storage.WriterCapabilities(o.writer)
	o.Copier, o.Blocks = o.caps.Copy, o.caps.Blocks
	o.PartWriter, _ = o.writer.(recording.PartWriter)
	if o.Places, _ = o.writer.(recording.PlaceWriter); o.Places != nil && !o.Places.WantsPlaces() {
		o.Places = nil
	}
	if job.Tap != nil {
		if err := job.Tap.Opened(&o.Sink); err != nil {
			return err
		}
	}
	if o.plan.inputs = src.Inputs(); job.Order == OrderFile {
		o.plan.earlier = src.EarlierInputs()
	}
	o.plan.join(o.writer.Identity(), 0)
	o.plan.continueTopics(o.old, src.Info)
	o.Routes, o.createdTopics, o.kinds = nil, 0, map[topicKey]int{}
	if err = o.route(); err != nil {
		return err
	}
	return o.writeExtras(ctx, src.Reader)
}

// extend takes the topics that came with a round.
func (o *output) extend(src *recording.Source) error {
	first := len(o.plan.results)
	for range src.Info.Topics[first:] {
		o.Choice.Topics = append(o.Choice.Topics, true)
	}
	if err := o.plan.add(src.Info, o.Choice); err != nil {
		return err
	}
	o.plan.join(o.writer.Identity(), first)
	return o.route()
}

// count adds the counts of a round to the counts before.
func (o *output) count() {
	for i, c := range o.Counts {
		if i == len(o.earlierRounds) {
			o.earlierRounds = append(o.earlierRounds, recording.Count{})
		}
		o.earlierRounds[i].Add(c)
	}
	o.Counts = o.earlierRounds
}

// check looks whether the output is what it should be, before any gets its name. One of
// which nothing was selected is thrown away.
func (o *output) check(src *recording.Source, share float64) error {
	err := o.checkCounts(src)
	if err == nil {
		o.takeLosses()
	}
	if err == nil && o.job.DryRun {
		o.extrapolate(src.Info, share)
	}
	if err == nil && !o.job.Empty && !o.job.Select.All() && src.Info.Messages > 0 && allEmpty(o.Counts) {
		return o.close()
	}
	if err == nil && o.job.Read.Strict {
		err = o.refuseLoss(src)
	}
	return err
}

// finish makes the output whole and has it verified, before it has its name.
func (o *output) finish() error {
	if o.writer == nil {
		return nil // nothing was selected
	}
	made, err := o.writer.Finish()
	if err == nil && o.extrasFolder != nil {
		err = o.extrasFolder.Check()
	}
	switch {
	case err != nil:
	case o.job.DryRun:
		o.size += int64(float64(o.job.overlay.Size()) / o.share)
	default:
		if o.job.Verify != nil {
			err = o.job.Verify(made.Path, o.refused)
		}
		if o.made = made.Files; made.Path != "" {
			o.size, _ = sizeOf(o.job.Write.FS, made.Path) // now: under its name another run may replace it
		}
	}
	return err
}

// commit puts the output in place.
func (o *output) commit() error {
	if o.writer == nil || o.job.DryRun {
		return nil
	}
	if o.extrasFolder != nil { // first: without them the output would not be all
		if err := o.extrasFolder.Commit(); err != nil {
			return err
		}
	}
	if err := o.writer.Commit(); err != nil {
		return err
	}
	if o.files = o.made; o.files == nil {
		o.files = []string{o.path}
	}
	return nil
}

// close throws the output away, unless it is in place.
func (o *output) close() error {
	if o.writer == nil {
		return nil
	}
	w := o.writer
	o.writer = nil
	err := w.Close()
	if o.extrasFolder != nil {
		err = errors.Join(err, o.extrasFolder.Close())
	}
	return err
}

// report reports what became of the output.
func (o *output) report(src *recording.Source, r *Report) {
	d := src.Damage() // with what was met on the way
	r.Warnings, r.Lost = append([]storage.Warning{}, d.Warnings...), d.Lost
	if o.Counts != nil {
		o.plan.describe(r, src.Info, o.Counts)
	}
	for _, c := range o.Counts {
		r.Source.Messages += c.Read
		r.Sink.Messages += c.Written
	}
	r.DryRun = o.share > 0
	if r.Share = o.share; len(o.files) > 0 || o.job.DryRun {
		r.Sink.Size = o.size
	}
	if src.Resumes() {
		r.Source.Size = src.Info.Size // as far as it went on
	}
	for _, path := range o.files {
		if o.size == 0 { // not known before: it was added to a recording
			n, _ := sizeOf(o.job.Write.FS, path) // the output stands, whatever becomes of it now
			r.Sink.Size += n
		}
		r.Sink.Files = append(r.Sink.Files, iox.FinalPath(path))
	}
}

// route creates missing topics of the sink, and a route for each new topic of the source.
func (o *output) route() error {
	plan := o.plan
	for ; o.createdTopics < len(plan.sinks); o.createdTopics++ {
		s := &plan.sinks[o.createdTopics]
		id, err := createTopic(o.writer, s)
		if err != nil {
			if errors.Is(err, storage.ErrContradicts) {
				return err // it names the topic
			}
			return fmt.Errorf("topic %s: %w", s.topic.Name, err)
		}
		s.id, s.counter = id, &recording.Counter{}
	}
	for i := len(o.Routes); i < len(plan.results); i++ {
		rt := recording.Route{Drop: true, Skip: !plan.chosen[i]}
		if k := plan.sinkOf[i]; k >= 0 && plan.sinks[k].refused == nil {
			if i < len(o.job.Before) {
				plan.sinks[k].counter.Skip(o.job.Before[i])
			}
			rt = recording.Route{Sink: plan.sinks[k].id, Kind: o.kind(&plan.sinks[k]), Program: plan.results[i].Plan,
				ReadStamp: plan.stamps[i], WriteStamp: plan.marks[i]}
			if rt.Program != nil {
				countSeq(&rt, o.job.HeaderSeq, plan.results[i].HeaderSeq, plan.sinks[k].counter)
				mapping.Reset(rt.Program) // of an attempt before
			}
		}
		o.Routes = append(o.Routes, rt)
	}
	return nil
}

// kind returns the number of the topics of the sink with a name, type and encoding.
func (o *output) kind(s *sinkTopic) int {
	k := topicKey{cmp.Or(s.renamed, s.topic.Name), s.topic.Type, s.topic.Encoding}
	if _, ok := o.kinds[k]; !ok {
		o.kinds[k] = len(o.kinds)
	}
	return o.kinds[k]
}

// same returns how messages are compared of topics whose ROS 1 messages come from different
// encodings: as CDR, which has no Header.seq.
func (o *output) same() map[int]mapping.Program {
	if !o.job.Dedupe && !o.job.Append {
		return nil
	}
	same := map[int]mapping.Program{}
	mapper := mapping.New(mapping.Options{Encoding: "cdr", Distro: o.job.distro(), Definitions: o.job.Definitions})
	for i := range o.Routes {
		rt := &o.Routes[i]
		if rt.Program == nil || o.plan.sinkOf[i] < 0 || same[rt.Kind] != nil {
			continue
		}
		if t := &o.plan.sinks[o.plan.sinkOf[i]].topic; t.Encoding == "ros1" {
			if res, err := mapper.Map(t); err == nil && res.Plan != nil {
				same[rt.Kind] = res.Plan
			}
		}
	}
	return same
}

// countSeq sets what is written to the counter of the Header that ROS 1 messages begin with,
// or what is kept of it.
func countSeq(rt *recording.Route, rule HeaderSeq, kept mapping.HeaderSeq, counter *recording.Counter) {
	rt.SeqAt = mapping.SeqOffset(rt.Program)
	switch {
	case kept == mapping.SeqToSequence:
		rt.HeaderSeq = kept
	case rt.SeqAt < 0 || rule == SeqZero:
	case kept == mapping.SeqFromSequence:
		rt.HeaderSeq = kept
	default:
		rt.Seq = counter
	}
}

// createTopic creates a topic. One that the sink refuses is left out, and costs no
// other; if the definition is what it refuses, the messages go without.
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

// refusal reports whether an error is about a topic, and not about the output.
func refusal(err error) bool {
	return errors.Is(err, storage.ErrUnsupported) || errors.Is(err, storage.ErrCorrupt)
}

// checkCounts compares what was read with what was written and what is known to be left
// out: the promise that nothing is lost silently.
func (o *output) checkCounts(src *recording.Source) error {
	for i, c := range o.Counts {
		want := c.Read + c.Repeated - c.Filtered - c.Undecided - c.Unedited - c.Emptied - c.Bad - c.OutOfRange -
			c.TooLarge - c.Thinned - c.Duplicates
		if o.Routes[i].Drop {
			want = 0
		}
		if c.Written != want {
			return fmt.Errorf("internal error: topic %s: %d of %d messages written", src.Info.Topics[i].Name, c.Written, want)
		}
	}
	return nil
}

// writeOptions fills in what the recording itself has, and for messages that
// become CDR the distribution whose types they have now.
func writeOptions(job *Job, info *storage.Info, memory int64) storage.WriteOptions {
	o := job.Write
	o.Sequence = job.SourceFormat.Holds.Sequence
	if o.Memory == 0 {
		o.Memory = memory
	}
	if o.Metadata == nil {
		o.Metadata = info.Metadata
	}
	if job.SourceFormat.Name == job.SinkFormat.Name {
		o.Version = info.Version
	}
	codec := job.SinkFormat.Options.Find(storage.NameCompression)
	if o.Compression == "" && !job.Append && o.Values[storage.NamePreset] == "" &&
		job.SourceFormat.Name == job.SinkFormat.Name && codec != nil && !codec.Asked {
		o.Compression = mostUsed(info.Compression, codec.Values)
	}
	if becomes := job.becomesCDR(info); becomes || len(job.Custom) > 0 {
		if o.Metadata = maps.Clone(o.Metadata); o.Metadata == nil {
			o.Metadata = map[string]string{}
		}
		maps.Copy(o.Metadata, job.Custom)
		if !becomes {
			return o
		}
		o.Metadata[storage.MetaDistro] = job.distro()
	}
	return o
}

// mostUsed returns the codec of the most blocks, the first of codecs without a block; of as many,
// the one that comes first.
func mostUsed(blocks map[string]int64, codecs []string) (best string) {
	for _, c := range codecs {
		if best == "" || blocks[c] > blocks[best] {
			best = c
		}
	}
	return best
}

// sizeOf adds up the bytes of a file, also of one that a link leads to, or of all files in a folder.
func sizeOf(fsys storage.FS, path string) (n int64, err error) {
	if st, err := iox.FS(fsys).Stat(path); err == nil && st.Mode().IsRegular() {
		return st.Size(), nil
	}
	err = iox.WalkDir(fsys, path, func(_ string, d fs.DirEntry, err error) error {
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
