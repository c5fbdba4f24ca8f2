package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/convert/recipe"
	"github.com/bagconv/bagconv/convert/tasks"
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

func (e *env) batch(c *cli.Context) error {
	b := &batchRun{env: e, ctx: c.Context, words: c.Args().Slice(), receipts: tasks.Store{FS: e.fs}}
	e.report.failed = b.failure
	if err := b.flags(); err != nil {
		return err
	}
	if err := b.noShares(); err != nil {
		return err
	}
	if err := b.find(); err != nil {
		return err
	}
	if e.set.dryRun {
		m, err := batch.Read(e.fs, b.manifest, e.set.resume, e.set.job.Write.Overwrite)
		if err != nil {
			return b.explainManifest(err)
		}
		if err := b.plan(m); err != nil {
			return err
		}
		return b.writePlan()
	}
	return b.runAll()
}

// noShares leads on whoever knows the shares that batch had: plan, work and collect divide conversions.
func (b *batchRun) noShares() error {
	const instead = "bagconv plan, work --shard and collect divide conversions among processes"
	if len(b.words) > 0 && b.words[0] == "collect" {
		if _, err := b.fs.Stat("collect"); err != nil {
			return usage(instead, "batch has no shares to collect")
		}
	}
	if s, err := tasks.ShardOf(os.LookupEnv); (err != nil || !s.All()) && !b.set.quiet {
		b.writeLines("note", []string{"this is a part of an array job, and batch converts all inputs; " + instead})
	}
	return nil
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

// divide divides cores and memory among conversions. A small recording keeps one core busy, so there is a conversion
// for each core, as far as there is memory.
func (b *batchRun) divide(small bool) error {
	all := b.set.job.MaxMemory
	if b.jobs = b.set.jobs; b.jobs == 0 {
		b.jobs = ordered.Runs()
		if small {
			b.jobs = max(b.jobs, min(ordered.Share(1), int(all/minMemory)))
		}
	}
	if share := all / int64(b.jobs); share >= minMemory || !b.command.isSet("max-memory") {
		b.job.MaxMemory = max(share, minMemory)
	} else {
		return usage("each conversion needs 64M", "--max-memory %s is too small for %d conversions at a time", b.command.text("max-memory"), b.jobs)
	}
	if b.job.Threads = b.set.job.Threads; b.job.Threads == 0 {
		b.job.Threads = ordered.Share(b.jobs)
	}
	return nil
}

// flags takes the flags.
func (b *batchRun) flags() error {
	out := b.set.outputDir
	switch {
	case out == "":
		return usage("type for example: bagconv batch -O OUT/ drives/", "no output folder given")
	case b.set.jobs < 0:
		return usage("0 is one per two cores", "--jobs needs a number of conversions, not %d", b.set.jobs)
	case b.set.checksum && !b.set.resume && b.set.dryRun:
		return usage("add --resume", "--checksum has no effect with --dry-run")
	}
	sink, err := b.sinkFormat(b.set.to, "x", b.command.text)
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
	if len(b.job.Attach) > 0 && !sink.Extras {
		return noPlace(&convert.Job{Sink: out, SinkFormat: sink, Formats: b.formats})
	}
	if st, err := b.fs.Stat(b.out); err == nil && !st.IsDir() {
		return usage("choose a folder", "%s is a file", clean(out))
	}
	b.manifest = filepath.Join(b.out, "manifest.jsonl")
	if m := b.set.manifest; m != "" {
		if b.manifest, err = iox.Abs(m); err != nil {
			return err
		}
	}
	if st, err := b.fs.Stat(b.manifest); err == nil && st.IsDir() {
		return usage("give the name of a file", "--manifest %s is a folder", clean(b.displayPath(b.manifest)))
	}
	return nil
}
