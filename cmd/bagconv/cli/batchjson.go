package cli

import (
	"strconv"
	"time"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// The JSON of --json and --report, documented in docs/batch.md.
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
		Skipped       int            `json:"skipped"`   // done before
		NoTopics      int            `json:"no_topics"` // without the topics, see batch.StatusNoTopics
		NotBegun      int            `json:"not_done"`
		Others        int            `json:"others"` // files that are not recordings
		Links         []string       `json:"links"`  // to folders, not followed
		Size          int64          `json:"size"`   // of what was converted
		OutputSize    int64          `json:"output_size"`
		Messages      int64          `json:"messages"` // written
		ElapsedNS     string         `json:"elapsed_ns"`
		MBPerS        float64        `json:"mb_per_s"`
		IO            iox.Counts     `json:"io"`
		Results       []*batch.Entry `json:"results"` // of this run, in the order of the inputs
		tally         tasks.Tally
		missing       missingCount
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

// summary reports what became of each input; failed is what ended the batch before
// its time.
func (b *batchRun) summary(elapsed time.Duration, failed error) *batchJSON {
	out := &batchJSON{
		SchemaVersion: schemaVersion, Status: batch.StatusOK, OutputDir: b.out, Manifest: b.manifest,
		Format: b.job.SinkFormat.Name,
		Inputs: len(b.items), Others: b.search.Others, Links: append([]string{}, b.search.Links...),
		ElapsedNS: strconv.FormatInt(int64(elapsed), 10), Results: []*batch.Entry{}, tally: tasks.Tally{},
	}
	skippedLossy := false // the exit status stands for all of the outputs
	for _, item := range b.items {
		fate, e := item.fate(), item.entry
		switch fate {
		case tasks.FateMissing:
			e = &batch.Entry{Size: item.Size}
		case tasks.FateSkipped:
			skippedLossy = skippedLossy || e.Status == batch.StatusLossy
		default:
			out.Results = append(out.Results, e)
		}
		out.missing.add(e)
		out.tally.Add(fate, e)
	}
	t, done := out.tally, out.tally.Of(batch.StatusOK, batch.StatusLossy, batch.StatusFailed)
	out.OK, out.Lossy, out.Failed = t[batch.StatusOK].Tasks, t[batch.StatusLossy].Tasks, t[batch.StatusFailed].Tasks
	out.Skipped, out.NotBegun = t[tasks.FateSkipped].Tasks, t[tasks.FateMissing].Tasks
	out.Size, out.OutputSize, out.Messages = done.Size, done.OutputSize, done.Messages
	converted := done.Size - t[batch.StatusFailed].Size // what failed was not read
	out.MBPerS, out.IO = round1(rate(converted, elapsed)), b.meter.Counts()
	out.NoTopics = t[batch.StatusNoTopics].Tasks
	if failed == nil && out.NotBegun == 0 {
		failed = out.missing.nowhere()
	}
	lossy := out.Lossy > 0 || skippedLossy
	ended := outcome{failed: failed != nil, interrupted: out.NotBegun > 0, some: out.Failed > 0, lossy: lossy}
	out.Status, out.ExitStatus = ended.word(), ended.status()
	if failed != nil {
		out.Error = explain(failed)
	}
	return out
}

// failure returns the report of a batch that failed before its work began.
func (b *batchRun) failure(err error) any {
	out := &batchJSON{OutputDir: b.out, Manifest: b.manifest, Links: []string{}, Results: []*batch.Entry{}, ElapsedNS: "0"}
	if b.search != nil {
		out = b.summary(0, err)
	}
	ended := outcomeOf(err)
	out.SchemaVersion, out.Status, out.ExitStatus, out.Error = schemaVersion, ended.word(), ended.status(), explain(err)
	return out
}

// fate returns what has become of an input.
func (item *batchItem) fate() string {
	switch {
	case item.action == "skip":
		return tasks.FateSkipped
	case item.entry == nil:
		return tasks.FateMissing
	}
	return item.entry.Status
}
