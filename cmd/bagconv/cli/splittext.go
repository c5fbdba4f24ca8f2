package cli

import (
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/storage"
)

// writeParts reports on Err what became of the parts of a split: a line for each part, and
// the summary of all of them.
func (e *env) writeParts(results []*resultJSON, quiet, verbose bool) {
	if !quiet {
		for _, r := range results {
			line := fmt.Sprintf("%s: %s, %s", r.Sink.Path, phrase.Count(r.Sink.Messages, "message")+inSegments(r.Sink.Files),
				sizeText(r.Sink.Size))
			if r.DryRun {
				line = fmt.Sprintf("%s: %s, about %s", r.Sink.Path, expected(r), sizeText(r.Sink.Size))
			}
			if s := r.Selection; s != nil {
				line += takenText(s)
			}
			line += r.Part.text()
			fmt.Fprintln(e.Err, phrase.Clean(line))
		}
	}
	e.writeSummary(totalOf(results), quiet, verbose, false)
}

// totalOf returns the results of the parts of a split as the result of one run: what they have in
// common once, the time of the longest, and the sum of the rest.
func totalOf(results []*resultJSON) *resultJSON {
	all := *results[0]
	all.Sink.Path, all.Sink.Files, all.Sink.Size, all.Sink.Messages = phrase.Count(int64(len(results)), "part"), nil, 0, 0
	all.Topics, all.Losses, all.Notes, all.Warnings = nil, nil, nil, nil
	type kind struct{ code, topic, message string }
	type place struct {
		kind
		offset storage.Known
	}
	losses, notes, warnings := map[kind]int{}, map[kind]bool{}, map[place]bool{}
	for _, r := range results {
		all.Elapsed = max(all.Elapsed, r.Elapsed) // parts are written side by side
		all.Share = min(all.Share, r.Share)
		all.Sink.Size += r.Sink.Size
		all.Sink.Messages += r.Sink.Messages
		all.Topics = append(all.Topics, r.Topics...)
		for _, l := range r.Losses {
			k := kind{l.Code, l.Topic, l.Message}
			i, ok := losses[k]
			if !ok {
				losses[k] = len(all.Losses)
				all.Losses = append(all.Losses, l)
				continue
			}
			all.Losses[i].Count += l.Count
			all.Losses[i].Bytes += l.Bytes
		}
		for _, n := range r.Notes {
			if k := (kind{n.Code, n.Topic, n.Message}); !notes[k] {
				notes[k] = true
				all.Notes = append(all.Notes, n)
			}
		}
		for _, w := range r.Warnings {
			if k := (place{kind{w.Code, "", w.Message}, w.Offset}); !warnings[k] {
				warnings[k] = true
				all.Warnings = append(all.Warnings, w)
			}
		}
		a, b := &all.Lost, r.Lost // each reading finds the losses of its part
		*a = storage.Lost{Bytes: max(a.Bytes, b.Bytes), Blocks: max(a.Blocks, b.Blocks),
			Messages:  max(a.Messages, b.Messages),
			Uncounted: a.Uncounted || b.Uncounted, Duration: max(a.Duration, b.Duration)}
	}
	if all.DryRun {
		all.Topics = topicsOnce(all.Topics)
	}
	all.Selection = joinSelections(results[0].Selection, results[len(results)-1].Selection, all.Topics)
	return &all
}

// joinSelections returns what the parts from first to last take together of topics; nil
// for everything.
func joinSelections(first, last *convert.Selection, topics []convert.TopicReport) *convert.Selection {
	if first == nil || last == nil {
		return nil
	}
	s := &convert.Selection{Start: first.Start, End: last.End}
	written := map[string]bool{}
	for _, t := range topics {
		written[t.Name] = true
	}
	s.LeftOut = slices.DeleteFunc(slices.Clone(first.LeftOut), func(name string) bool { return written[name] })
	if s.Start == nil && s.End == nil && len(s.LeftOut) == 0 {
		return nil
	}
	return s
}
