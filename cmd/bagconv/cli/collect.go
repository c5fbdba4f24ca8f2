package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// collectMemory is from how many bytes on garbage is collected more often. 100,000 tasks and lines of
// results take about 110 MB.
const collectMemory = 140 << 20

// collectTasks puts the results of the tasks of a plan together.
func (e *env) collectTasks(ctx context.Context) error {
	args := e.words
	if len(args) == 0 {
		return flags.Usage("type: bagconv collect PLAN", "no plan given")
	}
	if e.LimitMemory != nil {
		e.LimitMemory(collectMemory)
	}
	s := &collection{env: e, plan: args[0], tally: tasks.Tally{}}
	if err := s.readPlan(); err != nil {
		return err
	}
	if err := s.readResults(args[1:]); err != nil {
		return err
	}
	if iox.IsURL(s.dir) {
		s.cleanUp([]string{s.dir}) // copies that were not finished
	}
	if err := s.checkDataset(); err != nil {
		return err
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	if err := s.makeDataset(ctx); err != nil {
		return err
	}
	return s.report()
}

func (s *collection) readPlan() error {
	f, err := s.fs.Open(s.plan)
	if err == nil {
		s.tasks, err = tasks.ReadPlan(f)
		err = errors.Join(err, f.Close())
	}
	if err == nil && len(s.tasks) == 0 {
		err = errors.New("it has no task")
	}
	if err != nil {
		return &failure{path: s.plan, what: "the plan cannot be read: " + plainError(err).Error(),
			hint: "bagconv plan writes one", err: err}
	}
	s.dir = s.tasks[0].OutputDir
	s.results, s.lines = make([]*tasks.Result, len(s.tasks)), make([][]byte, len(s.tasks))
	return nil
}

// readResults reads files with results. Of several results of one task a success counts, or else
// the last one.
func (s *collection) readResults(names []string) error {
	at, done := make(map[string]int, len(s.tasks)), make([]bool, len(s.tasks))
	for i, t := range s.tasks {
		at[t.ID] = i
	}
	for _, name := range names {
		f, err := s.fs.Open(name)
		if err == nil {
			var others int
			others, err = tasks.ReadResults(f, func(r *tasks.Result, line []byte) {
				if i, ok := at[r.Task]; ok && !done[i] {
					s.lines[i], done[i] = slices.Clone(line), r.Done()
				}
			})
			s.others += others
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return &failure{path: name, what: "the results cannot be read: " + plainError(err).Error(), err: err}
		}
	}
	return nil
}

// lookAt finds the result of a task. One whose output is not there is a failure.
func (s *collection) lookAt(store *tasks.Store, i int) error {
	t := s.tasks[i]
	there := func(r *tasks.Result) bool { return r.Empty() || r.Stands(s.fs) || s.beingJoined(t) }
	r := tasks.ParseResult(s.lines[i])
	if r == nil || !r.Done() || !there(r) { // the receipt knows if the output has been joined since
		kept, err := store.Load(t)
		if err != nil {
			return err
		}
		if kept != nil && kept.Task == t.ID && kept.Status != tasks.StatusPending {
			r = kept
		}
	}
	if r != nil && r.Done() && !there(r) {
		r = failedResult(t, &failure{path: t.Output, what: "the output is not there any more, or has changed",
			hint: "do the task again"})
		r.Transient = true
	}
	s.results[i] = r
	return nil
}

// resultsInMemory is how many results are in memory at a time, besides the parts of a recording.
const resultsInMemory = 1024

// write writes the manifest, and the list of failures.
func (s *collection) write(ctx context.Context) error {
	manifest, failures := filepath.Join(s.dir, "manifest.jsonl"), filepath.Join(s.dir, "failures.jsonl")
	if m := s.set.batch.manifest; m != "" {
		manifest = m
	}
	if err := batch.Check(s.fs, manifest); err != nil {
		return (&batchRun{env: s.env, manifest: manifest}).explainManifest(err)
	}
	var made folders
	for _, name := range []string{manifest, failures} {
		if err := made.make(filepath.Dir(name)); err != nil {
			return explainFolder(err)
		}
	}
	s.sum.SchemaVersion, s.sum.Tasks, s.sum.Torn = schemaVersion, len(s.tasks), s.others
	s.sum.Plan, s.sum.Manifest, s.sum.Failures = s.plan, manifest, failures
	err := iox.Replace(s.fs, manifest, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10)
		for from := 0; from < len(s.tasks); {
			to := s.end(from)
			if err := s.writeSome(ctx, out, from, to); err != nil {
				return err
			}
			from = to
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	return writeTasks(s.env, failures, s.failed)
}

// end returns up to which task results are looked at after from: parts of a recording are not divided.
func (s *collection) end(from int) int {
	to := min(from+resultsInMemory, len(s.tasks))
	for to < len(s.tasks) && s.tasks[to].Range != nil && s.tasks[to].Range.Part > 0 {
		to++
	}
	return to
}

// writeSome writes the lines of the manifest for some tasks, and forgets their results.
func (s *collection) writeSome(ctx context.Context, out *bufio.Writer, from, to int) error {
	store := tasks.Store{FS: s.fs}
	if err := readReceipts(ctx, from, to, func(i int) error { return s.lookAt(&store, i) }); err != nil {
		return err
	}
	if err := s.join(ctx, from, to); err != nil {
		return err
	}
	s.count(from, to)
	for _, e := range s.entries(from, to) {
		s.without.add(e)
		if _, err := out.Write(tasks.Line(e)); err != nil {
			return err
		}
	}
	clear(s.results[from:to])
	clear(s.lines[from:to])
	return nil
}

// count counts tasks, and lists the tasks that are not done.
func (s *collection) count(from, to int) {
	for i, r := range s.results[from:to] {
		if r == nil {
			r = &tasks.Result{Transient: true, Entry: batch.Entry{Status: tasks.FateMissing, Error: tasks.FateMissing}}
		}
		r.Skipped = false // a worker has found it done
		if s.tally.Add(r.Fate(), &r.Entry); !r.Done() {
			s.failed = append(s.failed, failedTask{*s.tasks[from+i], r.Transient, r.Error})
		}
	}
}

// report reports the counts, and ends with a status.
func (s *collection) report() error {
	sum, t, done := &s.sum, s.tally, s.tally.Of(batch.StatusOK, batch.StatusLossy)
	sum.OK, sum.Lossy, sum.Failed = t[batch.StatusOK].Tasks, t[batch.StatusLossy].Tasks, t[batch.StatusFailed].Tasks
	sum.Transient, sum.Missing = t[tasks.FateTransient].Tasks, t[tasks.FateMissing].Tasks
	sum.Size, sum.OutputSize, sum.Messages = done.Size, done.OutputSize, done.Messages
	sum.IO, sum.DurationNS = done.IO, strconv.FormatInt(done.DurationNS, 10)
	sum.NoTopics = t[batch.StatusNoTopics].Tasks
	var nowhere error
	if sum.Missing+sum.Transient == 0 {
		nowhere = s.without.nowhere()
	}
	ended := outcome{failed: nowhere != nil, transient: sum.Missing+sum.Transient > 0, some: sum.Failed > 0,
		lossy: sum.Lossy > 0}
	sum.Status, sum.ExitStatus = ended.word(), ended.status()
	if s.set.json {
		if err := writeJSON(s.Out, sum); err != nil {
			return err
		}
	}
	if n := sum.Failed + sum.Transient + sum.Missing; n > 0 {
		s.say("%s to be done again, in %s: %d not done, %d failed (%d worth a retry)", phrase.Count(int64(n), "task"),
			phrase.Clean(sum.Failures), sum.Missing, sum.Transient+sum.Failed, sum.Transient)
	}
	if sum.Torn > 0 {
		s.say("skipped %s of results that cannot be read", phrase.Count(int64(sum.Torn), "line"))
	}
	s.writeLines("note", s.without.notes())
	if nowhere != nil {
		s.say("%s", explain(nowhere))
	}
	if !s.set.quiet {
		s.say("%s of %s done, %d with losses%s; manifest: %s", fmt.Sprint(sum.OK+sum.Lossy), phrase.Count(int64(sum.Tasks),
			"task"), sum.Lossy, withoutTopics(t), phrase.Clean(sum.Manifest))
	}
	return ended.end()
}

// collectCommand is the command collect.
func (e *env) collectCommand() flags.Command {
	return flags.Command{
		Name: "collect", Part: manyPart, Call: "collect PLAN [RESULTS...]", Summary: "put the results of tasks together",
		About: `Reports which tasks of PLAN are done. It writes OUT/manifest.jsonl, as bagconv
batch does, and OUT/failures.jsonl: the tasks that failed or were not done, with
their errors, which bagconv work can read. RESULTS are files with what work has
printed; a line that is cut off is skipped. For all other tasks, results
are read from OUT/.bagconv.`,
		Examples: []string{
			"bagconv collect plan.jsonl",
			"bagconv collect plan.jsonl results-*.jsonl --json",
			"bagconv work < out/failures.jsonl",
		},
		Exits: flags.Exits{
			0:  "all tasks are done; nothing is lost that the formats can store",
			1:  "failed, or no recording has the topics",
			3:  "all tasks are done, but something is damaged or lost",
			5:  "some tasks failed, and would fail again",
			75: "some tasks are not done, or failed for a reason that may pass",
		},
		Run: e.collectTasks,
	}
}
