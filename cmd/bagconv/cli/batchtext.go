package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
)

// resultLine reports what became of an input.
func (b *batchRun) resultLine(e *batch.Entry) string {
	switch e.Status {
	case batch.StatusFailed:
		return clean("failed: " + b.problem(e))
	case batch.StatusLossy:
		return fmt.Sprintf("lossy: %s -> %s: %s", clean(b.displayPath(e.Input)), clean(b.displayPath(e.Output)), clean(b.problem(e)))
	}
	return fmt.Sprintf("%s: %s -> %s: %s, %s -> %s", e.Status, clean(b.displayPath(e.Input)), clean(b.displayPath(e.Output)),
		count(e.Written, "message"), sizeText(e.Size), sizeText(e.OutputSize))
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
		parts = append(parts, "at least "+count(l.Messages, "message")+" lost")
	case l.Uncounted:
		parts = append(parts, "an unknown number of messages lost")
	case l.Messages > 0:
		parts = append(parts, count(l.Messages, "message")+" lost")
	}
	if e.Lost.Bytes > 0 {
		parts = append(parts, count(e.Lost.Bytes, "byte")+" unreadable")
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
		j := batchPlanned{Input: item.Path, Files: item.Files, Size: item.Size, Output: item.task.Output, Action: item.action, Reason: item.reason}
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
			line := fmt.Sprintf("%s  %s -> %s", j.Action, clean(b.displayPath(j.Input)), clean(b.displayPath(j.Output)))
			if j.Action == "fail" {
				line = j.Action + "  " + strings.ReplaceAll(clean(j.Reason), clean(j.Input), clean(b.displayPath(j.Input)))
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
		fmt.Fprintf(b.Err, "%d to convert, %d done before, %d that cannot be read; nothing is written\n", counts["convert"], counts["skip"], counts["fail"])
	}
	return outcome{some: failing}.end()
}

// reportSkipped reports the files of a folder that are not recordings, and links to folders.
func (b *batchRun) reportSkipped() {
	if b.set.quiet {
		return
	}
	if n := b.search.Others; n > 0 {
		fmt.Fprintf(b.Err, "skipped: %s that %s not a recording\n", count(int64(n), "file"), map[bool]string{true: "is", false: "are"}[n == 1])
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
		writeEvent(b.Err, struct {
			Event string `json:"event"`
			*batchJSON
			Results *struct{} `json:"results,omitempty"` // there was an event for each
		}{Event: "summary", batchJSON: out})
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
	type sum struct{ n, size, written, messages int64 }
	sums := map[string]*sum{"ok": {}, "lossy": {}, "failed": {}, "skipped": {}, "not done": {}}
	for _, item := range b.items {
		if item.entry == nil {
			s := sums["not done"]
			s.n, s.size = s.n+1, s.size+item.Size
			continue
		}
		name := item.entry.Status
		if item.action == "skip" {
			name = "skipped"
		}
		s := sums[name]
		*s = sum{s.n + 1, s.size + item.entry.Size, s.written + item.entry.OutputSize, s.messages + item.entry.Written}
	}
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
			if e.Status == batch.StatusOK {
				fmt.Fprintln(b.Err, b.resultLine(e))
			}
		}
	}
	b.writeLines("lossy", lossy)
	b.writeLines("failed", failed)
	b.reportSkipped()
	if !b.set.quiet {
		w := tabwriter.NewWriter(b.Err, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "status\tinputs\tsize\twritten\tmessages")
		for _, name := range []string{"ok", "lossy", "failed", "skipped", "not done"} {
			if s := sums[name]; s.n > 0 {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", name, s.n, sizeText(s.size), sizeText(s.written), grouped(s.messages))
			}
		}
		_ = w.Flush() // standard error: there is nowhere to report that it failed
		fmt.Fprintf(b.Err, "%s in %s, %.0f MB/s; manifest: %s\n", count(int64(r.Inputs), "input"), durationText(int64(elapsed)), r.MBPerS, clean(b.displayPath(b.manifest)))
	}
	switch {
	case r.Error != "":
		b.say("%s", r.Error)
	case r.Status == "interrupted":
		b.say("interrupted; finished outputs stay, and --resume continues with the rest")
	}
}
