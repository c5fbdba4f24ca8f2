package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// guessMapping prints a mapping file for a recording.
func (e *env) guessMapping(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return flags.Usage("type for example: bagconv export --guess IN", "no input given")
	}
	r, err := e.openWith(ctx, words[0], storage.ReadOptions{})
	if err != nil {
		return err
	}
	defer r.Close() // it was only read
	text, err := lerobot.Guess(r.Info)
	if err != nil {
		return &failure{path: words[0], what: err.Error(), err: err}
	}
	_, err = fmt.Fprint(e.Out, text)
	return err
}

// exportDataset makes a data set of LeRobot, or adds to one.
func (e *env) exportDataset(ctx context.Context, words []string, out string) error {
	if !e.command.IsSet(lerobot.OptionMap) {
		return flags.Usage("bagconv export --guess IN prints one", "--format lerobot needs a mapping file: --map FILE")
	}
	if e.set.export.add && !lerobot.IsDataset(e.fs, out) {
		return &failure{path: out, what: "there is no data set that could be added to", hint: "omit --append"}
	}
	if !e.isMany(words) && !e.set.export.add {
		if e.set.job.DryRun {
			return e.foresee(ctx, words[0])
		}
		err := e.convert(ctx, conversion{})
		if err == nil || isLossy(err) {
			e.sayReport(out)
		}
		return err
	}
	return e.joinDataset(ctx, words, filepath.Clean(out))
}

// episodesFolder returns where the episodes of a data set are until it is made.
func episodesFolder(out string) string { return out + ".episodes" }

// joinDataset makes a data set of several recordings: a batch makes the episodes of each, and stays if one fails, so
// that --resume goes on there.
func (e *env) joinDataset(ctx context.Context, words []string, out string) error {
	b := &batchRun{env: e, ctx: ctx, words: words, receipts: tasks.Store{FS: e.fs}}
	e.report.failed = b.failure
	e.set.batch.outputDir, e.set.batch.dryRun, e.set.job.DryRun, e.set.to = episodesFolder(out), e.set.job.DryRun, false,
		lerobot.PartName
	if err := b.flags(); err != nil {
		return err
	}
	if err := b.find(); err != nil {
		return err
	}
	join := &lerobot.Join{FS: e.fs, Path: out, Append: e.set.export.add, Overwrite: e.set.job.Write.Overwrite,
		NoSync: e.set.job.Write.NoSync}
	for _, in := range b.search.Inputs {
		join.Parts = append(join.Parts, lerobot.Part{Source: e.displayPath(in.Path)})
	}
	if err := e.checkDataset(b.guard, join); err != nil {
		return err
	}
	join.Parts = nil
	if e.set.batch.dryRun {
		return e.foreseeAll(b)
	}
	e.cleanUp([]string{out})
	err := b.runAll()
	lossy := isLossy(err)
	if err != nil && !lossy {
		if _, missing := e.fs.Stat(episodesFolder(out)); missing == nil {
			e.say("no data set was made; the episodes that are done stay in %s: --resume goes on with them",
				phrase.Clean(episodesFolder(out)))
		}
		return err
	}
	for _, item := range b.items {
		join.Parts = append(join.Parts, lerobot.Part{Dir: item.task.Output, Source: e.displayPath(item.Path)})
	}
	if e := e.join(ctx, join); e != nil {
		return e
	}
	return errors.Join(err, e.fs.RemoveAll(episodesFolder(out)))
}

// isLossy reports whether a batch wrote all outputs, some of them with losses.
func isLossy(err error) bool { return errors.Is(err, exitStatus(exitLossy)) }

// checkDataset refuses a data set that would take the place of something else.
func (e *env) checkDataset(g *guard.Guard, j *lerobot.Join) error {
	if j.Append {
		return e.apart(j)
	}
	if st, err := e.fs.Stat(j.Path); err != nil || st == nil {
		return nil
	}
	if !j.Overwrite {
		return &failure{path: j.Path, what: "it exists already", hint: "--append adds to it; --force replaces it"}
	}
	_, err := g.Output(guard.Output{Path: j.Path, Format: e.formats.Lookup(lerobot.Name), Name: j.Path, Overwrite: true})
	return err
}

// apart refuses recordings whose episodes a data set has already.
func (e *env) apart(j *lerobot.Join) error {
	if err := j.Apart(); err != nil {
		return &failure{path: j.Path, what: plainError(err).Error(), hint: "omit it, or make a new data set", err: err}
	}
	return nil
}

// join makes the data set of episodes in the order of the names of their recordings, and says what is in it.
func (e *env) join(ctx context.Context, j *lerobot.Join) error {
	slices.SortFunc(j.Parts, func(a, b lerobot.Part) int { return strings.Compare(a.Source, b.Source) })
	report, err := j.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return &failure{path: j.Path, what: "interrupted; the data set is as it was", err: context.Canceled}
	case err != nil:
		return &failure{path: j.Path, what: "the data set cannot be made: " + plainError(err).Error(), err: err}
	}
	e.sayNotes(report)
	return nil
}

// sayReport says what is in a data set.
func (e *env) sayReport(out string) {
	if r, err := lerobot.ReadReport(e.fs, filepath.Clean(out)); err == nil {
		e.sayNotes(r)
	}
}

func (e *env) sayNotes(r *lerobot.Report) {
	if !e.set.quiet {
		e.writeLines("data set", r.Notes)
	}
}

// foresee says which topics will not hold the rate of the mapping, by what the recording says about itself.
func (e *env) foresee(ctx context.Context, path string) error {
	m, err := lerobot.ParseMapping(e.set.texts[lerobot.OptionMap])
	if err != nil {
		return optionUsage(err)
	}
	r, err := e.openWith(ctx, path, storage.ReadOptions{})
	if err != nil {
		return err
	}
	defer r.Close() // it was only read
	lines, holds := lerobot.Foresee(r.Info, m)
	e.writeLines(iox.ShowAll(path), lines)
	return outcome{lossy: !holds}.end()
}

// foreseeAll is foresee for all recordings of a batch.
func (e *env) foreseeAll(b *batchRun) error {
	var all outcome
	for _, in := range b.search.Inputs {
		switch err := e.foresee(b.ctx, in.Path); {
		case isLossy(err):
			all.lossy = true
		case err != nil:
			return err
		}
	}
	return all.end()
}

// checkDataset refuses a data set of collect that cannot be made.
func (s *collection) checkDataset() error {
	if s.set.work.dataset == "" {
		if s.set.export.add {
			return flags.Usage("add --dataset DIR", "--append has no effect without --dataset")
		}
		return nil
	}
	for _, t := range s.tasks {
		if t.Recipe.Format != lerobot.PartName {
			return flags.Usage("plan with --to "+lerobot.PartName, "--dataset joins episodes, and %s becomes a %s",
				phrase.Clean(t.Source),
				t.Recipe.Format)
		}
		if t.Range != nil {
			return flags.Usage("plan without --range-size",
				"--dataset joins the episodes of whole recordings, and %s is cut by time",
				phrase.Clean(t.Source))
		}
	}
	j := s.datasetJoin()
	if s.set.export.add && !lerobot.IsDataset(s.fs, j.Path) {
		return &failure{path: j.Path, what: "there is no data set that could be added to", hint: "omit --append"}
	}
	return s.env.checkDataset(guard.New(s.fs, s.fs, s.formats.Known()...), j)
}

// datasetJoin returns what joins the episodes of all tasks.
func (s *collection) datasetJoin() *lerobot.Join {
	j := &lerobot.Join{FS: s.fs, Path: filepath.Clean(s.set.work.dataset), Append: s.set.export.add}
	for _, t := range s.tasks {
		j.Parts = append(j.Parts, lerobot.Part{Dir: t.Output, Source: s.displayPath(t.Source)})
	}
	return j
}

// makeDataset joins the episodes of all tasks, when all are done.
func (s *collection) makeDataset(ctx context.Context) error {
	if s.set.work.dataset == "" || len(s.failed) > 0 {
		return nil
	}
	s.cleanUp([]string{filepath.Clean(s.set.work.dataset)})
	return s.env.join(ctx, s.datasetJoin())
}
