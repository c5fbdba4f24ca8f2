package cli

import (
	"strconv"
	"time"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
)

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
		Others        int            `json:"others"` // files that are not recordings
		Links         []string       `json:"links"`  // to folders, not followed
		Size          int64          `json:"size"`   // of what was converted
		OutputSize    int64          `json:"output_size"`
		Messages      int64          `json:"messages"` // written
		ElapsedNS     string         `json:"elapsed_ns"`
		MBPerS        float64        `json:"mb_per_s"`
		IO            iox.Counts     `json:"io"`
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

// summary reports what became of each input; failed is what ended the batch before
// its time.
func (b *batchRun) summary(elapsed time.Duration, failed error) *batchJSON {
	out := &batchJSON{
		SchemaVersion: schemaVersion, Status: batch.StatusOK, OutputDir: b.out, Manifest: b.manifest, Format: b.job.SinkFormat.Name,
		Inputs: len(b.items), Others: b.search.Others, Links: append([]string{}, b.search.Links...),
		ElapsedNS: strconv.FormatInt(int64(elapsed), 10), Results: []*batch.Entry{},
	}
	converted := int64(0) // bytes: what failed was not read
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
		if item.entry.Status != batch.StatusFailed {
			converted += item.entry.Size
		}
		out.Results = append(out.Results, item.entry)
		out.Size += item.entry.Size
		out.OutputSize += item.entry.OutputSize
		out.Messages += item.entry.Written
	}
	out.MBPerS, out.IO = round1(rate(converted, elapsed)), b.meter.Counts()
	ended := outcome{failed: failed != nil, interrupted: out.NotBegun > 0, some: out.Failed > 0, lossy: out.Lossy > 0 || b.skippedLossy()}
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

// skippedLossy reports whether what was done before was lossy: the exit status
// stands for all of the outputs.
func (b *batchRun) skippedLossy() bool {
	for _, item := range b.items {
		if item.action == "skip" && item.entry.Status == batch.StatusLossy {
			return true
		}
	}
	return false
}
