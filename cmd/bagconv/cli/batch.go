package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/ordered"
)

// batchCommand converts all recordings that it finds.
func (e *env) batchCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "O", Aliases: []string{"output-dir"}, Usage: "the folder for all outputs"},
		&cli.StringSliceFlag{Name: "include-from", Usage: "a file with an input per line"},
		&cli.StringFlag{Name: "base", Usage: "a folder that has all inputs in it"},
		&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "a number of conversions at a time; 0 is one per two cores"},
		&cli.StringFlag{Name: "manifest", Usage: "a file; OUT/manifest.jsonl otherwise"},
		&cli.BoolFlag{Name: "resume", Usage: "go on where an earlier batch ended"},
		&cli.BoolFlag{Name: "checksum", Usage: "compare inputs by their hash"},
		&cli.BoolFlag{Name: "dry-run", Usage: "list what would be done"},
	}
	for _, f := range slices.Concat(selectFlags(), editFlags(), e.outputFlags(), e.runFlags()) {
		if f.Names()[0] != "o" { // there are many outputs
			flags = append(flags, f)
		}
	}
	return &cli.Command{Name: "batch", Flags: flags, Action: e.batch}
}

// A batchRun is one call of bagconv batch.
type batchRun struct {
	*env
	c        *cli.Context
	job      *convert.Job // what all conversions have in common
	out      string       // absolute
	manifest string       // absolute
	options  []string     // flags that change what is written
	found    *batch.Found
	items    []*batchItem // as found.Inputs
	jobs     int
	guard    *guard.Guard // of all inputs
}

// A batchItem is one input.
type batchItem struct {
	*batch.Input
	output  string
	action  string // "convert", "skip" or "fail"
	reason  string // why it is converted again, or cannot be
	replace bool   // the output is ours, from an earlier run
	killed  bool   // and that run may have left it half done
	entry   *batch.Entry
}

func (e *env) batch(c *cli.Context) (err error) {
	b := &batchRun{env: e, c: c}
	e.report.failed = b.failure
	if err := b.flags(); err != nil {
		return err
	}
	if err := b.find(); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		m, err := batch.Read(b.manifest, c.Bool("resume"), c.Bool("force"))
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

// flags takes the flags.
func (b *batchRun) flags() error {
	c := b.c
	out := c.String("O")
	to := c.String("to")
	switch {
	case out == "":
		return usage("type for example: bagconv batch -O OUT/ drives/", "there is no folder for the outputs on the line")
	case c.Int("jobs") < 0:
		return usage("0 is one per two cores", "--jobs is a number of conversions, not %d", c.Int("jobs"))
	case c.Bool("checksum") && !c.Bool("resume") && c.Bool("dry-run"):
		return usage("add --resume", "--checksum changes nothing in what --dry-run lists")
	}
	sink, err := b.sinkFormat(to, "x", c.String)
	if err != nil {
		return err
	}
	if b.job, err = b.jobOf(c, sink); err != nil {
		return err
	}
	b.job.Formats = b.formats
	if err := verifyOutput(c, &convert.Job{Edit: b.job.Edit}); err != nil {
		return err
	}
	if newProgress(c.String("progress"), b.Stdio) == nil {
		return usage("", "--progress is %s, not %q", progressModes, c.String("progress"))
	}
	if b.jobs = c.Int("jobs"); b.jobs == 0 {
		b.jobs = ordered.Runs()
	}
	if share := b.job.MaxMemory / int64(b.jobs); share >= minMemory || !c.IsSet("max-memory") {
		b.job.MaxMemory = max(share, minMemory)
	} else {
		return usage("each conversion needs 64M", "--max-memory %s is too little for %d at a time", c.String("max-memory"), b.jobs)
	}
	if b.job.Threads == 0 {
		b.job.Threads = ordered.Share(b.jobs)
	}
	for _, f := range slices.Concat(selectFlags(), editFlags(), b.outputFlags()) {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains([]string{"o", "to", "force", "no-sync"}, name) {
			continue
		}
		values := c.StringSlice(name)
		if _, several := f.(*cli.StringSliceFlag); !several {
			values = []string{fmt.Sprint(c.Value(name))}
		}
		for _, v := range values {
			b.options = append(b.options, dashed(name)+"="+v)
		}
	}
	if b.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if st, err := os.Stat(b.out); err == nil && !st.IsDir() {
		return usage("choose a folder", "%s is a file", clean(out))
	}
	b.manifest = filepath.Join(b.out, "manifest.jsonl")
	if m := c.String("manifest"); m != "" {
		if b.manifest, err = filepath.Abs(m); err != nil {
			return err
		}
	}
	if st, err := os.Stat(b.manifest); err == nil && st.IsDir() {
		return usage("give the name of a file", "--manifest %s is a folder", clean(b.shown(b.manifest)))
	}
	return nil
}
