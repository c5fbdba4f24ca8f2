package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
)

// explainSelection turns an error of Selection.Resolve or Edit.Check, or
// convert.ErrNothing, into an error about the recording at path; other errors pass.
func explainSelection(path string, err error) error {
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	var time *selection.TimeError
	var condition *recording.ConditionError
	if errors.As(err, &unknown) || errors.As(err, &empty) || errors.As(err, &condition) ||
		errors.As(err, &time) || errors.Is(err, convert.ErrNothing) || errors.Is(err, selection.ErrNoTopics) {
		return &failure{path: path, what: phrase.Clean(err.Error()), err: err}
	}
	return err
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
		parts = append(parts, fmt.Sprintf("%d of %s%s", len(names), phrase.Count(int64(of), "topic"), takenText(s)))
	}
	var filtered, leftOut, duplicates, repeated int64
	for _, t := range r.Topics {
		filtered += t.Filtered
		leftOut, duplicates, repeated = leftOut+t.Thinned, duplicates+t.Duplicates, repeated+t.Repeated
	}
	if filtered > 0 {
		parts = append(parts, phrase.Count(filtered, "message")+" left out by --where")
	}
	var edited, emptied int64
	for _, t := range r.Topics {
		edited, emptied = edited+t.Edited, emptied+t.Emptied
	}
	if edited > 0 {
		parts = append(parts, phrase.Count(edited, "message")+" changed by edits (-v lists them)")
	}
	if emptied > 0 {
		parts = append(parts, phrase.Count(emptied, "message")+" left out, as no transform of them is left")
	}
	if leftOut > 0 {
		parts = append(parts, phrase.Count(leftOut, "message")+" left out by --throttle or --every")
	}
	if duplicates > 0 {
		parts = append(parts, phrase.Count(duplicates, "equal message")+" left out by --dedupe")
	}
	if repeated > 0 {
		parts = append(parts, phrase.Count(repeated, "latched message")+" from before the start, repeated there")
	}
	return strings.Join(parts, "; ")
}

// takenText is ", from TIME, until TIME", as far as a selection has bounds.
func takenText(s *convert.Selection) (text string) {
	if s.Start != nil {
		text += ", from " + timeText(*s.Start)
	}
	if s.End != nil {
		text += ", until " + timeText(*s.End)
	}
	return text
}
