package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// resultLine reports what became of an input.
func (b *batchRun) resultLine(e *batch.Entry) string {
	switch e.Status {
	case batch.StatusFailed:
		return phrase.Clean("failed: " + b.problem(e))
	case batch.StatusLossy:
		return fmt.Sprintf("lossy: %s -> %s: %s", phrase.Clean(b.displayPath(e.Input)), phrase.Clean(b.displayPath(e.Output)),
			phrase.Clean(b.problem(e)))
	case batch.StatusNoTopics:
		return e.Status + ": " + phrase.Clean(b.displayPath(e.Input))
	}
	return fmt.Sprintf("%s: %s -> %s: %s, %s -> %s", e.Status, phrase.Clean(b.displayPath(e.Input)),
		phrase.Clean(b.displayPath(e.Output)),
		phrase.Count(e.Written, "message"), sizeText(e.Size), sizeText(e.OutputSize))
}

// problem reports why an input failed, or what is lost of it.
func (b *batchRun) problem(e *batch.Entry) string {
	if e.Status == batch.StatusFailed {
		in, out := iox.ShowAll(b.displayPath(e.Input)), b.displayPath(e.Output)
		text := iox.ShowAll(strings.ReplaceAll(strings.ReplaceAll(e.Error, e.Input, in), e.Output, out))
		if !strings.Contains(text, in) {
			text = in + ": " + text
		}
		return text
	}
	var parts []string
	switch l := e.Lost; {
	case l.Uncounted && l.Messages > 0:
		parts = append(parts, "at least "+phrase.Count(l.Messages, "message")+" lost")
	case l.Uncounted:
		parts = append(parts, "an unknown number of messages lost")
	case l.Messages > 0:
		parts = append(parts, phrase.Count(l.Messages, "message")+" lost")
	}
	if e.Lost.Bytes > 0 {
		parts = append(parts, phrase.Count(e.Lost.Bytes, "byte")+" unreadable")
	}
	if len(e.DamageCodes) > 0 {
		parts = append(parts, "damaged ["+strings.Join(e.DamageCodes, ", ")+"]")
	}
	if len(e.LossCodes) > 0 {
		parts = append(parts, "not converted ["+strings.Join(e.LossCodes, ", ")+"]")
	}
	return strings.Join(parts, ", ")
}

// writePlan lists what would be done.
func (b *batchRun) writePlan() error {
	plan := batchPlanJSON{
		SchemaVersion: schemaVersion, OutputDir: b.out, Manifest: b.manifest, Format: b.job.SinkFormat.Name,
		Inputs: []batchPlanned{}, Others: b.search.Others, Links: append([]string{}, b.search.Links...),
	}
	counts, failing := map[string]int64{}, false
	for _, item := range b.items {
		j := batchPlanned{Input: item.Path, Files: item.Files, Size: item.Size, Output: item.task.Output, Action: item.action,
			Reason: item.reason}
		if j.Files == nil {
			j.Files = []string{}
		}
		if item.Format != nil {
			j.SourceFormat = item.Format.Name
		}
		plan.Inputs = append(plan.Inputs, j)
		counts[item.action]++
		failing = failing || item.action == "fail"
	}
	if b.set.json {
		if err := writeJSON(b.Out, plan); err != nil {
			return err
		}
	} else {
		for _, j := range plan.Inputs {
			line := fmt.Sprintf("%s  %s -> %s", j.Action, phrase.Clean(b.displayPath(j.Input)),
				phrase.Clean(b.displayPath(j.Output)))
			if j.Action == "fail" {
				line = j.Action + "  " + strings.ReplaceAll(phrase.Clean(j.Reason), phrase.Clean(j.Input),
					phrase.Clean(b.displayPath(j.Input)))
			} else if j.Reason != "" {
				line += "  (" + j.Reason + ")"
			}
			if _, err := fmt.Fprintln(b.Out, line); err != nil {
				return err
			}
		}
	}
	b.reportSkipped()
	if !b.set.quiet {
		fmt.Fprintf(b.Err, "%d to convert, %d done before, %d that cannot be read; nothing is written\n", counts["convert"],
			counts["skip"], counts["fail"])
	}
	return outcome{some: failing}.end()
}

// reportSkipped reports the files of a folder that are not recordings, and links to folders.
func (b *batchRun) reportSkipped() {
	if b.set.quiet {
		return
	}
	if n := b.search.Others; n > 0 {
		fmt.Fprintf(b.Err, "skipped: %s that %s not a recording\n", phrase.Count(int64(n), "file"),
			map[bool]string{true: "is", false: "are"}[n == 1])
	}
	var links []string
	for _, l := range b.search.Links {
		links = append(links, b.displayPath(l)+": a link to a folder; to search it, name it as an input")
	}
	b.writeLines("skipped", links)
}

// summarize reports what a batch did; failed is what ended it before its time.
func (b *batchRun) summarize(report *reportFile, elapsed time.Duration, failed error) error {
	out := b.summary(elapsed, failed)
	if err := report.write(out); err != nil {
		return err
	}
	b.report.ended = true
	if b.set.json {
		if err := writeJSON(b.Out, out); err != nil {
			return err
		}
	}
	if b.set.progress == "json" && !b.set.quiet {
		writeEvent(b.Err, "summary", struct {
			*batchJSON
			Results *struct{} `json:"results,omitempty"` // there was an event for each
		}{batchJSON: out})
	} else {
		b.writeTable(out, elapsed)
	}
	if out.ExitStatus != exitOK {
		return exitStatus(out.ExitStatus) // summary has decided
	}
	return nil
}

// writeTable writes the summary on Err. It reports failures and losses even with --quiet.
func (b *batchRun) writeTable(r *batchJSON, elapsed time.Duration) {
	var failed, lossy []string
	for _, e := range r.Results {
		switch e.Status {
		case batch.StatusFailed:
			failed = append(failed, b.problem(e))
		case batch.StatusLossy:
			lossy = append(lossy, b.displayPath(e.Input)+": "+b.problem(e))
		}
	}
	if b.set.verbose && !b.set.quiet {
		for _, e := range r.Results {
			if e.Status == batch.StatusOK || e.Status == batch.StatusNoTopics {
				fmt.Fprintln(b.Err, b.resultLine(e))
			}
		}
	}
	b.writeLines("lossy", lossy)
	b.writeLines("failed", failed)
	b.reportSkipped()
	b.writeLines("note", r.missing.notes())
	if !b.set.quiet {
		w := tabwriter.NewWriter(b.Err, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "status\tinputs\tsize\twritten\tmessages")
		for _, name := range []string{batch.StatusOK, batch.StatusLossy, batch.StatusFailed, batch.StatusNoTopics,
			tasks.FateSkipped, tasks.FateMissing} {
			if s := r.tally[name]; s.Tasks > 0 {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", name, s.Tasks, sizeText(s.Size), sizeText(s.OutputSize),
					phrase.Grouped(s.Messages))
			}
		}
		_ = w.Flush() // standard error: there is nowhere to report that it failed
		fmt.Fprintf(b.Err, "%s in %s%s; manifest: %s\n", phrase.Count(int64(r.Inputs), "input"),
			durationText(int64(elapsed)), speedText(", %.0f MB/s", r.MBPerS), phrase.Clean(b.displayPath(b.manifest)))
	}
	switch {
	case r.Error != "":
		b.say("%s", r.Error)
	case r.Status == "interrupted":
		b.say("interrupted; finished outputs stay, and --resume continues with the rest")
	}
}
