package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/batch"
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
	m, err := batch.Open(b.fs, b.manifest, b.set.batch.resume, b.set.job.Write.Overwrite)
	if err != nil {
		return b.explainManifest(err)
	}
	m.NoSync = b.set.job.Write.NoSync
	if err := b.plan(m); err != nil {
		return errors.Join(err, m.Close())
	}
	b.cleanUp(b.killed())
	list := b.tasks()
	if err := w.beginManifest(m, b.items); err != nil {
		return errors.Join(b.explainManifest(err), m.Close())
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
		if r == nil {
			show.ended(t, nil)
			return
		}
		item.entry = &r.Entry
		// what is not written down is no use
		if err := m.Append(item.entry, func() { w.store.Remove(item.task) }); err != nil {
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

// tasks lists what is to be done.
func (b *batchRun) tasks() *batchTasks {
	list := &batchTasks{of: map[*batch.Task]*batchItem{}}
	unknown := b.job.Write.Compression != "" && b.job.Write.Compression != "none"
	for _, f := range b.command.Flags {
		unknown = unknown || f.IsSet() && (f.Group == selectGroup || f.Group == editGroup)
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

// explainSpace reports that an output cannot fit.
func (b *batchRun) explainSpace(item *batchItem, err error) error {
	var space *batch.SpaceError
	if !errors.As(err, &space) {
		return err
	}
	return &failure{
		path: b.displayPath(item.task.Output), what: fmt.Sprintf("the disk has %s left, but the output needs at least %s",
			sizeText(space.Free), sizeText(space.Need)),
		hint: "make room, or choose an output on another disk", err: err,
	}
}
