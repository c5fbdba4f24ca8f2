package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/storage"
)

// maxLines is the largest number of lines of each kind in the summary; the report has all.
const maxLines = 20

// writeSummary reports on Err what a conversion did. It reports damage, losses that are not by
// design, and doubts about values, even with --quiet.
func (e *env) writeSummary(r *resultJSON, quiet, verbose, salvage bool) {
	var lost, design []convert.Loss
	for _, l := range r.Losses {
		if l.ByDesign {
			design = append(design, l)
		} else {
			lost = append(lost, l)
		}
	}
	damage, odd := parted(r.Warnings)
	if r.Error != "" {
		e.writeLines("damaged", warningLines(r.Source.Path, damage))
		e.sayError(r.Error)
		return
	}
	switch {
	case r.DryRun:
		e.writePlan(r)
	case !quiet:
		fmt.Fprintln(e.Err, e.fold(phrase.Clean(r.Source.Path)+" ->", phrase.Clean(r.Sink.Path)+":",
			phrase.Count(r.Sink.Messages, "message")+inSegments(r.Sink.Files)+", "+volumeText(r)))
		if r.Verified != "" {
			fmt.Fprintf(e.Err, "verified: read back, and equal in %s\n", r.Verified)
		}
	}
	if !quiet {
		if s := selectedText(r); s != "" {
			fmt.Fprintf(e.Err, "selected: %s\n", s)
		}
		e.writeLines("warning", warningLines(r.Source.Path, odd))
		if n := presentIn(r); n > 0 {
			e.writeLines("warning", []string{fmt.Sprintf("%s: %s of these were there already, equal in topic, time and "+
				"content, and are there twice now; --dedupe leaves such messages out", r.Sink.Path, phrase.Grouped(n))})
		}
	}
	salvage = salvage && !r.DryRun
	if salvage && (!quiet || len(damage) > 0) {
		fmt.Fprintf(e.Err, "saved: %s\n", phrase.Count(r.Sink.Messages, "message"))
	}
	if salvage && !quiet || len(damage) > 0 {
		word := "lost:"
		if r.Lost != (storage.Lost{}) {
			word = e.painted("lost")
		}
		fmt.Fprintf(e.Err, "%s %s\n", word, lostText(r.Lost))
	}
	e.writeLines("damaged", warningLines(r.Source.Path, damage))
	e.writeLines("lost", lossLines(lost, "message"))
	if r.Source.Messages > 0 && r.Sink.Messages == 0 && duplicatesIn(r) < r.Source.Messages {
		fmt.Fprintf(e.Err, "%s nothing is left: none of the %s could be converted; %s is empty\n", e.painted("lost"),
			phrase.Count(r.Source.Messages, "message"), phrase.Clean(r.Sink.Path))
	}
	var notes, doubts []convert.Loss
	for _, n := range r.Notes {
		l := convert.Loss{Code: n.Code, Topic: n.Topic, Message: n.Message, Count: n.Count}
		if n.Warning {
			doubts = append(doubts, l)
		} else {
			notes = append(notes, l)
		}
	}
	e.writeLines("warning", lossLines(doubts, ""))
	switch {
	case quiet:
	case verbose:
		e.writeLines("not carried", lossLines(design, ""))
		e.writeLines("note", noteLines(notes))
	default:
		e.writeLeftOut(design)
		e.writeCodes("not carried, by design", slices.DeleteFunc(design, func(l convert.Loss) bool { return l.Fields > 0 }))
		e.writeCodes("notes", e.writeBorrowed(notes))
	}
}

// duplicatesIn counts the messages that --dedupe left out.
func duplicatesIn(r *resultJSON) (n int64) {
	for _, t := range r.Topics {
		n += t.Duplicates
	}
	return n
}

// presentIn counts the messages that the recording to which they were added had already.
func presentIn(r *resultJSON) (n int64) {
	for _, t := range r.Topics {
		n += t.Present
	}
	return n
}

// lostText returns what damage has cost: "8,150 messages, 7,699,990 bytes in 3 damaged
// blocks, 2m22.9s".
func lostText(l storage.Lost) string {
	if l == (storage.Lost{}) {
		return "nothing"
	}
	var messages string
	switch {
	case l.Uncounted && l.Messages == 0:
		messages = "an unknown number of messages"
	case l.Uncounted:
		messages = "at least " + phrase.Count(l.Messages, "message")
	case l.Messages == 0:
		messages = "no message"
	default:
		messages = phrase.Count(l.Messages, "message")
	}
	parts := []string{messages}
	if l.Bytes > 0 {
		parts = append(parts, phrase.Count(l.Bytes, "byte"))
	}
	if l.Blocks > 0 {
		parts[len(parts)-1] += " in " + phrase.Count(l.Blocks, "damaged block")
	}
	if l.Duration > 0 {
		parts = append(parts, durationText(l.Duration))
	}
	return strings.Join(parts, ", ")
}

// writeCodes names the kinds of what only -v explains.
func (e *env) writeCodes(what string, losses []convert.Loss) {
	var codes []string
	for _, l := range losses {
		if !slices.Contains(codes, l.Code) {
			codes = append(codes, l.Code)
		}
	}
	if len(codes) > 0 {
		fmt.Fprintf(e.Err, "%s: %s (-v explains)\n", what, strings.Join(codes, ", "))
	}
}

// fieldsOf are the fields that a code of losses is about, and what lacks them.
var fieldsOf = map[string][2]string{
	"apollo-fields": {"Apollo field", "ROS's types lack"}, "foxglove-fields": {"Foxglove field", "ROS's types lack"},
	"ros-fields": {"ROS field", "Apollo's types lack"},
}

// writeLeftOut tells how many fields have no place in the output, and the way out.
func (e *env) writeLeftOut(losses []convert.Loss) {
	fields, topics := map[string]int{}, map[string]map[string]bool{}
	var codes []string
	for _, l := range losses {
		if l.Fields == 0 {
			continue
		}
		if topics[l.Code] == nil {
			topics[l.Code] = map[string]bool{}
			codes = append(codes, l.Code)
		}
		fields[l.Code] += l.Fields
		topics[l.Code][l.Topic] = true
	}
	for _, code := range codes {
		what := fieldsOf[code]
		wayOut := "--proto-types generated or --encoding keep keeps them"
		if code == "ros-fields" {
			wayOut = "--proto-types generated keeps them"
		}
		fmt.Fprintf(e.Err, "left out: %s in %s that %s; %s (-v lists them)\n", phrase.Count(int64(fields[code]), what[0]),
			phrase.Count(int64(len(topics[code])), "topic"), what[1], wayOut)
	}
}

// writeBorrowed tells how many types have a standard definition for want of their own, and returns the
// other notes.
func (e *env) writeBorrowed(notes []convert.Loss) (others []convert.Loss) {
	types := map[string]bool{}
	for _, n := range notes {
		if n.Code == "definition-builtin" {
			types[n.Message] = true
		} else {
			others = append(others, n)
		}
	}
	if n := len(types); n > 0 {
		fmt.Fprintf(e.Err, "note: %s had no usable definition; the standard one was used (-v lists them)\n",
			phrase.Count(int64(n), "type"))
	}
	return others
}

// writeLines writes "what: line" for each, up to maxLines.
func (e *env) writeLines(what string, lines []string) {
	for i, l := range lines {
		if i == maxLines {
			fmt.Fprintf(e.Err, "%s and %d more; --report FILE lists all\n", e.painted(what), len(lines)-i)
			return
		}
		fmt.Fprintf(e.Err, "%s %s\n", e.painted(what), e.foldMessage(what, phrase.Clean(l)))
	}
}

// noteLines joins notes that differ only in their topic, with the number of messages if it is known.
func noteLines(notes []convert.Loss) []string {
	var counted, others []convert.Loss
	for _, n := range notes {
		if n.Count > 0 {
			counted = append(counted, n)
		} else {
			others = append(others, n)
		}
	}
	return append(lossLines(others, ""), lossLines(counted, "message")...)
}

// lossLines joins losses that differ only in their topic. what is the unit of their
// counts; "" if it differs.
func lossLines(losses []convert.Loss, what string) (lines []string) {
	type kind struct{ code, message string }
	topics, counts, bytes := map[kind][]string{}, map[kind]int64{}, map[kind]int64{}
	var kinds []kind
	for _, l := range losses {
		k := kind{l.Code, l.Message}
		if topics[k] == nil {
			kinds = append(kinds, k)
		}
		topics[k] = append(topics[k], l.Topic)
		counts[k] += l.Count
		bytes[k] += l.Bytes
	}
	for _, k := range kinds {
		line := ""
		if names := topics[k]; names[0] != "" {
			const maxNamed = 3
			line = strings.Join(names[:min(len(names), maxNamed)], ", ")
			if len(names) > maxNamed {
				line += fmt.Sprintf(" and %s", phrase.Count(int64(len(names)-maxNamed), "other topic"))
			}
			line += ": "
		}
		switch n := counts[k]; {
		case what != "":
			unit := what
			switch k.code {
			case "attachment":
				unit = "attachment"
			case "metadata-record":
				unit = "record"
			case "transforms-added":
				unit = "transform"
			case "edited":
				unit = "value"
			}
			line += phrase.Count(n, unit)
			if bytes[k] > 0 {
				line += ", " + phrase.Count(bytes[k], "byte")
			}
			line += ": "
		case n > 0:
			line += "(" + phrase.Count(n, "time") + ") "
		}
		lines = append(lines, fmt.Sprintf("%s%s [%s]", line, k.message, k.code))
	}
	return lines
}

// sayDamage writes all warnings about a recording if one of them is damage, and reports whether that is so.
func (e *env) sayDamage(path string, warnings []storage.Warning) bool {
	damage, _ := parted(warnings)
	if len(damage) > 0 {
		e.writeLines("damaged", warningLines(path, warnings))
	}
	return len(damage) > 0
}

// missingLines reports what a run could not carry, not by design, and what is damaged in its source.
func missingLines(source string, r *convert.Report) (lost, damaged []string) {
	damage, _ := parted(r.Warnings)
	losses := slices.DeleteFunc(slices.Clone(r.Losses), func(l convert.Loss) bool { return l.ByDesign })
	return lossLines(losses, "message"), warningLines(source, damage)
}

// parted parts warnings into damage and all else.
func parted(warnings []storage.Warning) (damage, odd []storage.Warning) {
	for _, w := range warnings {
		if w.Damage {
			damage = append(damage, w)
		} else {
			odd = append(odd, w)
		}
	}
	return damage, odd
}

func warningLines(path string, warnings []storage.Warning) (lines []string) {
	for _, w := range warnings {
		line := w.Message
		if path != "" {
			line = path + ": " + line
		}
		if w.Offset >= 0 {
			line += fmt.Sprintf(", at byte %d", w.Offset)
		}
		lines = append(lines, fmt.Sprintf("%s [%s]", line, w.Code))
	}
	return lines
}

// inSegments reports that an output is several files.
func inSegments(files []string) string {
	if len(files) < 2 {
		return ""
	}
	return " in " + phrase.Count(int64(len(files)), "segment")
}

// volumeText is what was read and written, and in which time. A running system has no size and sets
// the speed, and a small file takes no time: these have no rate.
func volumeText(r *resultJSON) string {
	seconds := fmt.Sprintf(" in %.2f s", r.Elapsed.Seconds())
	switch {
	case r.Sink.Size == 0:
		return sizeText(r.Source.Size) + seconds
	case r.Source.Size == 0:
		return sizeText(r.Sink.Size) + seconds
	}
	return sizeText(r.Source.Size) + " -> " + sizeText(r.Sink.Size) + seconds +
		speedText(" (%.0f MB/s)", rate(r.Source.Size, r.Elapsed))
}

// speedText is a speed in a format, "" if it would be 0.
func speedText(format string, mbPerS float64) string {
	if mbPerS < 0.5 {
		return ""
	}
	return fmt.Sprintf(format, mbPerS)
}
