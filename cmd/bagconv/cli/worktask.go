package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// line does the task of a line, and prints its result. An error ends the work.
func (w *worker) line(line []byte) error {
	if w.ctx.Err() != nil {
		return nil
	}
	t, err := tasks.ParseTask(line)
	var r *tasks.Result
	if err == nil {
		r, err = w.do(t)
	}
	if r == nil && w.ctx.Err() != nil {
		return nil
	}
	if r == nil {
		r = failedResult(t, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losses = w.losses || r.Status == batch.StatusLossy
	w.tally.Add(r.Fate(), &r.Entry)
	if r.Status == batch.StatusFailed {
		text := r.Error
		if source := phrase.Clean(r.Input); !strings.Contains(text, source) {
			text = source + ": " + text
		}
		w.writeLines("failed", []string{text})
	}
	r.Manifest = "" // a receipt has it
	_, err = w.Out.Write(tasks.Line(r))
	return err
}

// failedResult is the result of a task that could not be begun. t may be nil.
func failedResult(t *tasks.Task, err error) *tasks.Result {
	if t == nil {
		t = &tasks.Task{}
	}
	if t.Source != "" && errors.Is(err, syscall.ENOSPC) { // it may be about a receipt, whose name tells nobody anything
		err = &failure{path: t.Source, what: "no space left in " + phrase.Clean(t.OutputDir),
			hint: "make room there, then run the task again", err: err}
	}
	r := t.Pending()
	r.SourceFormat, r.Size, r.ModTime = t.SourceFormat, t.Size, t.ModTime
	r.Status, r.Error, r.Transient, r.DurationNS = batch.StatusFailed, explain(err), tasks.Transient(err), "0"
	r.OutputFiles, r.Options, r.LossCodes, r.ByDesign, r.DamageCodes = []string{}, []string{}, []string{}, []string{},
		[]string{}
	return r
}

// do does a task. The result is nil if there is an error, or if it was interrupted.
func (w *worker) do(t *tasks.Task) (*tasks.Result, error) {
	b, err := w.prepare(t)
	if err != nil {
		return nil, err
	}
	if have := b.recipe.Content; have != t.Recipe.Content {
		return nil, otherContents(t, have)
	}
	before, err := w.store.Load(t)
	if err != nil {
		return nil, err
	}
	if before.DoneBy(w.fs, t, b.set.verified) {
		before.Skipped = true
		return before, nil
	}
	if t.Range != nil && b.job.SinkFormat.Shards.Join != nil {
		moved := before != nil && before.Task == t.ID && before.Done() && !before.Stands(w.fs)
		if t.Range.Staged(w.fs) || moved && t.Range.BeingJoined(w.fs) {
			return nil, &halfJoined{t.Range.Joined}
		}
	}
	item := &batchItem{Input: b.input(t), task: t, receipt: before, replace: before.MayReplace(w.fs)}
	// A process was killed at this task, or, on a store, perhaps while it wrote its first receipt.
	if item.killed() || before == nil && iox.IsURL(t.Output) {
		b.cleanUp(b.stages(item))
	}
	return w.convert(b, item, 1)
}

// lacks reports whether a file that a setting names is not there.
func (w *worker) lacks(s recipe.Setting) bool {
	place, _, _ := strings.Cut(s.File, "#") // one of several versions in it
	_, err := w.fs.Stat(place)
	return place != "" && err != nil
}

// otherContents is the error of a task whose plan had other definitions, or other content of the files that flags
// name, than this process has: what it would write is not what was planned.
func otherContents(t *tasks.Task, have string) error {
	what := "the definitions of --defs, --types-to or " + defsVariable +
		", or a file of --rules, --qos or --attach, have another content than for the plan"
	switch {
	case have == "":
		what = "the plan was made with definitions of " + defsVariable + ", which is not set here"
	case t.Recipe.Content == "":
		what = "the plan was made without definitions, and " + defsVariable + " is set here"
	}
	return &failure{path: t.Source, what: what, hint: "give them as they were for the plan, or make a new plan",
		err: &lacking{errors.New("other content")}}
}

// A lacking is the error of a task whose recipe names what this process does not have: another worker may.
type lacking struct{ err error }

func (e *lacking) Error() string { return e.err.Error() }
func (e *lacking) Unwrap() error { return e.err }

// Transient is for tasks.Transient.
func (*lacking) Transient() bool { return true }

// maxTries is how often a process begins a task while others do the same one.
const maxTries = 3

// convert does a task that is not done; b has what tasks of its recipe have in common.
func (w *worker) convert(b *batchRun, item *batchItem, try int) (*tasks.Result, error) {
	t := item.task
	_, err := w.fs.Stat(t.Output)
	free, sync := errors.Is(err, fs.ErrNotExist), !b.job.Write.NoSync
	if item.Err == nil && (free || item.replace || b.job.Write.Overwrite) {
		pending := t.Pending()
		pending.Manifest = w.manifest
		// The receipt of a batch need not wait for the disk: its name gets there before the output's name, and is enough.
		if err := w.store.Save(t, pending, sync && w.manifest == ""); err != nil {
			return nil, err
		}
	}
	run := *b
	if run.guard == nil {
		run.guard = guard.New(w.fs, w.fs, w.formats.Known()...)
		if item.Format != nil {
			run.guard.Keep(item.Format, item.Path)
		}
	}
	entry, err := run.convertOne(w.ctx, item, &w.made)
	if entry == nil {
		return nil, err
	}
	r := &tasks.Result{Task: t.ID, Transient: err != nil && tasks.Transient(err), Manifest: w.manifest, Entry: *entry,
		Err: err}
	if err == nil || entry.Done() {
		return r, w.keep(t, r, sync)
	}
	// The output has appeared meanwhile, or another process may be about to replace it.
	if rival := free && errors.Is(err, fs.ErrExist) || item.killed(); w.rivals(t) {
		if other, err := w.done(b, item, rival, try); other != nil || err != nil {
			return other, err
		}
	}
	if r.Transient || !free { // if it is not free, the receipt of what stands there stays
		return r, nil
	}
	return r, w.keep(t, r, sync)
}

// rivals reports whether other processes may do the same task: a batch on a disk has locked its manifest.
func (w *worker) rivals(t *tasks.Task) bool { return w.manifest == "" || iox.IsURL(t.Output) }

// keep saves the receipt of a task that is done. A batch on a disk has its manifest for that; on a store, the manifest
// comes at the end.
func (w *worker) keep(t *tasks.Task, r *tasks.Result, sync bool) error {
	if !w.rivals(t) {
		return nil
	}
	return w.store.Save(t, r, sync)
}

// receiptWait is how long the receipt of an output may come after it.
const receiptWait = 3 * time.Second

// done returns the result of another process that has done the same task meanwhile, nil if no
// process has. rival is set if another process may be at work: then its receipt will come, or this
// process tries again.
func (w *worker) done(b *batchRun, item *batchItem, rival bool, try int) (*tasks.Result, error) {
	t := item.task
	for end := time.Now().Add(receiptWait); ; {
		r, err := w.store.Load(t)
		if err != nil {
			return nil, err
		}
		if r.DoneBy(w.fs, t, b.set.verified) {
			r.Skipped = true
			return r, nil
		}
		rival = rival || r != nil && r.Status == tasks.StatusPending // it began after this process had looked
		if !rival || try == maxTries || w.ctx.Err() != nil {
			return nil, nil
		}
		if time.Now().After(end) { // it was killed in between, or this process has taken its receipt
			again := *item
			again.receipt, again.replace = r, true
			if again.killed() {
				b.cleanUp(b.stages(&again))
			}
			return w.convert(b, &again, try+1)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A preparedRun is what tasks of the same recipe have in common.
type preparedRun struct {
	run *batchRun
	err error
}

// prepare follows the recipe of a task, as bagconv plan has read it.
func (w *worker) prepare(t *tasks.Task) (*batchRun, error) {
	key := t.OutputDir + "\n" + string(tasks.Line(t.Recipe))
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.runs[key]
	if p != nil {
		return p.run, p.err
	}
	p = &preparedRun{}
	if p.run, p.err = w.readRecipe(t); p.err != nil {
		if slices.ContainsFunc(slices.Concat(t.Recipe.Settings, t.Recipe.Run), w.lacks) {
			p.err = &lacking{p.err}
		}
		p.err = fmt.Errorf("the recipe of the task: %w", p.err)
	}
	w.runs[key] = p
	return p.run, p.err
}

func (w *worker) readRecipe(t *tasks.Task) (*batchRun, error) {
	e := &env{Stdio: Stdio{Out: io.Discard, Err: w.Err}, formats: w.formats, moreFlags: w.moreFlags, meter: w.meter}
	e.useFiles(w.fs)
	if err := e.follow(w.ctx, "plan", &t.Recipe); err != nil {
		return nil, err
	}
	sink, err := e.sinkFormat(t.Recipe.Format, "x", e.command.Text)
	if err != nil {
		return nil, err
	}
	if sink.Name != t.Recipe.Format {
		return nil, fmt.Errorf("its settings do not write a %s", t.Recipe.Format)
	}
	b := &batchRun{env: e, ctx: w.ctx, out: t.OutputDir}
	if err := b.setJob(sink); err != nil {
		return nil, err
	}
	e.set.quiet = true
	b.job.Read.Key = w.set.job.Read.Key
	b.job.MaxMemory = max(w.set.job.MaxMemory/int64(w.jobs), minMemory)
	if b.job.Threads = w.set.job.Threads; b.job.Threads == 0 {
		b.job.Threads = ordered.Share(w.jobs)
	}
	return b, nil
}

// input finds the source of a task.
func (b *batchRun) input(t *tasks.Task) *batch.Input {
	in := &batch.Input{FS: b.fs, Path: t.Source}
	in.Format, in.Err = b.detect(t.Source)
	in.Measure()
	if in.Err == nil && (in.Size != t.Size || !in.ModTime.Equal(t.ModTime)) {
		in.Err = &failure{path: t.Source, what: "it has changed since the plan was made", hint: "make a new plan"}
	}
	return in
}

// convertOne converts one input. The entry is nil when it was interrupted; err
// is why it failed.
func (b *batchRun) convertOne(ctx context.Context, item *batchItem, made *folders) (e *batch.Entry, err error) {
	began, output, part := time.Now(), item.task.Output, item.task.Range
	e = &batch.Entry{
		SchemaVersion: batch.SchemaVersion, Input: inputName(item.Input), Size: item.Size, ModTime: item.ModTime,
		Output: output, Format: b.job.SinkFormat.Name,
		OutputFiles: []string{}, Options: append([]string{}, b.options...), LossCodes: []string{}, ByDesign: []string{},
		DamageCodes: []string{},
	}
	if item.Format != nil {
		e.SourceFormat = item.Format.Name
	}
	job := *b.job
	job.Source, job.SourceFormat, job.Sink, job.Extras = item.Path, item.Format, output, b.extrasOf(output)
	job.Write.Overwrite = job.Write.Overwrite || item.replace
	meter := b.meter.Part()
	base := iox.Metered(b.fs, meter)
	job.Read.FS = base
	if b.set.verified != "" {
		base = iox.ReadBack(base)
	}
	job.Write.FS = b.guard.Writer(base, job.Write.Overwrite)
	job.Progress = item.update
	if part != nil {
		b.narrow(&job, part)
	}
	report := convert.NewReport(convert.End{}, convert.End{})
	err = item.Err
	if err == nil && b.set.batch.checksum {
		e.SHA256, err = item.Hash(ctx)
	}
	if err == nil {
		err = b.prepare(ctx, &job, made, e)
	}
	if err == nil {
		report, err = convert.Run(ctx, job)
	}
	if part != nil && errors.Is(err, convert.ErrNothing) {
		err = nil // no message of the topics is in this part
	}
	lacking := false
	if err != nil {
		lacking, err = b.lacksTopics(&job, report, err)
	}
	result := resultOf(report, b.explainRun(ctx, &job, err))
	if result.Status == "interrupted" {
		return nil, err
	}
	e.Status, e.Error = result.Status, result.Error
	fillEntry(e, result)
	if job.Select.MissingOK && result.Error == "" {
		e.Missing = missingTopics(&job.Select, report)
	}
	if lacking {
		e.Status = batch.StatusNoTopics
	}
	e.Verified = b.set.verified
	e.DurationNS, e.IO = strconv.FormatInt(int64(time.Since(began)), 10), meter.Counts()
	return e, err
}

// lacksTopics reports whether a conversion ended because its source has none of the topics, which may be missing; then
// there is no error, unless the source is damaged, or something stands in the place of the output.
func (b *batchRun) lacksTopics(job *convert.Job, report *convert.Report, err error) (bool, error) {
	s := &job.Select
	nothing := errors.Is(err, convert.ErrNothing) && !s.Timed() && len(s.Where.Conditions) == 0
	switch {
	case !s.MissingOK || !nothing && !errors.Is(err, selection.ErrNoTopics):
		return false, err
	case slices.ContainsFunc(report.Warnings, func(w storage.Warning) bool { return w.Damage }):
		return false, &failure{path: job.Source, what: selection.ErrNoTopics.Error() + ", as far as it can be read",
			hint: "bagconv check explains the damage", err: err}
	}
	if _, missing := b.fs.Stat(job.Sink); !errors.Is(missing, fs.ErrNotExist) {
		return false, &failure{path: job.Source, what: selection.ErrNoTopics.Error() + ", but " + phrase.Clean(job.Sink) +
			" exists", hint: "remove that, or choose another output folder", err: err}
	}
	return true, nil
}

// missingTopics lists what a selection asks for and the source of a conversion does not have.
func missingTopics(s *selection.Selection, r *convert.Report) []string {
	var names, types []string
	for _, t := range r.Topics {
		names, types = append(names, t.Name), append(types, t.Type)
	}
	return s.Missing(names, types)
}

// A worker does tasks. It may be used from several goroutines.
type worker struct {
	*env
	ctx   context.Context
	store tasks.Store
	made  folders
	jobs  int

	manifest string // of the batch whose worker it is; "": receipts stay

	mu   sync.Mutex
	runs map[string]*preparedRun // by flags

	tally  tasks.Tally
	losses bool // of some that are done, before too
}

// prepare makes the place of an output free. Its content hashes go into e when it was verified.
func (b *batchRun) prepare(ctx context.Context, job *convert.Job, made *folders, e *batch.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := b.verifyOutput(ctx, job, func(res *verify.Result) { e.Content = digestsOf(res) }); err != nil {
		return err
	}
	if err := b.checkOutput(job); err != nil {
		return err
	}
	for _, path := range []string{job.Sink, job.Extras} {
		if path == "" {
			continue
		}
		if err := made.make(filepath.Dir(path)); err != nil {
			return explainFolder(err)
		}
	}
	return nil
}

// fillEntry fills an entry of the manifest from the report of a conversion.
func fillEntry(e *batch.Entry, r *resultJSON) {
	for _, l := range r.Losses {
		if l.ByDesign {
			e.ByDesign = tasks.Union(e.ByDesign, l.Code)
			continue
		}
		e.LossCodes = tasks.Union(e.LossCodes, l.Code)
		e.Lost.Messages += l.Count
	}
	for _, w := range r.Warnings {
		if w.Damage {
			e.DamageCodes = tasks.Union(e.DamageCodes, w.Code)
		}
	}
	e.Lost = batch.Lost{Messages: e.Lost.Messages + r.Lost.Messages, Bytes: r.Lost.Bytes, Blocks: r.Lost.Blocks,
		Uncounted: r.Lost.Uncounted}
	e.Topics = len(r.Topics)
	for _, t := range r.Topics {
		e.Read += t.Read
	}
	if r.Error == "" {
		e.Written, e.OutputSize = r.Sink.Messages, r.Sink.Size
		e.OutputFiles = append(e.OutputFiles, r.Sink.Files...)
	}
}
