package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/recording"
)

// The JSON of check, documented in docs/check.md, with a JSON Schema in
// docs/schemas.
type (
	checkJSON struct {
		SchemaVersion int           `json:"schema_version"`
		Path          string        `json:"path"`
		Error         string        `json:"error,omitempty"` // why it cannot be read; everything below is empty then
		Format        string        `json:"format"`
		Version       string        `json:"version"`
		Size          int64         `json:"size"`
		Messages      int64         `json:"messages"`
		Decoded       int64         `json:"decoded"`  // messages that fit their definition
		StartNS       *string       `json:"start_ns"` // null without messages, as the next two
		EndNS         *string       `json:"end_ns"`
		DurationNS    *string       `json:"duration_ns"`
		Errors        int           `json:"errors"` // findings of each severity
		Warnings      int           `json:"warnings"`
		Notes         int           `json:"notes"`
		Findings      []findingJSON `json:"findings"`
		Topics        []checkTopic  `json:"topics"`
		Timeline      *timelineJSON `json:"timeline"` // null without messages

		bytes int64
		line  *recording.Timeline
	}
	findingJSON struct {
		Number   int     `json:"number"`
		Severity string  `json:"severity"`
		Code     string  `json:"code"`
		Topic    string  `json:"topic"` // "" when it is about no single one
		Count    int64   `json:"count"`
		Message  string  `json:"message"`
		Hint     string  `json:"hint"`
		Offset   *int64  `json:"offset"`  // byte in the file; null when it has none
		TimeNS   *string `json:"time_ns"` // log time of the first message concerned; null without one
	}
	checkTopic struct {
		Name        string   `json:"name"`
		Type        string   `json:"type"`
		Encoding    string   `json:"encoding"`
		Count       int64    `json:"count"`
		Bytes       int64    `json:"bytes"`
		Decoded     int64    `json:"decoded"`
		Undecodable int64    `json:"undecodable"`
		HzMean      *float64 `json:"hz_mean"`   // null with too few messages, as the next two
		PeriodNS    *string  `json:"period_ns"` // median
		MaxGapNS    *string  `json:"max_gap_ns"`
		Regular     bool     `json:"regular"`
	}
)

func checkOf(res *check.Result) *checkJSON {
	in := res.Info
	out := &checkJSON{
		SchemaVersion: schemaVersion, Path: in.Path, Format: in.Format, Version: in.Version, Size: in.Size,
		Messages: res.Messages, Decoded: res.Decoded, Findings: []findingJSON{}, Topics: []checkTopic{}, bytes: res.Bytes, line: res.Timeline,
	}
	if res.Messages > 0 {
		out.StartNS, out.EndNS, out.DurationNS = nsText(res.Start), nsText(res.End), nsText(res.End-res.Start)
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		j := findingJSON{Number: f.Number, Severity: f.Severity.String(), Code: f.Code, Topic: f.Topic, Count: f.Count, Message: f.Message, Hint: f.Hint}
		if f.Offset >= 0 {
			j.Offset = &f.Offset
		}
		if f.Timed {
			j.TimeNS = nsText(f.Time)
		}
		switch f.Severity {
		case check.Error:
			out.Errors++
		case check.Warning:
			out.Warnings++
		default:
			out.Notes++
		}
		out.Findings = append(out.Findings, j)
	}
	var numbers [][]int
	for i := range res.Topics {
		t := &res.Topics[i]
		j := checkTopic{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Count: t.Messages, Bytes: t.Bytes,
			Decoded: t.Decoded, Undecodable: t.Undecodable, Regular: t.Regular}
		if hz := math.Round(t.Hz()*1000) / 1000; t.Hz() > 0 {
			j.HzMean = &hz
		}
		if t.Period >= 0 {
			j.PeriodNS = nsText(t.Period)
		}
		if t.MaxGap >= 0 {
			j.MaxGapNS = nsText(t.MaxGap)
		}
		out.Topics, numbers = append(out.Topics, j), append(numbers, []int{i})
	}
	out.Timeline = timelineOf(res.Timeline, numbers)
	return out
}

// reaches reports whether there is a finding of a severity, or a worse one.
func (out *checkJSON) reaches(s check.Severity) bool {
	return out.Errors > 0 || out.Warnings > 0 && s <= check.Warning || out.Notes > 0 && s <= check.Note
}

// writeCheck writes what was found as text.
func (e *env) writeCheck(w io.Writer, out *checkJSON) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s%s\n", "path:", clean(out.Path))
	fmt.Fprintf(&b, "%-11s%s %s, %s\n", "format:", out.Format, clean(out.Version), sizeText(out.Size))
	fmt.Fprintf(&b, "%-11s%s in %s, %s; %s decoded\n", "read:", count(out.Messages, "message"), count(int64(len(out.Topics)), "topic"), sizeText(out.bytes), grouped(out.Decoded))
	fmt.Fprintf(&b, "%-11s%s, %s, %s\n", "findings:", count(int64(out.Errors), "error"), count(int64(out.Warnings), "warning"), count(int64(out.Notes), "note"))
	e.drawFindings(&b, out, out.line)
	for _, f := range out.Findings {
		fmt.Fprintf(&b, "\n%d. %s %s", f.Number, f.Severity, f.Code)
		if f.Topic != "" {
			fmt.Fprintf(&b, ", topic %s", clean(f.Topic))
		}
		if f.TimeNS != nil {
			fmt.Fprintf(&b, ", at %s", nsTime(*f.TimeNS))
		}
		if f.Offset != nil {
			fmt.Fprintf(&b, ", byte %d", *f.Offset)
		}
		fmt.Fprintf(&b, "\n   %s\n", clean(f.Message))
		if f.Hint != "" {
			fmt.Fprintf(&b, "   -> %s\n", clean(f.Hint))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nsTime writes a time as info does.
func nsTime(ns string) string { return timeText(nsOf(ns)) }

// nsOf reads our own number.
func nsOf(ns string) int64 {
	t, _ := strconv.ParseInt(ns, 10, 64)
	return t
}
