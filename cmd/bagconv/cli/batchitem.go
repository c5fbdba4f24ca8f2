package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A batchRun is one call of bagconv batch.
type batchRun struct {
	*env
	ctx      context.Context
	job      *convert.Job // what all conversions have in common
	words    []string     // of the line
	out      string       // absolute
	manifest string       // absolute
	recipe   *recipe.Recipe
	options  []string    // of the recipe, as the manifest has them
	receipts tasks.Store // of outputs whose lines are not in the manifest yet
	search   *batch.Found
	items    []*batchItem // in the order of search.Inputs
	jobs     int
	guard    *guard.Guard // of all inputs
}

// A batchItem is one input.
type batchItem struct {
	*batch.Input
	task    *tasks.Task
	action  string        // "convert", "skip" or "fail"
	reason  string        // why it is converted again, or cannot be
	replace bool          // the output is ours, from an earlier run
	receipt *tasks.Result // of the output, from an earlier run; nil: none
	entry   *batch.Entry
	adopted bool                   // entry comes from the receipt, and is not in the manifest yet
	update  func(convert.Progress) // gets the progress; nil: nobody asks
}

// killed reports whether an earlier run may have left the output half done.
func (item *batchItem) killed() bool {
	return item.receipt != nil && item.receipt.Status == tasks.StatusPending
}

// divide divides cores and memory among conversions. A small recording keeps one core busy, so there is a conversion
// for each core, as far as there is memory.
func (b *batchRun) divide(small bool) error {
	all := b.set.job.MaxMemory
	if b.jobs = b.set.batch.jobs; b.jobs == 0 {
		b.jobs = ordered.Runs()
		if small {
			b.jobs = max(b.jobs, min(ordered.Share(1), int(all/minMemory)))
		}
	}
	if share := all / int64(b.jobs); share >= minMemory || !b.command.IsSet("max-memory") {
		b.job.MaxMemory = max(share, minMemory)
	} else {
		return flags.Usage("each conversion needs 64M", "--max-memory %s is too small for %d conversions at a time",
			b.command.Text("max-memory"), b.jobs)
	}
	if b.job.Threads = b.set.job.Threads; b.job.Threads == 0 {
		b.job.Threads = ordered.Share(b.jobs)
	}
	return nil
}

// flags takes the flags.
func (b *batchRun) flags() error {
	out := b.set.batch.outputDir
	switch {
	case out == "":
		return flags.Usage("type for example: bagconv "+b.command.Name+" -O OUT/ drives/", "no output folder given")
	case b.set.batch.jobs < 0:
		return flags.Usage("0 is one per two cores", "--jobs needs a number of conversions, not %d", b.set.batch.jobs)
	case b.set.batch.checksum && !b.set.batch.resume && b.set.batch.dryRun:
		return flags.Usage("add --resume", "--checksum has no effect with --dry-run")
	}
	sink, err := b.sinkFormat(b.set.to, "x", b.command.Text)
	if err != nil {
		return err
	}
	if err := b.setJob(sink); err != nil {
		return err
	}
	if err := b.divide(false); err != nil {
		return err
	}
	if b.out, err = iox.Abs(out); err != nil {
		return err
	}
	if len(b.job.Attach) > 0 && !sink.Holds.Extras {
		return noPlace(&convert.Job{Sink: out, SinkFormat: sink, Formats: b.formats})
	}
	if st, err := b.fs.Stat(b.out); err == nil && !st.IsDir() {
		return flags.Usage("choose a folder", "%s is a file", phrase.Clean(out))
	}
	b.manifest = filepath.Join(b.out, "manifest.jsonl")
	if m := b.set.batch.manifest; m != "" {
		if b.manifest, err = iox.Abs(m); err != nil {
			return err
		}
	}
	if st, err := b.fs.Stat(b.manifest); err == nil && st.IsDir() {
		return flags.Usage("give the name of a file", "--manifest %s is a folder", phrase.Clean(b.displayPath(b.manifest)))
	}
	return nil
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

// setJob makes what all conversions to a format have in common.
func (b *batchRun) setJob(sink *storage.Format) (err error) {
	if b.job, err = b.jobFor(sink); err != nil {
		return err
	}
	b.job.Formats = b.formats
	b.recipe = b.env.recipe(sink)
	b.options = b.recipe.Options()
	return b.verifyOutput(b.ctx, &convert.Job{Edit: b.job.Edit}, nil)
}

// displayPath returns a path as it is shown: relative, if it is below the current folder.
func (e *env) displayPath(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// stages returns the outputs of an input, beside which a run that was killed may have left something.
func (b *batchRun) stages(item *batchItem) []string {
	paths := []string{item.task.Output}
	if dir := b.extrasOf(item.task.Output); dir != "" {
		paths = append(paths, extras.StagePath(dir))
	}
	return paths
}

// batchTasks are the conversions of a batch.
type batchTasks struct {
	order []*batch.Task
	of    map[*batch.Task]*batchItem
}

// extrasOf returns the folder for the attachments and metadata records of the recording that
// becomes an output: in the folder of --extras, with the name of the output; "" without --extras.
func (b *batchRun) extrasOf(output string) string {
	name, err := filepath.Rel(b.out, output)
	if b.job.Extras == "" || err != nil {
		return ""
	}
	if !b.job.SinkFormat.Layout.Folder {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return filepath.Join(b.job.Extras, name)
}

// digestsOf returns the content hashes of what was compared at level content.
func digestsOf(res *verify.Result) (list []batch.Digest) {
	for i := range res.Topics {
		if t := &res.Topics[i]; res.Level == verify.Content && t.A.Hash != "" {
			list = append(list, batch.Digest{Topic: t.Name, Type: cmp.Or(t.B.Type, t.A.Type), Messages: t.A.Messages,
				Hash: t.A.Hash, Sum: t.A.Sum})
		}
	}
	return list
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
