package cli

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/iox"
)

// schemaVersion is the version of all JSON that bagconv prints. Keys may be
// added under the same version; it counts up when one changes or goes away.
const schemaVersion = 1

// resultJSON is the JSON of --json and --report, documented in docs/json.md: how a run ended, and its report.
type resultJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Status        string `json:"status"` // "ok", "lossy", "failed" or "interrupted"
	ExitStatus    int    `json:"exit_status"`
	Error         string `json:"error,omitempty"`
	convert.Report
	Part *partJSON `json:"part,omitempty"` // of split, by the values of messages
	Live any       `json:"live,omitempty"` // of record, its topics as live.TopicStats, and of play, a live.Played
}

// resultOf makes the JSON of a run; err is how the run ended.
func resultOf(r *convert.Report, err error) *resultJSON {
	ended := outcomeOf(err)
	ended.lossy = r.Lossy()
	out := &resultJSON{SchemaVersion: schemaVersion, Status: ended.word(), ExitStatus: ended.status(), Report: *r}
	if err != nil {
		out.Error = explain(err)
		out.Sink.Size, out.Sink.Messages = 0, 0 // nothing stands there
	}
	return out
}

// writeJSON writes indented JSON with a newline at its end.
func writeJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, iox.ShowAll(b.String()))
	return err
}

// writeJSONs writes one value, or several as an array.
func writeJSONs[T any](w io.Writer, all []T) error { return writeJSON(w, oneOrAll(all)) }

// oneOrAll returns the only value of a list, or the list.
func oneOrAll[T any](all []T) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// writeEvents ends the events of --progress json: an event for each loss and
// warning, then the error or the summary.
func writeEvents(w io.Writer, r *resultJSON) {
	for _, l := range r.Losses {
		writeEvent(w, "loss", l)
	}
	for _, wn := range r.Warnings {
		writeEvent(w, "warning", wn)
	}
	for _, n := range r.Notes {
		if n.Warning {
			writeEvent(w, "note", n)
		}
	}
	writeEvent(w, "summary", struct {
		Status     string        `json:"status"`
		ExitStatus int           `json:"exit_status"`
		Error      string        `json:"error,omitempty"`
		Bytes      int64         `json:"bytes"`
		BytesOut   int64         `json:"bytes_out"`
		Messages   int64         `json:"messages"`
		Elapsed    time.Duration `json:"elapsed_ns,string"`
		MBPerS     float64       `json:"mb_per_s"`
		IO         iox.Counts    `json:"io"`
	}{r.Status, r.ExitStatus, r.Error, r.Source.Size, r.Sink.Size, r.Sink.Messages, r.Elapsed, r.MBPerS, r.IO})
}
