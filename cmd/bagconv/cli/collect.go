package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// A collection is what is known of the tasks of a plan.
type collection struct {
	*env
	plan    string
	dir     string // of the outputs
	tasks   []*tasks.Task
	lines   [][]byte        // of results that were given, index as tasks; nil: none
	results []*tasks.Result // those at hand, index as tasks; nil: not done
	others  int             // lines of results that are none
	failed  []failedTask
	sum     collectJSON
}

// The JSON of collect --json, documented in docs/scale.md.
type collectJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Status        string `json:"status"` // "ok", "lossy" or "failed"
	ExitStatus    int    `json:"exit_status"`
	Plan          string `json:"plan"`
	Manifest      string `json:"manifest"`
	Failures      string `json:"failures"` // the file with tasks that are to be done again
	Tasks         int    `json:"tasks"`
	OK            int    `json:"ok"`
	Lossy         int    `json:"lossy"`
	Failed        int    `json:"failed"`    // for a reason that stays
	Transient     int    `json:"transient"` // for a reason that may pass
	Missing       int    `json:"missing"`   // neither done nor failed
	Torn          int    `json:"torn"`      // lines of results that cannot be read
	Size          int64  `json:"size"`      // of the inputs that are done
	OutputSize    int64  `json:"output_size"`
	Messages      int64  `json:"messages"`

	IO         iox.Counts `json:"io"`          // of all conversions
	DurationNS string     `json:"duration_ns"` // the same
}

// A failedTask is a task with why it is not done.
type failedTask struct {
	tasks.Task
	Transient bool   `json:"transient"`
	Error     string `json:"error"`
}

// collectMemory is from how many bytes on garbage is collected more often. 100,000 tasks and lines of
// results take about 110 MB.
const collectMemory = 140 << 20

// collectTasks puts the results of the tasks of a plan together.
func (e *env) collectTasks(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 {
		return usage("type: bagconv collect PLAN", "no plan given")
	}
	if e.LimitMemory != nil {
		e.LimitMemory(collectMemory)
	}
	s := &collection{env: e, plan: args[0]}
	if err := s.readPlan(); err != nil {
		return err
	}
	if err := s.readResults(args[1:]); err != nil {
		return err
	}
	if iox.IsURL(s.dir) {
		s.cleanUp([]string{s.dir}) // copies that were not finished
	}
	if err := s.write(c.Context); err != nil {
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
		return &failure{path: s.plan, what: "the plan cannot be read: " + plainError(err).Error(), hint: "bagconv plan writes one", err: err}
	}
	s.dir = s.tasks[0].OutputDir
	s.results, s.lines = make([]*tasks.Result, len(s.tasks)), make([][]byte, len(s.tasks))
	return nil
}

// readResults reads files with results. Of several about one task that of a success counts, or
// else the last.
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

// look finds the results of tasks, from one number to before another. Those whose outputs are not there
// are failures.
func (s *collection) look(ctx context.Context, from, to int) error {
	store := tasks.Store{FS: s.fs}
	return readReceipts(ctx, from, to, func(i int) error { return s.lookAt(&store, i) })
}

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
		r = failedResult(t, &failure{path: t.Output, what: "the output is not there any more, or has changed", hint: "do the task again"})
		r.Transient = true
	}
	s.results[i] = r
	return nil
}

// atHand is how many results are in memory at a time, besides the parts of a recording.
const atHand = 1024

// write writes the manifest, and the list of failures.
func (s *collection) write(ctx context.Context) error {
	manifest, failures := filepath.Join(s.dir, "manifest.jsonl"), filepath.Join(s.dir, "failures.jsonl")
	if m := s.set.manifest; m != "" {
		manifest = m
	}
	if err := batch.Check(s.fs, manifest); err != nil {
		return (&batchRun{env: s.env, manifest: manifest}).explainManifest(err)
	}
	if err := s.made(manifest, failures); err != nil {
		return err
	}
	s.sum.SchemaVersion, s.sum.Tasks, s.sum.Torn = schemaVersion, len(s.tasks), s.others
	s.sum.DurationNS = "0"
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
	to := min(from+atHand, len(s.tasks))
	for to < len(s.tasks) && s.tasks[to].Range != nil && s.tasks[to].Range.Part > 0 {
		to++
	}
	return to
}

// writeSome writes the lines of the manifest for some tasks, and forgets their results.
func (s *collection) writeSome(ctx context.Context, out *bufio.Writer, from, to int) error {
	if err := s.look(ctx, from, to); err != nil {
		return err
	}
	if err := s.join(ctx, from, to); err != nil {
		return err
	}
	s.count(from, to)
	for _, e := range s.entries(from, to) {
		if _, err := out.Write(tasks.Line(e)); err != nil {
			return err
		}
	}
	clear(s.results[from:to])
	clear(s.lines[from:to])
	return nil
}

// made makes the folders of files.
func (s *collection) made(names ...string) error {
	var made folders
	for _, name := range names {
		if err := made.make(filepath.Dir(name)); err != nil {
			return explainFolder(err)
		}
	}
	return nil
}

// count counts tasks, and lists those that are not done.
func (s *collection) count(from, to int) {
	sum := &s.sum
	for i := from; i < to; i++ {
		r := s.results[i]
		switch {
		case r == nil:
			sum.Missing++
			s.failed = append(s.failed, failedTask{*s.tasks[i], true, "not done"})
			continue
		case r.Status == batch.StatusFailed && r.Transient:
			sum.Transient++
		case r.Status == batch.StatusFailed:
			sum.Failed++
		case r.Status == batch.StatusLossy:
			sum.Lossy++
		default:
			sum.OK++
		}
		if r.Status == batch.StatusFailed {
			s.failed = append(s.failed, failedTask{*s.tasks[i], r.Transient, r.Error})
			continue
		}
		sum.IO = sum.IO.Plus(r.IO)
		sum.DurationNS = addNumbers(sum.DurationNS, r.DurationNS)
		sum.Size += r.Size
		sum.OutputSize += r.OutputSize
		sum.Messages += r.Written
	}
}

// report reports the counts, and ends with a status.
func (s *collection) report() error {
	sum := &s.sum
	ended := outcome{transient: sum.Missing+sum.Transient > 0, some: sum.Failed > 0, lossy: sum.Lossy > 0}
	sum.Status, sum.ExitStatus = ended.word(), ended.status()
	if s.set.json {
		if err := writeJSON(s.Out, sum); err != nil {
			return err
		}
	}
	if n := sum.Failed + sum.Transient + sum.Missing; n > 0 {
		s.say("%s to be done again, in %s: %d not done, %d failed for a reason that may pass, %d failed", count(int64(n), "task"), clean(sum.Failures), sum.Missing, sum.Transient, sum.Failed)
	}
	if sum.Torn > 0 {
		s.say("skipped %s of results that cannot be read", count(int64(sum.Torn), "line"))
	}
	if !s.set.quiet {
		s.say("%s of %s done, %d with losses; manifest: %s", fmt.Sprint(sum.OK+sum.Lossy), count(int64(sum.Tasks), "task"), sum.Lossy, clean(sum.Manifest))
	}
	return ended.end()
}
