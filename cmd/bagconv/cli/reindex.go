package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// reindexJSON is what reindex --json prints for each recording.
type reindexJSON struct {
	SchemaVersion int               `json:"schema_version"`
	Path          string            `json:"path"`
	Format        string            `json:"format"`
	DryRun        bool              `json:"dry_run"`
	Changes       []indexChangeJSON `json:"changes"` // none: the index is right
	Error         string            `json:"error"`   // why nothing was changed
}

type indexChangeJSON struct {
	Path        string `json:"path"`
	What        string `json:"what"`
	Offset      int64  `json:"offset"`
	Written     int64  `json:"written_bytes"`
	Overwritten int64  `json:"overwritten_bytes"`
}

// reindexFlags are those of reindex alone.
func (s *settings) reindexFlags() []flag {
	return allIn(readGroup, []string{"reindex"},
		flag{name: "dry-run", kind: onOff, set: put(&s.dryRun), help: "print what would be written; write nothing"},
		flag{name: "no-sync", kind: onOff, set: put(&s.job.Write.NoSync), help: "do not wait for the disk"},
		s.jsonFlag(),
		flag{name: "quiet", short: "q", kind: onOff, set: put(&s.quiet), help: "print errors only"},
	)
}

// reindex writes what is missing of the index of recordings, where they stand.
func (e *env) reindex(c *cli.Context) error {
	if c.NArg() == 0 {
		return usage("type: bagconv reindex PATH", "reindex takes one recording or several")
	}
	failed := 0
	for _, path := range c.Args().Slice() {
		out := &reindexJSON{SchemaVersion: schemaVersion, Path: path, DryRun: e.set.dryRun, Changes: []indexChangeJSON{}}
		err := e.reindexOne(c.Context, path, out)
		if errors.Is(err, context.Canceled) {
			return &failure{path: path, what: "interrupted, the recording is as it was", err: context.Canceled}
		}
		if err != nil {
			failed++
			e.writeLines("error", []string{clean(err.Error())})
			out.Error = err.Error()
		}
		if e.set.json {
			err = writeJSON(e.Out, out)
		} else if err == nil && !e.set.quiet {
			err = e.writeReindexed(c.Context, out)
		} else {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return outcome{failed: failed > 0 && failed == c.NArg(), some: failed > 0}.end()
}

// reindexOne writes the index of one recording.
func (e *env) reindexOne(ctx context.Context, path string, out *reindexJSON) error {
	f, err := e.formats.DetectIn(e.fs, path)
	if err != nil {
		return err
	}
	if out.Format = f.Name; f.Reindex == nil {
		return &failure{path: path, what: fmt.Sprintf("bagconv writes no index of a %s in place", f.Name), hint: "bagconv recover IN OUT writes a copy with an index"}
	}
	list, err := f.Reindex(ctx, path, storage.ReindexOptions{FS: e.fs, DryRun: e.set.dryRun, NoSync: e.set.job.Write.NoSync})
	for _, x := range list {
		out.Changes = append(out.Changes, indexChangeJSON(x))
	}
	return err
}

// damageOf reads a recording and returns what is damaged in it: all that an index does not mend.
func (e *env) damageOf(ctx context.Context, path string) (damage []warningJSON, err error) {
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
	for _, w := range warningsJSON(r.Reader.Damage().Warnings) {
		if w.Damage {
			damage = append(damage, w)
		}
	}
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
			what = "; the recording is damaged elsewhere, which an index does not mend: bagconv recover IN OUT saves what can be read"
			e.writeLines("damaged", warningLines(out.Path, damage))
		}
		_, err = fmt.Fprintf(e.Out, "%s: the index is right; nothing is changed%s\n", clean(out.Path), what)
		return err
	}
	verb := "wrote"
	if out.DryRun {
		verb = "would write"
	}
	for _, x := range out.Changes {
		if _, err := fmt.Fprintf(e.Out, "%s: %s %s (%s at byte %d; %s overwritten)\n", clean(x.Path), verb, clean(x.What), count(x.Written, "byte"), x.Offset, count(x.Overwritten, "byte")); err != nil {
			return err
		}
	}
	return nil
}
