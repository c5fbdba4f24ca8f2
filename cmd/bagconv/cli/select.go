package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/selection"
)

// explainSelection turns an error of Selection.Resolve or Edit.Check, or
// convert.ErrNothing, into one about the recording at path, with the next step;
// other errors pass.
func explainSelection(path string, err error) error {
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	switch {
	case errors.As(err, &unknown):
		hint := "bagconv topics lists what it has"
		names := strings.Split(unknown.Pattern, ",")
		several := len(names) > 1 && !slices.ContainsFunc(names, func(s string) bool { return !slices.Contains(unknown.Known, s) })
		if unknown.LeftOut {
			hint = "omit one of the two flags"
		} else if several {
			hint = "repeat the flag for each: " + unknown.Flag + " " + strings.Join(names, " "+unknown.Flag+" ")
		} else if near := suggest(unknown.Pattern, unknown.Known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &failure{path: path, what: clean(unknown.Error()), hint: clean(hint), err: err}
	case errors.Is(err, convert.ErrNothing):
		return &failure{path: path, what: err.Error(), hint: "bagconv info shows its topics and times", err: err}
	case errors.As(err, &empty):
		return &failure{path: path, what: empty.Error(), err: err}
	}
	return err
}

// selectionJSON is what was taken; null where everything was.
type selectionJSON struct {
	StartNS *string  `json:"start_ns"` // null: from the beginning
	EndNS   *string  `json:"end_ns"`   // the first that does not belong to it; null: to the end
	LeftOut []string `json:"left_out_topics"`
}

func selectionResult(s *convert.Selection) *selectionJSON {
	if s == nil {
		return nil
	}
	out := &selectionJSON{LeftOut: append([]string{}, s.LeftOut...)}
	if s.First != math.MinInt64 {
		text := strconv.FormatInt(s.First, 10)
		out.StartNS = &text
	}
	if s.Last != math.MaxInt64 {
		text := strconv.FormatInt(s.Last+1, 10)
		out.EndNS = &text
	}
	return out
}

// selectedText reports what was taken: "3 of 12 topics, from ... to ...; 2 messages
// repeated at the start". "" when that is everything.
func selectedText(r *resultJSON) string {
	var parts []string
	if s := r.Selection; s != nil {
		names := map[string]bool{}
		for _, t := range r.Topics {
			names[t.Name] = true
		}
		of := len(names)
		for _, n := range s.LeftOut {
			if !names[n] {
				of++
			}
		}
		parts = append(parts, fmt.Sprintf("%d of %s%s", len(names), count(int64(of), "topic"), s.timeText()))
	}
	var leftOut, duplicates, repeated int64
	for _, t := range r.Topics {
		leftOut, duplicates, repeated = leftOut+t.Thinned, duplicates+t.Duplicates, repeated+t.Repeated
	}
	if leftOut > 0 {
		parts = append(parts, count(leftOut, "message")+" left out by --throttle or --every")
	}
	if duplicates > 0 {
		parts = append(parts, count(duplicates, "equal message")+" left out by --dedupe")
	}
	if repeated > 0 {
		parts = append(parts, count(repeated, "latched message")+" from before the start, repeated there")
	}
	return strings.Join(parts, "; ")
}

// timeText is ", from TIME, until TIME", as far as the selection has bounds.
func (s *selectionJSON) timeText() (text string) {
	if s.StartNS != nil {
		text += ", from " + whenText(*s.StartNS)
	}
	if s.EndNS != nil {
		text += ", until " + whenText(*s.EndNS)
	}
	return text
}

func whenText(s string) string {
	ns, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return s
	}
	return timeText(ns)
}
