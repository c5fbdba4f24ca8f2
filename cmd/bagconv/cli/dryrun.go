package cli

import "fmt"

// writePlan prints what a dry run has found: a line for each topic, with what it becomes, on
// standard output, unless the report goes there; and the sizes on standard error.
func (e *env) writePlan(r *resultJSON) {
	rows, types := make([][]string, len(r.Topics)), make([][]string, len(r.Topics))
	for i, t := range r.Topics {
		rows[i] = []string{clean(t.Name), grouped(t.Read)}
		types[i] = []string{fmt.Sprintf("%s [%s]", clean(t.Type), clean(t.Encoding))}
	}
	align(rows)
	align(types)
	for i, t := range r.Topics {
		becomes := "not converted"
		if t.SinkType != "" {
			becomes = fmt.Sprintf("%s [%s]", clean(t.SinkType), clean(t.SinkEncoding))
		}
		if !e.set.json {
			fmt.Fprintf(e.Out, "%s  %s  %s -> %s\n", rows[i][0], rows[i][1], types[i][0], becomes)
		}
	}
	if e.set.quiet {
		return
	}
	messages, part := count(r.Sink.Messages, "message"), ""
	if r.Share < 1 {
		messages, part = "about "+messages, fmt.Sprintf("; %.2g%% of the input was read", 100*r.Share)
	}
	fmt.Fprintf(e.Err, "%s -> %s: %s, %s -> about %s; nothing was written (--dry-run)%s\n", clean(r.Source.Path), clean(r.Sink.Path),
		messages, sizeText(r.Source.Size), sizeText(r.Sink.Size), part)
}
