package cli

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// schemaVersion is the version of all JSON that bagconv prints. Keys may be
// added under the same version; it counts up when one changes or goes away.
const schemaVersion = 1

// The JSON of --json and --report, documented in docs/cli.md.
type (
	resultJSON struct {
		SchemaVersion int            `json:"schema_version"`
		Status        string         `json:"status"` // "ok", "lossy", "failed" or "interrupted"
		ExitStatus    int            `json:"exit_status"`
		Error         string         `json:"error,omitempty"`
		DryRun        bool           `json:"dry_run"` // nothing was written
		Share         float64        `json:"share"`   // of the source that a dry run has read, from 0 to 1; counts are estimated if it is less than 1
		Source        endJSON        `json:"source"`
		Sink          endJSON        `json:"sink"`
		ElapsedNS     string         `json:"elapsed_ns"`
		MBPerS        float64        `json:"mb_per_s"` // of the source
		IO            iox.Counts     `json:"io"`       // of the run
		Verified      string         `json:"verified"` // the level at which --verify has found the output equal; "" without
		Selection     *selectionJSON `json:"selection"`
		Topics        []topicResult  `json:"topics"`
		Losses        []lossJSON     `json:"losses"`
		Notes         []noteJSON     `json:"notes"`
		Warnings      []warningJSON  `json:"warnings"`
		Lost          lostJSON       `json:"lost"`
		Live          *liveJSON      `json:"live,omitempty"` // of record and play
	}
	lostJSON struct {
		Bytes      int64  `json:"bytes"`       // of the source that are missing or could not be read
		Blocks     int64  `json:"blocks"`      // chunks or pages of which something is missing
		Messages   int64  `json:"messages"`    // that an index or a header counts there
		Uncounted  bool   `json:"uncounted"`   // more messages are or may be missing, and nothing counts them
		DurationNS string `json:"duration_ns"` // of the recording of which no message is left
	}
	endJSON struct {
		Path     string   `json:"path"`
		Format   string   `json:"format"`
		Version  string   `json:"version"`
		Size     int64    `json:"size"`
		Messages int64    `json:"messages"`
		Files    []string `json:"files,omitempty"` // that hold the messages
	}
	topicResult struct {
		Name         string `json:"name"`
		Type         string `json:"type"`
		Encoding     string `json:"encoding"`
		SinkType     string `json:"sink_type"` // "" when the topic was not written
		SinkEncoding string `json:"sink_encoding"`
		Read         int64  `json:"read"`
		Written      int64  `json:"written"`
		Thinned      int64  `json:"thinned"`    // left out by --throttle and --every
		Duplicates   int64  `json:"duplicates"` // left out by --dedupe
		Present      int64  `json:"present"`    // of append: TARGET had an equal message before
		Repeated     int64  `json:"repeated"`   // from before a cut, written again at its start
		Definition   string `json:"definition"`
	}
	lossJSON struct {
		Code     string `json:"code"`
		Topic    string `json:"topic"`
		Count    int64  `json:"count"`
		Bytes    int64  `json:"bytes,omitempty"`
		Message  string `json:"message"`
		ByDesign bool   `json:"by_design"`
		Fields   int    `json:"fields,omitempty"` // that the target has no place for
	}
	noteJSON struct {
		Code    string `json:"code"`
		Topic   string `json:"topic"`
		Message string `json:"message"`
		Warning bool   `json:"warning"`         // values may be wrong, or definitions of the user did not help
		Count   int64  `json:"count,omitempty"` // messages concerned, if they are counted
	}
	warningJSON struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Offset  *int64 `json:"offset"` // byte in the file; null when it has none
		Damage  bool   `json:"damage"`
	}
)

// resultOf makes the JSON of a run; err is how the run ended.
func resultOf(r *convert.Report, err error) *resultJSON {
	ended := outcomeOf(err)
	ended.lossy = r.Lossy()
	out := &resultJSON{
		SchemaVersion: schemaVersion, Status: ended.word(), ExitStatus: ended.status(),
		DryRun: r.Share > 0, Share: r.Share,
		Source: endJSON(r.Source), Sink: endJSON(r.Sink),
		ElapsedNS: strconv.FormatInt(int64(r.Elapsed), 10), MBPerS: round1(rate(r.Source.Size, r.Elapsed)),
		Selection: selectionResult(r.Selection),
		Topics:    []topicResult{}, Losses: []lossJSON{}, Notes: []noteJSON{},
		Warnings: warningsJSON(r.Warnings), Lost: lostOf(r.Lost),
	}
	if err != nil {
		out.Error = explain(err)
		out.Sink.Size, out.Sink.Messages = 0, 0 // nothing stands there
	}
	for _, t := range r.Topics {
		out.Topics = append(out.Topics, topicResult(t))
	}
	for _, l := range r.Losses {
		out.Losses = append(out.Losses, lossJSON(l))
	}
	for _, n := range r.Notes {
		out.Notes = append(out.Notes, noteJSON(n))
	}
	return out
}

func warningsJSON(warnings []storage.Warning) []warningJSON {
	out := []warningJSON{}
	for _, w := range warnings {
		j := warningJSON{Code: w.Code, Message: w.Message, Damage: w.Damage}
		if w.Offset >= 0 {
			j.Offset = &w.Offset
		}
		out = append(out, j)
	}
	return out
}

func lostOf(l storage.Lost) lostJSON {
	return lostJSON{Bytes: l.Bytes, Blocks: l.Blocks, Messages: l.Messages, Uncounted: l.Uncounted, DurationNS: strconv.FormatInt(l.Duration, 10)}
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
		writeEvent(w, struct {
			Event string `json:"event"`
			lossJSON
		}{"loss", l})
	}
	for _, wn := range r.Warnings {
		writeEvent(w, struct {
			Event string `json:"event"`
			warningJSON
		}{"warning", wn})
	}
	for _, n := range r.Notes {
		if n.Warning {
			writeEvent(w, struct {
				Event string `json:"event"`
				noteJSON
			}{"note", n})
		}
	}
	writeEvent(w, struct {
		Event      string  `json:"event"`
		Status     string  `json:"status"`
		ExitStatus int     `json:"exit_status"`
		Error      string  `json:"error,omitempty"`
		Bytes      int64   `json:"bytes"`
		BytesOut   int64   `json:"bytes_out"`
		Messages   int64   `json:"messages"`
		ElapsedNS  string  `json:"elapsed_ns"`
		MBPerS     float64 `json:"mb_per_s"`

		IO iox.Counts `json:"io"`
	}{"summary", r.Status, r.ExitStatus, r.Error, r.Source.Size, r.Sink.Size, r.Sink.Messages, r.ElapsedNS, r.MBPerS, r.IO})
}
