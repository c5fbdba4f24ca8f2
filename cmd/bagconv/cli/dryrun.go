package cli

import (
	"fmt"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
)

// writePlan prints what a dry run has found: a line for each topic, with what it becomes, on
// standard output, unless the report goes there; and the sizes on standard error.
func (e *env) writePlan(r *resultJSON) {
	rows, types := make([][]string, len(r.Topics)), make([][]string, len(r.Topics))
	for i, t := range r.Topics {
		rows[i] = []string{phrase.Clean(t.Name), phrase.Grouped(t.Read)}
		types[i] = []string{fmt.Sprintf("%s [%s]", phrase.Clean(t.Type), phrase.Clean(t.Encoding))}
	}
	align(rows)
	align(types)
	for i, t := range r.Topics {
		becomes := "not converted"
		if t.SinkType != "" {
			becomes = fmt.Sprintf("%s [%s]", phrase.Clean(t.SinkType), phrase.Clean(t.SinkEncoding))
		}
		if !e.set.json {
			fmt.Fprintf(e.Out, "%s  %s  %s -> %s\n", rows[i][0], rows[i][1], types[i][0], becomes)
		}
	}
	if e.set.quiet {
		return
	}
	part := ""
	if r.Share < 1 {
		part = fmt.Sprintf("; %.2g%% of the input was read", 100*r.Share)
	}
	fmt.Fprintf(e.Err, "%s -> %s: %s, %s -> about %s; nothing was written (--dry-run)%s\n", phrase.Clean(r.Source.Path),
		phrase.Clean(r.Sink.Path),
		expected(r), sizeText(r.Source.Size), sizeText(r.Sink.Size), part)
}

// expected is how many messages a dry run expects in the output.
func expected(r *resultJSON) string {
	messages := phrase.Count(r.Sink.Messages, "message")
	if r.Share < 1 {
		return "about " + messages
	}
	return messages
}

// topicsOnce adds up what is expected of a topic in all parts of a split.
func topicsOnce(topics []convert.TopicReport) (once []convert.TopicReport) {
	type key struct{ name, typ, encoding string }
	at := map[key]int{}
	for _, t := range topics {
		k := key{t.Name, t.Type, t.Encoding}
		i, ok := at[k]
		if !ok {
			at[k] = len(once)
			once = append(once, t)
			continue
		}
		once[i].Read += t.Read
		if once[i].SinkType == "" {
			once[i].SinkType, once[i].SinkEncoding = t.SinkType, t.SinkEncoding
		}
	}
	return once
}
