package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/convert/extras"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
)

// reportFile makes the file of --report.
func (b *batchRun) reportFile() (*reportFile, error) {
	path := b.set.report
	if path != "" && iox.SamePath(b.fs, path, b.manifest) {
		return nil, b.refuseReport("the manifest")
	}
	return b.openReport(b.ctx, path, b.report.notEnded())
}

// smallInput is up to which size inputs are small, in bytes.
const smallInput = 4 << 20

// runAll runs the conversions, and reports what became of each.
func (b *batchRun) runAll() error {
	w := &worker{env: b.env, store: b.receipts, manifest: b.manifest}
	defer w.made.removeEmpty()
	if err := w.made.make(filepath.Dir(b.manifest)); err != nil {
		return explainFolder(err)
	}
	if err := w.made.make(b.out); err != nil {
		return explainFolder(err)
	}
	report, err := b.reportFile()
	if err != nil {
		return err
	}
	b.cleanUp([]string{b.manifest})
	m, err := batch.Open(b.fs, b.manifest, b.set.resume, b.set.job.Write.Overwrite)
	if err != nil {
		return b.explainManifest(err)
	}
	if err := b.plan(m); err != nil {
		return errors.Join(err, m.Close())
	}
	b.cleanUp(b.killed())
	list := b.tasks()
	if err := w.beginManifest(m, b.items); err != nil {
		return errors.Join(b.explainManifest(err), m.Close())
	}
	if err := b.openMetrics("batch", len(list.order)); err != nil {
		return errors.Join(err, m.Close())
	}
	if !slices.ContainsFunc(list.order, func(t *batch.Task) bool { return t.Input.Size > smallInput }) {
		if err := b.divide(true); err != nil {
			return errors.Join(err, m.Close())
		}
		if b.CollectLess != nil {
			b.CollectLess(int64(b.jobs) * minMemory / 2) // small ones need less
		}
	}
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	w.ctx = ctx
	defer w.store.Tidy(b.out)
	began := time.Now()
	w.batch(b, list, m, cancel)
	failed := m.Close()
	if failed != nil {
		failed = fmt.Errorf("the manifest: %w", failed)
	}
	if b.ctx.Err() == nil && ctx.Err() != nil {
		failed = errors.Join(context.Cause(ctx), failed)
	}
	return b.summarize(report, time.Since(began), failed)
}

// batch does the tasks of a batch; their lines go to m. end ends the batch.
func (w *worker) batch(b *batchRun, list *batchTasks, m *batch.Manifest, end context.CancelCauseFunc) {
	show := newBatchProgress(b, list)
	defer show.stop()
	var mu sync.Mutex
	var crowded []*batch.Task // for which others left no room: tried again alone
	jobs := b.jobs
	do := func(ctx context.Context, t *batch.Task, fits error) {
		b.metrics.begin()
		item := list.of[t]
		item.update = func(p convert.Progress) { show.update(t, p) }
		if fits != nil {
			item.Err = b.explainSpace(item, fits)
		}
		r, err := w.convert(b, item, 1)
		if err == nil {
			err = r.Err
		}
		switch {
		case fits == nil && errors.Is(err, syscall.ENOSPC) && jobs > 1:
			mu.Lock()
			defer mu.Unlock()
			crowded, r = append(crowded, t), nil
		case r == nil && ctx.Err() != nil:
			w.store.Remove(item.task)
		case r == nil:
			r = failedResult(item.task, err)
		}
		b.metrics.endResult(r)
		if r == nil {
			show.ended(t, nil)
			return
		}
		item.entry = &r.Entry
		if err := m.Append(item.entry, func() { w.store.Remove(item.task) }); err != nil { // what is not written down is no use
			end(fmt.Errorf("the manifest: %w", err))
		}
		show.ended(t, item)
	}
	batch.Run(w.ctx, list.order, jobs, do)
	jobs = 1
	batch.Run(w.ctx, crowded, jobs, do)
}

// beginManifest begins a manifest with the lines that it lacks.
func (w *worker) beginManifest(m *batch.Manifest, items []*batchItem) error {
	err := m.Begin()
	for _, item := range items {
		if err == nil && item.adopted {
			err = m.Append(item.entry, func() {
				if item.receipt.Manifest != "" { // others are of work, and stay for collect
					w.store.Remove(item.task)
				}
			})
		}
	}
	return err
}

// killed lists the outputs that a run which was killed may have left half done.
func (b *batchRun) killed() (paths []string) {
	for _, item := range b.items {
		if item.killed() {
			paths = append(paths, b.stages(item)...)
		}
	}
	return paths
}

// stages returns the outputs of an input, beside which a run that was killed may have left something.
func (b *batchRun) stages(item *batchItem) []string {
	paths := []string{item.task.Output}
	if dir := b.extrasOf(item.task.Output); dir != "" {
		paths = append(paths, extras.StagePath(dir))
	}
	return paths
}

func explainFolder(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return &failure{path: pe.Path, what: "cannot create the folder: " + pe.Err.Error(), hint: "choose another folder", err: err}
	}
	return err
}

// batchTasks are the conversions of a batch.
type batchTasks struct {
	order []*batch.Task
	of    map[*batch.Task]*batchItem
}

// tasks lists what is to be done.
func (b *batchRun) tasks() *batchTasks {
	list := &batchTasks{of: map[*batch.Task]*batchItem{}}
	unknown := b.job.Write.Compression != "" && b.job.Write.Compression != "none"
	for _, f := range b.command.flags {
		unknown = unknown || f.IsSet() && (f.group == selectGroup || f.group == editGroup)
	}
	for _, item := range b.items {
		if item.action == "skip" {
			continue
		}
		t := &batch.Task{Input: item.Input, Output: item.task.Output}
		if !unknown && item.Err == nil {
			t.Expect = item.Size
		}
		list.order, list.of[t] = append(list.order, t), item
	}
	return list
}

// convertOne converts one input. The entry is nil when it was interrupted; err
// is why it failed.
func (b *batchRun) convertOne(ctx context.Context, item *batchItem, made *folders) (e *batch.Entry, err error) {
	began, output, part := time.Now(), item.task.Output, item.task.Range
	e = &batch.Entry{
		SchemaVersion: batch.SchemaVersion, Input: inputName(item.Input), Size: item.Size, ModTime: item.ModTime, Output: output, Format: b.job.SinkFormat.Name,
		OutputFiles: []string{}, Options: append([]string{}, b.options...), LossCodes: []string{}, ByDesign: []string{}, DamageCodes: []string{},
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
	report := &convert.Report{}
	err = item.Err
	if err == nil && b.set.checksum {
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
	result := resultOf(report, b.explainRun(ctx, &job, err))
	if result.Status == "interrupted" {
		return nil, err
	}
	e.Status, e.Error = result.Status, result.Error
	fillEntry(e, result)
	e.Verified = b.set.verified
	e.DurationNS, e.IO = strconv.FormatInt(int64(time.Since(began)), 10), meter.Counts()
	return e, err
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

// digestsOf returns the content hashes of what was compared at level content.
func digestsOf(res *verify.Result) (list []batch.Digest) {
	for i := range res.Topics {
		if t := &res.Topics[i]; res.Level == verify.Content && t.A.Hash != "" {
			list = append(list, batch.Digest{Topic: t.Name, Type: cmp.Or(t.B.Type, t.A.Type), Messages: t.A.Messages, Hash: t.A.Hash, Sum: t.A.Sum})
		}
	}
	return list
}

// extrasOf returns the folder for the attachments and metadata records of the recording that
// becomes an output: in that of --extras, with the name of the output; "" without --extras.
func (b *batchRun) extrasOf(output string) string {
	name, err := filepath.Rel(b.out, output)
	if b.job.Extras == "" || err != nil {
		return ""
	}
	if !b.job.SinkFormat.Folder {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return filepath.Join(b.job.Extras, name)
}

// checkOutput refuses an output that would take the place of an input, or of something
// else than an old output.
func (b *batchRun) checkOutput(job *convert.Job) error {
	_, err := b.guard.Output(guard.Output{Path: job.Sink, Format: job.SinkFormat, Name: job.Source, Overwrite: true})
	if err == nil {
		err = convert.CheckOutputs(job)
	}
	if errors.Is(err, guard.ErrFolder) {
		var r *guard.Refusal
		errors.As(err, &r)
		r.Hint = "remove it yourself, or choose another output folder"
	}
	if err != nil {
		return explainOutput(job, err)
	}
	return nil
}

// explainSpace reports that an output cannot fit.
func (b *batchRun) explainSpace(item *batchItem, err error) error {
	var space *batch.SpaceError
	if !errors.As(err, &space) {
		return err
	}
	return &failure{
		path: b.displayPath(item.task.Output), what: fmt.Sprintf("the disk has %s left, but the output needs at least %s", sizeText(space.Free), sizeText(space.Need)),
		hint: "make room, or choose an output on another disk", err: err,
	}
}

// fillEntry fills an entry of the manifest from the report of a conversion.
func fillEntry(e *batch.Entry, r *resultJSON) {
	add := func(codes *[]string, code string) {
		if !slices.Contains(*codes, code) {
			*codes = append(*codes, code)
		}
	}
	for _, l := range r.Losses {
		if l.ByDesign {
			add(&e.ByDesign, l.Code)
			continue
		}
		add(&e.LossCodes, l.Code)
		e.Lost.Messages += l.Count
	}
	for _, w := range r.Warnings {
		if w.Damage {
			add(&e.DamageCodes, w.Code)
		}
	}
	e.Lost = batch.Lost{Messages: e.Lost.Messages + r.Lost.Messages, Bytes: r.Lost.Bytes, Blocks: r.Lost.Blocks, Uncounted: r.Lost.Uncounted}
	e.Topics = len(r.Topics)
	for _, t := range r.Topics {
		e.Read += t.Read
	}
	if r.Error == "" {
		e.Written, e.OutputSize, e.OutputFiles = r.Sink.Messages, r.Sink.Size, r.Sink.Files
	}
}

// folders are those that were made, so that empty ones can go. The zero value
// has none. It may be used from several goroutines.
type folders struct {
	mu   sync.Mutex
	made []string // a folder comes before what is in it
}

// make makes a folder with all above it.
func (f *folders) make(dir string) error {
	if iox.IsURL(dir) {
		return nil // stores have no folders
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if st, err := os.Stat(d); err == nil && !st.IsDir() {
			return &os.PathError{Op: "mkdir", Path: d, Err: syscall.ENOTDIR}
		} else if err == nil || filepath.Dir(d) == d {
			break
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		switch err := os.Mkdir(d, 0o777); {
		case err == nil:
			f.made = append(f.made, d)
		case !errors.Is(err, os.ErrExist):
			return err
		}
	}
	return nil
}

// removeEmpty removes those in which nothing came to stand.
func (f *folders) removeEmpty() {
	for _, d := range slices.Backward(f.made) {
		_ = os.Remove(d) // fails for one that has something in it, as it should
	}
}
