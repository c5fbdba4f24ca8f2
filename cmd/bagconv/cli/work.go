package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/tasks"
	"github.com/bagconv/bagconv/internal/ordered"
)

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
	sum  workSum
}

// A workSum counts tasks by what became of them.
type workSum struct {
	ok, lossy, skipped, failed, transient int
	losses                                bool // of some that are done, before too
}

// work does the tasks that it reads.
func (e *env) work(c *cli.Context) error {
	if c.Args().Present() {
		return usage("type: bagconv work < PLAN, or bagconv work --task PLAN", "work takes no %s", clean(c.Args().First()))
	}
	w := &worker{env: e, store: tasks.Store{FS: e.fs}, runs: map[string]*preparedRun{}, jobs: e.set.jobs}
	if w.jobs < 0 {
		return usage("0 is one per two cores", "--jobs needs a number of conversions, not %d", w.jobs)
	}
	if w.jobs == 0 {
		w.jobs = ordered.Runs()
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	defer cancel(nil)
	w.ctx = ctx
	lines := make(chan []byte)
	var all sync.WaitGroup
	for range w.jobs {
		all.Go(func() {
			for line := range lines {
				if err := w.line(line); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := w.openMetrics("work", -1)
	if err == nil {
		err = w.feed(lines)
	}
	close(lines)
	all.Wait()
	if cause := context.Cause(ctx); cause != nil && err == nil {
		err = cause
	}
	if !e.set.quiet {
		e.say("%s", w.sum.text())
	}
	if err != nil {
		return err
	}
	return outcome{transient: w.sum.transient > 0, some: w.sum.failed > 0, lossy: w.sum.losses && !e.set.lossesOK}.end()
}

func (s *workSum) text() string {
	return fmt.Sprintf("%s done, %d of them with losses; %d done before; %d failed, %d for a reason that may pass",
		count(int64(s.ok+s.lossy), "task"), s.lossy, s.skipped, s.failed+s.transient, s.transient)
}

// feed reads the lines of tasks.
func (w *worker) feed(lines chan<- []byte) error {
	send := func(line []byte) error {
		select {
		case lines <- append([]byte(nil), line...):
			return nil
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
	shard, err := w.shard()
	if err != nil {
		return err
	}
	if shard.All() {
		return w.eachFile(func(r io.Reader) error {
			return tasks.EachLine(r, func(_ int, line []byte, _ bool) error { return send(line) })
		})
	}
	var plan []*tasks.Task
	err = w.eachFile(func(r io.Reader) error {
		list, err := tasks.ReadPlan(r)
		plan = append(plan, list...)
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range shard.Pick(plan) {
		if err := send(tasks.Line(t)); err != nil {
			return err
		}
	}
	return nil
}

// eachFile calls read with each file of --task, or with standard input.
func (w *worker) eachFile(read func(io.Reader) error) error {
	if len(w.set.tasks) == 0 {
		return read(os.Stdin)
	}
	for _, name := range w.set.tasks {
		f, err := w.fs.Open(name)
		if err == nil {
			err = errors.Join(read(f), f.Close())
		}
		if err != nil {
			return &failure{path: name, what: "the tasks cannot be read: " + plainError(err).Error(), hint: "bagconv plan writes tasks", err: err}
		}
	}
	return nil
}

// shard returns the share of this process: --shard, or the share in the environment if the flag is not set.
func (w *worker) shard() (tasks.Shard, error) {
	text := w.set.shard
	if text == "" && len(w.set.tasks) == 0 {
		return tasks.Shard{}, nil // what arrives is meant for this process
	}
	if text != "" {
		s, err := tasks.ParseShard(text)
		if err != nil {
			return s, usage("", "--shard: %v", err)
		}
		return s, nil
	}
	s, err := tasks.ShardOf(os.LookupEnv)
	if err != nil {
		return s, usage("or use --shard I/N; 0/1 is everything", "%v", err)
	}
	if !s.All() && !w.set.quiet {
		w.say("share %s, by %s", s, s.Origin)
	}
	return s, nil
}
