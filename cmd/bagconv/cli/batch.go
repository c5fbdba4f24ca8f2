package cli

import (
	"context"
	"os"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
)

func (e *env) batch(ctx context.Context) error { return e.runBatch(ctx, e.words) }

// runBatch converts all recordings that words name.
func (e *env) runBatch(ctx context.Context, words []string) error {
	b := &batchRun{env: e, ctx: ctx, words: words, receipts: tasks.Store{FS: e.fs}}
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
	if e.set.batch.dryRun {
		m, err := batch.Read(e.fs, b.manifest, e.set.batch.resume, e.set.job.Write.Overwrite)
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
			return flags.Usage(instead, "batch has no shares to collect")
		}
	}
	if s, err := tasks.ShardOf(os.LookupEnv); (err != nil || !s.All()) && !b.set.quiet {
		b.writeLines("note", []string{"this is a part of an array job, and batch converts all inputs; " + instead})
	}
	return nil
}

// batchCommand is the command batch.
func (e *env) batchCommand() flags.Command {
	return flags.Command{
		Name: "batch", Part: manyPart, Call: "batch -O OUT/ IN...", Summary: "convert all recordings in folders",
		About: `Converts all recordings that it finds, into a tree below OUT that mirrors the tree
of the inputs. IN is a folder (with all folders below it), a recording, a glob
in quotes, or @FILE, a list of those. A recording of several files, or one that
is a folder, is one input. A file that cannot be read does not stop the others.
Names that begin with a dot, and links to folders, are skipped.`,
		Note: `The manifest has a line of JSON for each finished input: size, time, output,
counts, losses, error. After an interruption, --resume continues: it skips the
inputs that the manifest lists as done, if input, output and flags are
unchanged, and tries failed inputs again.`,
		Examples: []string{
			"bagconv batch -O converted/ drives/",
			"bagconv batch -O converted/ drives/ --resume -j 4 --verify content",
			"bagconv batch -O bags/ --to bag --compression lz4 'drives/*/camera_*'",
			"bagconv batch -O out/ @tonight.txt --dry-run",
			`jq -r 'select(.status == "failed") | .error' converted/manifest.jsonl`,
		},
		Exits: flags.Exits{
			0:   "all outputs are written; nothing is lost that their format can store",
			1:   "the batch could not be run, or found no recording, or no recording with the topics",
			3:   "all outputs are written, but something is damaged or lost",
			5:   "some inputs failed; the other outputs are written",
			130: "interrupted; finished outputs stay",
		},
		Run: e.batch,
	}
}

// batchFlags returns the flags of batch and plan, and of export for several recordings.
func (e *env) batchFlags() []flags.Flag {
	s := &e.set
	list := flags.AllIn(batchGroup, "batch plan",
		flags.Flag{Name: "output-dir", Short: "O", Arg: "OUT", Kind: flags.File, Set: flags.Put(&s.batch.outputDir),
			Help: "folder for the outputs; created if missing"},
		e.toFlag(e.folderFormat()+" if there is no --to"),
		flags.Flag{Name: "include-from", Arg: "FILE", Kind: flags.File, Several: true, Set: flags.Put(&s.batch.includeFrom),
			Help: "read a list of inputs, one per line, like @FILE; # begins a comment"},
		flags.Flag{Name: "base", Arg: "DIR", Kind: flags.File, Set: flags.Put(&s.batch.base),
			Help: "outputs mirror the tree below DIR; default: below each folder on the line, and below the common folder of " +
				"the files on it"},
	)
	list = append(list, flags.AllIn(batchGroup, "batch export",
		jobsFlag(s),
		flags.Flag{Name: "resume", Kind: flags.OnOff, Set: flags.Put(&s.batch.resume),
			Help: "skip inputs that the manifest lists as done"},
	)...)
	return append(list, flags.AllIn(batchGroup, "batch",
		flags.Flag{Name: "manifest", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.batch.manifest),
			Help: "manifest file, instead of OUT/manifest.jsonl"},
		flags.Flag{Name: "checksum", Kind: flags.OnOff, Set: flags.Put(&s.batch.checksum),
			Help: "write the SHA-256 of each input into the manifest; with --resume, compare it instead of the file's time"},
		flags.Flag{Name: "dry-run", Kind: flags.OnOff, Set: flags.Put(&s.batch.dryRun),
			Help: "list what would be done; write nothing"},
		s.forceFlag("replace existing outputs; without --resume, also start a new manifest"),
	)...)
}
