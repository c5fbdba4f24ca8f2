package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// reindexJSON is what reindex --json prints for each recording.
type reindexJSON struct {
	SchemaVersion int                   `json:"schema_version"`
	Path          string                `json:"path"`
	Format        string                `json:"format"`
	DryRun        bool                  `json:"dry_run"`
	Changes       []storage.IndexChange `json:"changes"` // none: the index is right
	Error         string                `json:"error"`   // why nothing was changed
}

// reindexFlags returns the flags of reindex alone.
func (s *settings) reindexFlags() []flags.Flag {
	return flags.AllIn(readGroup, "reindex",
		flags.Flag{Name: "dry-run", Kind: flags.OnOff, Set: flags.Put(&s.batch.dryRun),
			Help: "print what would be written; write nothing"},
		flags.Flag{Name: "no-sync", Kind: flags.OnOff, Set: flags.Put(&s.job.Write.NoSync), Help: "do not wait for the disk"},
		s.jsonFlag(),
		flags.Flag{Name: "quiet", Short: "q", Kind: flags.OnOff, Set: flags.Put(&s.quiet), Help: "print errors only"},
	)
}

// reindex writes what is missing of the index of recordings, where they stand.
func (e *env) reindex(ctx context.Context) error {
	if len(e.words) == 0 {
		return flags.Usage("type: bagconv reindex PATH", "reindex takes one recording or several")
	}
	failed := 0
	for _, path := range e.words {
		out := &reindexJSON{SchemaVersion: schemaVersion, Path: path, DryRun: e.set.batch.dryRun,
			Changes: []storage.IndexChange{}}
		err := e.reindexOne(ctx, path, out)
		if errors.Is(err, context.Canceled) {
			return &failure{path: path, what: "interrupted, the recording is as it was", err: context.Canceled}
		}
		if err != nil {
			failed++
			e.writeLines("error", []string{phrase.Clean(err.Error())})
			out.Error = err.Error()
		}
		if e.set.json {
			err = writeJSON(e.Out, out)
		} else if err == nil && !e.set.quiet {
			err = e.writeReindexed(ctx, out)
		} else {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return outcome{failed: failed > 0 && failed == len(e.words), some: failed > 0}.end()
}

// reindexOne writes the index of one recording.
func (e *env) reindexOne(ctx context.Context, path string, out *reindexJSON) error {
	f, err := e.formats.DetectIn(e.fs, path)
	if err != nil {
		return err
	}
	if out.Format = f.Name; f.Reindex == nil {
		return &failure{path: path, what: fmt.Sprintf("bagconv writes no index of a %s in place", f.Name),
			hint: "bagconv recover IN OUT writes a copy with an index"}
	}
	list, err := f.Reindex(ctx, path, storage.ReindexOptions{FS: e.fs, DryRun: e.set.batch.dryRun,
		NoSync: e.set.job.Write.NoSync})
	out.Changes = append(out.Changes, list...)
	return err
}

// damageOf reads a recording and returns what is damaged in it: all that an index does not mend.
func (e *env) damageOf(ctx context.Context, path string) (damage []storage.Warning, err error) {
	r, err := e.open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Info.Locked {
		return nil, nil
	}
	if _, err := r.Totals(ctx, recording.Query{Threads: e.set.job.Threads}); err != nil {
		return nil, err
	}
	damage, _ = parted(r.Reader.Damage().Warnings)
	return damage, nil
}

// writeReindexed prints what was changed, a line for each change, or what is damaged although nothing is.
func (e *env) writeReindexed(ctx context.Context, out *reindexJSON) error {
	if len(out.Changes) == 0 {
		damage, err := e.damageOf(ctx, out.Path)
		if err != nil {
			return err
		}
		what := ""
		if len(damage) > 0 {
			what = "; the recording is damaged elsewhere, which an index does not mend: bagconv recover IN OUT saves what can " +
				"be read"
			e.writeLines("damaged", warningLines(out.Path, damage))
		}
		_, err = fmt.Fprintf(e.Out, "%s: the index is right; nothing is changed%s\n", phrase.Clean(out.Path), what)
		return err
	}
	verb := "wrote"
	if out.DryRun {
		verb = "would write"
	}
	for _, x := range out.Changes {
		if _, err := fmt.Fprintf(e.Out, "%s: %s %s (%s at byte %d; %s overwritten)\n", phrase.Clean(x.Path), verb,
			phrase.Clean(x.What), phrase.Count(x.Written, "byte"), x.Offset, phrase.Count(x.Overwritten, "byte")); err != nil {
			return err
		}
	}
	return nil
}

// reindexCommand is the command reindex.
func (e *env) reindexCommand() flags.Command {
	return flags.Command{
		Name: "reindex", Part: repairPart, Call: "reindex PATH...", Summary: "write a missing index, in place",
		About: `Writes what is missing or wrong in the index of recordings, in place, and nothing
else. Messages are not copied: a large recording takes as long as reading the
headers of its records. A recording whose index does not fit
in place, that is damaged otherwise, or a folder that mixes two recordings is
refused and stays as it is: bagconv recover copies it.`,
		Note: `It writes the end of a recording that was not closed, counts in a header, a
missing index of times, and the file that describes a folder of several
recordings. An unreadable partial record at the end is overwritten. What is
overwritten is kept in a file beside it until it is done; a run that is killed
leaves a recording that reads as before or as after.`,
		Examples: []string{
			"bagconv reindex drive{file}",
			"bagconv reindex --dry-run drives/*{file}",
		},
		Exits: flags.Exits{
			0:   "all indexes are right, or were written",
			1:   "no recording could be changed",
			5:   "some recordings could not be changed",
			130: "interrupted; the recording is as it was",
		},
		Run: e.reindex,
	}
}
