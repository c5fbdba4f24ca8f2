package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/ordered"
)

// work does the tasks that it reads.
func (e *env) work(ctx context.Context) error {
	if len(e.words) > 0 {
		return flags.Usage("type: bagconv work < PLAN, or bagconv work --task PLAN", "work takes no %s",
			phrase.Clean(e.wordAt(0)))
	}
	w := &worker{env: e, store: tasks.Store{FS: e.fs}, runs: map[string]*preparedRun{}, jobs: e.set.batch.jobs,
		tally: tasks.Tally{}}
	if w.jobs < 0 {
		return flags.Usage("0 is one per two cores", "--jobs needs a number of conversions, not %d", w.jobs)
	}
	if w.jobs == 0 {
		w.jobs = ordered.Runs()
	}
	ctx, cancel := context.WithCancelCause(ctx)
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
	err := w.feed(lines)
	close(lines)
	all.Wait()
	if cause := context.Cause(ctx); cause != nil && err == nil {
		err = cause
	}
	lossy, failed, transient := w.tally[batch.StatusLossy].Tasks, w.tally[batch.StatusFailed].Tasks,
		w.tally[tasks.FateTransient].Tasks
	if !e.set.quiet && (err == nil || len(w.tally) > 0) {
		e.say("%s done, %d with losses; %d done before; %d failed (%d worth a retry)%s",
			phrase.Count(int64(w.tally[batch.StatusOK].Tasks+lossy), "task"), lossy, w.tally[tasks.FateSkipped].Tasks,
			failed+transient, transient, withoutTopics(w.tally))
	}
	if err != nil {
		return err
	}
	return outcome{transient: transient > 0, some: failed > 0, lossy: w.losses && !e.set.work.lossesOK}.end()
}

// withoutTopics is "; N without the topics", or "" if there are no such tasks.
func withoutTopics(t tasks.Tally) string {
	if n := t[batch.StatusNoTopics].Tasks; n > 0 {
		return fmt.Sprintf("; %d without the topics", n)
	}
	return ""
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
			return tasks.EachLine(r, func(n int, line []byte, torn bool) error {
				if _, err := tasks.ParseTask(line); err != nil && n == 1 && !torn && len(w.set.work.tasks) > 0 {
					return fmt.Errorf("line 1: %w", err) // the file is no plan
				}
				return send(line)
			})
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
	if len(w.set.work.tasks) == 0 {
		return read(os.Stdin)
	}
	for _, name := range w.set.work.tasks {
		f, err := w.fs.Open(name)
		if err == nil {
			err = errors.Join(read(f), f.Close())
		}
		if err != nil {
			return &failure{path: name, what: "the tasks cannot be read: " + plainError(err).Error(),
				hint: "bagconv plan writes tasks", err: err}
		}
	}
	return nil
}

// shard returns the share of this process: --shard, or the share in the environment if the flag is not set.
func (w *worker) shard() (tasks.Shard, error) {
	text := w.set.work.shard
	if text == "" && len(w.set.work.tasks) == 0 {
		return tasks.Shard{}, nil // what arrives is meant for this process
	}
	if text != "" {
		s, err := tasks.ParseShard(text)
		if err != nil {
			return s, flags.Usage("", "--shard: %v", err)
		}
		return s, nil
	}
	s, err := tasks.ShardOf(os.LookupEnv)
	if err != nil {
		return s, flags.Usage("or use --shard I/N; 0/1 is everything", "%v", err)
	}
	if !s.All() && !w.set.quiet {
		w.say("share %s, by %s", s, s.Origin)
	}
	return s, nil
}

// workCommand is the command work.
func (e *env) workCommand() flags.Command {
	return flags.Command{
		Name: "work", Part: manyPart, Call: "work", Summary: "do tasks of a plan",
		About: `Does the tasks that it reads, and prints a result for each: a line of JSON. A task
that fails is a result, and does not stop the others. A task that is done, with
its output in place, is skipped. So tasks may be repeated, even at the same time.
A process may be killed at any moment: do its tasks again. OUT/.bagconv keeps
what is known of outputs. Memory and time do not depend on the number of tasks.`,
		Examples: []string{
			"bagconv work < plan.jsonl > results.jsonl",
			"bagconv work --task plan.jsonl --shard 3/8",
		},
		Exits: flags.Exits{
			0:   "all tasks are done; nothing is lost that the formats can store",
			1:   "failed before the tasks were read",
			3:   "all tasks are done, but something is damaged or lost",
			5:   "some tasks failed, and would fail again",
			75:  "some tasks failed for a reason that may pass, such as a full disk: try again",
			130: "interrupted; the task at hand is not done",
		},
		Operands: []flags.Flag{},
		Run:      e.work,
	}
}

// taskFlags returns the flags of plan, work and collect alone.
func (s *settings) taskFlags() []flags.Flag {
	quiet := flags.Flag{Name: "quiet", Short: "q", Kind: flags.OnOff, Set: flags.Put(&s.quiet)}
	list := flags.AllIn(batchGroup, "plan",
		flags.Flag{Name: "output", Short: "o", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.output),
			Help: "write the plan into FILE, which is replaced if it is a plan, instead of to standard output"},
		s.forceFlag("tasks replace existing outputs"),
		flags.Flag{Name: "range-size", Arg: "SIZE", Set: flags.Put(&s.work.rangeSize),
			Brief: "cut larger recordings into ranges of time, a task each",
			Help: "cut recordings that are larger into ranges of time that read about so much, such as 10G, a task each; the " +
				"parts together are what one conversion writes"},
	)
	list = append(list, flags.AllIn(batchGroup, "work",
		flags.Flag{Name: "task", Arg: "FILE", Kind: flags.File, Several: true, Set: flags.Put(&s.work.tasks),
			Help: "read tasks from FILE, a plan or a part of one, instead of from standard input; " +
				"repeat the flag for more files"},
		flags.Flag{Name: "shard", Arg: "I/N", Set: flags.Put(&s.work.shard),
			Help: "do share I, counted from 0, of N shares of the tasks, about equal in bytes. With --task the default is the " +
				"share that Kubernetes, AWS Batch or Slurm has for this process, see docs/scale.md; 0/1 is everything"},
		jobsFlag(s),
		flags.Flag{Name: "losses-ok", Kind: flags.OnOff, Set: flags.Put(&s.work.lossesOK),
			Help: "end with 0 instead of 3 if all tasks are done, but something is damaged or lost: for engines that know " +
				"success and failure only"},
	)...)
	list = append(list, flags.AllIn(batchGroup, "collect",
		flags.Flag{Name: "manifest", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.batch.manifest),
			Help: "manifest file, instead of OUT/manifest.jsonl"},
		flags.Flag{Name: "dataset", Arg: "DIR", Kind: flags.File, Set: flags.Put(&s.work.dataset),
			Help: "when all tasks of a plan with --to episodes are done, join their episodes to this LeRobot data set"},
		flags.Flag{Name: "append", Kind: flags.OnOff, Set: flags.Put(&s.export.add),
			Help: "add to the data set of --dataset"},
	)...)
	return append(list,
		quiet.In(runGroup, "do not count the tasks on standard error", "plan"),
		quiet.In(runGroup, "print nothing on standard error but failures", "work"),
		quiet.In(runGroup, "print no summary, but report what is missing", "collect"),
		s.jsonFlag().In(runGroup, "print the summary as JSON on standard output", "collect"),
	)
}
