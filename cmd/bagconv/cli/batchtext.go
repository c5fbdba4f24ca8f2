package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/batch"
)

// A batchProgress shows how far a batch is. It may be used from several
// goroutines.
type batchProgress struct {
	b      *batchRun
	began  time.Time
	lines  bool // a line for each input that is through
	events bool

	mu       sync.Mutex
	show     progress
	total    int64
	through  int64 // bytes of inputs that are through
	messages int64 // of those
	count    int
	of       int
	running  map[*batch.Task]int64 // messages so far
}

func newBatchProgress(b *batchRun, tasks *batchTasks) *batchProgress {
	show := newProgress(b.c.String("progress"), b.Stdio)
	if b.c.Bool("quiet") {
		show = noProgress{}
	}
	p := &batchProgress{b: b, began: time.Now(), show: show, of: len(tasks.order), running: map[*batch.Task]int64{}}
	_, p.lines = show.(*plainProgress)
	_, p.events = show.(*jsonProgress)
	for _, t := range tasks.order {
		p.total += t.Input.Size
	}
	return p
}

// update is told how far one conversion is.
func (p *batchProgress) update(t *batch.Task, now convert.Progress) {
	if now.Total > 0 {
		t.Progress(float64(now.Bytes) / float64(now.Total))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[t] = now.Messages
	p.refresh()
}

func (p *batchProgress) refresh() {
	now := convert.Progress{Bytes: p.through, Total: p.total, Messages: p.messages, Elapsed: time.Since(p.began)}
	for t, messages := range p.running {
		now.Bytes += int64(t.Done() * float64(t.Input.Size))
		now.Messages += messages
	}
	p.show.update(now)
}

// ended is told that a conversion is through; item is nil when it was
// interrupted.
func (p *batchProgress) ended(t *batch.Task, item *batchItem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, t)
	if item == nil {
		return
	}
	p.through += t.Input.Size
	p.messages += item.entry.Written
	p.count++
	switch {
	case p.events:
		writeEvent(p.b.Err, struct {
			Event string `json:"event"`
			*batch.Entry
		}{"input", item.entry})
	case p.lines:
		fmt.Fprintf(p.b.Err, "[%d/%d] %s\n", p.count, p.of, p.b.resultLine(item.entry))
	}
	p.refresh()
}

func (p *batchProgress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show.stop()
}

// resultLine says what became of an input.
func (b *batchRun) resultLine(e *batch.Entry) string {
	switch e.Status {
	case batch.StatusFailed:
		return clean("failed: " + b.problem(e))
	case batch.StatusLossy:
		return fmt.Sprintf("lossy: %s -> %s: %s", clean(b.shown(e.Input)), clean(b.shown(e.Output)), clean(b.problem(e)))
	}
	return fmt.Sprintf("%s: %s -> %s: %s, %s -> %s", e.Status, clean(b.shown(e.Input)), clean(b.shown(e.Output)),
		count(e.Written, "message"), sizeText(e.Size), sizeText(e.OutputSize))
}

// problem says why an input failed, or what is lost of it.
func (b *batchRun) problem(e *batch.Entry) string {
	if e.Status == batch.StatusFailed {
		in, out := b.shown(e.Input), b.shown(e.Output)
		text := strings.ReplaceAll(strings.ReplaceAll(e.Error, e.Input, in), e.Output, out)
		if !strings.Contains(text, in) {
			text = in + ": " + text
		}
		return text
	}
	var parts []string
	if l := e.Lost; l.Messages > 0 {
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

// The JSON of --json and --report, documented in docs/cli.md.
type (
	batchJSON struct {
		SchemaVersion int            `json:"schema_version"`
		Status        string         `json:"status"` // "ok", "lossy", "failed" or "interrupted"
		ExitStatus    int            `json:"exit_status"`
		Error         string         `json:"error,omitempty"` // what ended the batch
		OutputDir     string         `json:"output_dir"`
		Manifest      string         `json:"manifest"`
		Format        string         `json:"format"`
		Inputs        int            `json:"inputs"`
		OK            int            `json:"ok"`
		Lossy         int            `json:"lossy"`
		Failed        int            `json:"failed"`
		Skipped       int            `json:"skipped"` // done before
		NotBegun      int            `json:"not_done"`
		Others        int            `json:"others"` // files that are no recordings
		Links         []string       `json:"links"`  // to folders, not followed
		Size          int64          `json:"size"`   // of what was converted
		OutputSize    int64          `json:"output_size"`
		Messages      int64          `json:"messages"` // written
		ElapsedNS     string         `json:"elapsed_ns"`
		MBPerS        float64        `json:"mb_per_s"`
		Results       []*batch.Entry `json:"results"` // of this run, in the order of the inputs
	}
	batchPlanJSON struct {
		SchemaVersion int            `json:"schema_version"`
		OutputDir     string         `json:"output_dir"`
		Manifest      string         `json:"manifest"`
		Format        string         `json:"format"`
		Inputs        []batchPlanned `json:"inputs"`
		Others        int            `json:"others"`
		Links         []string       `json:"links"`
	}
	batchPlanned struct {
		Input        string   `json:"input"`
		SourceFormat string   `json:"source_format"`
		Files        []string `json:"files"`
		Size         int64    `json:"size"`
		Output       string   `json:"output"`
		Action       string   `json:"action"` // "convert", "skip" or "fail"
		Reason       string   `json:"reason"` // why it is converted again, or fails; "" otherwise
	}
)

// writePlan lists what would be done.
func (b *batchRun) writePlan() error {
	plan := batchPlanJSON{
		SchemaVersion: schemaVersion, OutputDir: b.out, Manifest: b.manifest, Format: b.job.SinkFormat.Name,
		Inputs: []batchPlanned{}, Others: b.found.Others, Links: append([]string{}, b.found.Links...),
	}
	counts, failing := map[string]int64{}, false
	for _, item := range b.items {
		j := batchPlanned{Input: item.Path, Files: item.Files, Size: item.Size, Output: item.output, Action: item.action, Reason: item.reason}
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
	if b.c.Bool("json") {
		if err := writeJSON(b.Out, plan); err != nil {
			return err
		}
	} else {
		for _, j := range plan.Inputs {
			line := fmt.Sprintf("%s  %s -> %s", j.Action, clean(b.shown(j.Input)), clean(b.shown(j.Output)))
			if j.Action == "fail" {
				line = j.Action + "  " + strings.ReplaceAll(clean(j.Reason), clean(j.Input), clean(b.shown(j.Input)))
			} else if j.Reason != "" {
				line += "  (" + j.Reason + ")"
			}
			if _, err := fmt.Fprintln(b.Out, line); err != nil {
				return err
			}
		}
	}
	b.sayOthers()
	if !b.c.Bool("quiet") {
		fmt.Fprintf(b.Err, "%d to convert, %d done before, %d that cannot be read; nothing is written\n", counts["convert"], counts["skip"], counts["fail"])
	}
	if failing {
		return exitStatus(exitSome)
	}
	return nil
}

// sayOthers says what a folder had that was not looked at.
func (b *batchRun) sayOthers() {
	if b.c.Bool("quiet") {
		return
	}
	if n := b.found.Others; n > 0 {
		fmt.Fprintf(b.Err, "passed over: %s that %s no recording\n", count(int64(n), "file"), map[bool]string{true: "is", false: "are"}[n == 1])
	}
	var links []string
	for _, l := range b.found.Links {
		links = append(links, b.shown(l)+": a link to a folder; name it to have it searched")
	}
	b.writeLines("passed over", links)
}

// summarize says what a batch did; failed is what ended it before its time.
func (b *batchRun) summarize(report *reportFile, elapsed time.Duration, failed error) error {
	out := b.summary(elapsed, failed)
	if err := report.write(out); err != nil {
		return err
	}
	if b.c.Bool("json") {
		if err := writeJSON(b.Out, out); err != nil {
			return err
		}
	}
	if b.c.String("progress") == "json" && !b.c.Bool("quiet") {
		event := *out
		event.Results = nil
		writeEvent(b.Err, struct {
			Event string `json:"event"`
			batchJSON
		}{"summary", event})
	} else {
		b.writeTable(out)
	}
	if out.ExitStatus != exitOK {
		return exitStatus(out.ExitStatus)
	}
	return nil
}

func (b *batchRun) summary(elapsed time.Duration, failed error) *batchJSON {
	out := &batchJSON{
		SchemaVersion: schemaVersion, Status: batch.StatusOK, OutputDir: b.out, Manifest: b.manifest, Format: b.job.SinkFormat.Name,
		Inputs: len(b.items), Others: b.found.Others, Links: append([]string{}, b.found.Links...),
		ElapsedNS: fmt.Sprint(elapsed.Nanoseconds()), Results: []*batch.Entry{},
	}
	for _, item := range b.items {
		switch {
		case item.action == "skip":
			out.Skipped++
			continue
		case item.entry == nil:
			out.NotBegun++
			continue
		case item.entry.Status == batch.StatusOK:
			out.OK++
		case item.entry.Status == batch.StatusLossy:
			out.Lossy++
		default:
			out.Failed++
		}
		out.Results = append(out.Results, item.entry)
		out.Size += item.entry.Size
		out.OutputSize += item.entry.OutputSize
		out.Messages += item.entry.Written
	}
	out.MBPerS = round1(rate(out.Size, elapsed))
	switch {
	case failed != nil:
		out.Status, out.ExitStatus, out.Error = "failed", exitFailed, explain(failed)
	case out.NotBegun > 0:
		out.Status, out.ExitStatus = "interrupted", exitInterrupted
	case out.Failed > 0:
		out.Status, out.ExitStatus = "failed", exitSome
	case out.Lossy > 0 || b.skippedLossy():
		out.Status, out.ExitStatus = "lossy", exitLossy
	}
	return out
}

// skippedLossy tells whether what was done before was lossy: the exit status
// stands for all of the outputs.
func (b *batchRun) skippedLossy() bool {
	for _, item := range b.items {
		if item.action == "skip" && item.entry.Status == batch.StatusLossy {
			return true
		}
	}
	return false
}

// writeTable writes the summary on Err. What failed and what is lossy is said
// also with --quiet.
func (b *batchRun) writeTable(r *batchJSON) {
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
			lossy = append(lossy, b.shown(e.Input)+": "+b.problem(e))
		}
	}
	if b.c.Bool("verbose") && !b.c.Bool("quiet") {
		for _, e := range r.Results {
			if e.Status == batch.StatusOK {
				fmt.Fprintln(b.Err, b.resultLine(e))
			}
		}
	}
	b.writeLines("lossy", lossy)
	b.writeLines("failed", failed)
	b.sayOthers()
	if !b.c.Bool("quiet") {
		w := tabwriter.NewWriter(b.Err, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "status\tinputs\tsize\twritten\tmessages")
		for _, name := range []string{"ok", "lossy", "failed", "skipped", "not done"} {
			if s := sums[name]; s.n > 0 {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", name, s.n, sizeText(s.size), sizeText(s.written), grouped(s.messages))
			}
		}
		_ = w.Flush() // standard error: there is nowhere to say that it failed
		fmt.Fprintf(b.Err, "%s in %s, %.0f MB/s; manifest: %s\n", count(int64(r.Inputs), "input"), durationText(b.elapsed(r)), r.MBPerS, clean(b.shown(b.manifest)))
	}
	switch {
	case r.Error != "":
		b.say("%s", r.Error)
	case r.Status == "interrupted":
		b.say("interrupted; what is finished stays, and --resume goes on with the rest")
	}
}

func (b *batchRun) elapsed(r *batchJSON) int64 {
	var ns int64
	if _, err := fmt.Sscan(r.ElapsedNS, &ns); err != nil {
		panic(errors.Join(errors.New("internal error"), err))
	}
	return ns
}
