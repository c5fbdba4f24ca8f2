package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/convert/engine"
)

// timelineJSON is how many messages of each topic lie in equal spans of time.
type timelineJSON struct {
	StartNS string    `json:"start_ns"` // of the first span, since 1970
	StepNS  string    `json:"step_ns"`  // from one to the next
	Bins    int       `json:"bins"`
	Counts  [][]int64 `json:"counts"` // of topics[], in their order

	start, step int64
}

// timelineOf joins the topics of a scan as groups does; nil without messages.
func timelineOf(t *engine.Timeline, groups []*topicGroup) *timelineJSON {
	if t.Bins == 0 {
		return nil
	}
	out := &timelineJSON{StartNS: *nsText(t.Start), StepNS: strconv.FormatInt(t.Step, 10), Bins: t.Bins, start: t.Start, step: t.Step}
	for _, g := range groups {
		row := make([]int64, t.Bins)
		for _, id := range g.ids {
			for bin, n := range t.Counts[id] {
				row[bin] += n
			}
		}
		out.Counts = append(out.Counts, row)
	}
	return out
}

// densities stand for the messages of a span: none, then quarters of the most that the topic
// has in one.
const densities = " .:+#"

// lines draws the timeline: a heading, and a line for each topic, at most columns wide. Two
// spans become one until there is room for names beside them.
func (t *timelineJSON) lines(names []string, columns int) []string {
	const shortName, frame = 12, 4 // characters around the name and the drawing
	counts, step := t.Counts, t.step
	for len(counts) > 0 && len(counts[0])+shortName+frame > columns && len(counts[0]) > 1 {
		counts, step = halved(counts), 2*step
	}
	room := shortName
	if len(counts) > 0 {
		room = max(room, columns-frame-len(counts[0]))
	}
	longest := 0
	for i, name := range names {
		names[i] = shortened(name, room)
		longest = max(longest, utf8.RuneCountInString(names[i]))
	}
	lines := []string{fmt.Sprintf("%s per character, from %s", durationText(step), timeText(t.start))}
	for i, row := range counts {
		lines = append(lines, fmt.Sprintf("%-*s |%s|", longest, names[i], drawn(row)))
	}
	return lines
}

// drawn is a character for each span.
func drawn(row []int64) string {
	var most int64
	for _, n := range row {
		most = max(most, n)
	}
	line := make([]byte, len(row))
	for i, n := range row {
		quarter := 0
		if n > 0 {
			quarter = int((4*float64(n) - 1) / float64(most))
			quarter = min(quarter, 3) + 1
		}
		line[i] = densities[quarter]
	}
	return string(line)
}

// halved joins two spans to one.
func halved(counts [][]int64) [][]int64 {
	out := make([][]int64, len(counts))
	for i, row := range counts {
		out[i] = make([]int64, (len(row)+1)/2)
		for k, n := range row {
			out[i][k/2] += n
		}
	}
	return out
}

// shortened leaves out the beginning of a name that is too long.
func shortened(name string, room int) string {
	if n := utf8.RuneCountInString(name); n > room {
		return "..." + string([]rune(name)[n-room+3:])
	}
	return name
}

// writeTimeline draws the timeline of a recording below its topics.
func (e *env) writeTimeline(b *strings.Builder, in *infoJSON) {
	if in.Timeline == nil || !e.OutTerminal || e.set.noTimeline {
		return
	}
	columns := e.OutColumns
	if columns <= 0 {
		columns = 80
	}
	names := make([]string, len(in.Topics))
	for i, t := range in.Topics {
		names[i] = clean(t.Name)
	}
	for i, line := range in.Timeline.lines(names, columns-3) {
		if i == 0 {
			fmt.Fprintf(b, "%-14s%s\n", "timeline:", line)
			continue
		}
		b.WriteString("  " + line + "\n")
	}
}
