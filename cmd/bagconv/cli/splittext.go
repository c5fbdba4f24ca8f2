package cli

import (
	"fmt"
	"slices"
	"strconv"
)

// writeParts reports on Err what became of the parts of a split: a line for each part, and
// the summary of all of them.
func (e *env) writeParts(results []*resultJSON, quiet, verbose bool) {
	if !quiet {
		for _, r := range results {
			line := fmt.Sprintf("%s: %s, %s", r.Sink.Path, count(r.Sink.Messages, "message")+inSegments(r.Sink.Files), sizeText(r.Sink.Size))
			if r.DryRun {
				line = fmt.Sprintf("%s: %s, about %s", r.Sink.Path, expected(r), sizeText(r.Sink.Size))
			}
			if s := r.Selection; s != nil {
				line += s.timeText()
			}
			fmt.Fprintln(e.Err, clean(line))
		}
	}
	e.writeSummary(totalOf(results), quiet, verbose, false)
}

// totalOf returns the results of the parts of a split as that of one run: what they
// have in common once, the time of the longest, and the sum of the rest.
func totalOf(results []*resultJSON) *resultJSON {
	all := *results[0]
	all.Sink.Path, all.Sink.Files, all.Sink.Size, all.Sink.Messages = count(int64(len(results)), "part"), nil, 0, 0
	all.Topics, all.Losses, all.Notes, all.Warnings = nil, nil, nil, nil
	type kind struct{ code, topic, message string }
	type place struct {
		kind
		offset int64
	}
	losses, notes, warnings := map[kind]int{}, map[kind]bool{}, map[place]bool{}
	var elapsed int64
	for _, r := range results {
		ns, _ := strconv.ParseInt(r.ElapsedNS, 10, 64)
		elapsed = max(elapsed, ns) // parts are written side by side
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
			k := place{kind{w.Code, "", w.Message}, -1}
			if w.Offset != nil {
				k.offset = *w.Offset
			}
			if !warnings[k] {
				warnings[k] = true
				all.Warnings = append(all.Warnings, w)
			}
		}
		all.Lost = all.Lost.join(r.Lost)
	}
	if all.DryRun {
		all.Topics = topicsOnce(all.Topics)
	}
	all.ElapsedNS = strconv.FormatInt(elapsed, 10)
	all.Selection = joinSelections(results[0].Selection, results[len(results)-1].Selection, all.Topics)
	return &all
}

// joinSelections returns what the parts from first to last take together of topics; nil
// for everything.
func joinSelections(first, last *selectionJSON, topics []topicResult) *selectionJSON {
	if first == nil || last == nil {
		return nil
	}
	s := &selectionJSON{StartNS: first.StartNS, EndNS: last.EndNS}
	written := map[string]bool{}
	for _, t := range topics {
		written[t.Name] = true
	}
	s.LeftOut = slices.DeleteFunc(slices.Clone(first.LeftOut), func(name string) bool { return written[name] })
	if s.StartNS == nil && s.EndNS == nil && len(s.LeftOut) == 0 {
		return nil
	}
	return s
}
