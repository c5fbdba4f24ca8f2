package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/convert/recording"
)

// densities stand for the messages of a span: no messages, then quarters of the most that the topic
// has in one.
const densities = " .:+#"

// A timelineRow is a line of a drawing.
type timelineRow struct {
	name   string
	counts []int64
	marks  []bool // spans with a finding; nil: none
}

// draw writes a drawing: a heading after key, and a line for each row, at most as wide as the
// terminal. Two spans become one until there is room for names beside them. Pipes get no drawing.
func (e *env) draw(b *strings.Builder, t *recording.Timeline, key, note string, rows []timelineRow) {
	if t == nil || len(rows) == 0 || !e.OutTerminal || e.set.info.noTimeline {
		return
	}
	const shortName, frame = phrase.LeastRoom, 7 // characters of a name, and around it and the drawing
	columns := e.columns()
	bins, step := t.Bins, t.Step
	for bins+shortName+frame > columns && bins > 1 {
		for i := range rows {
			rows[i].halve()
		}
		bins, step = (bins+1)/2, 2*step
	}
	names, longest := make([]string, len(rows)), 0
	for i := range rows {
		names[i] = phrase.Clean(rows[i].name)
	}
	names = phrase.Shorten(names, columns-frame-bins)
	for _, name := range names {
		longest = max(longest, phrase.Columns(name))
	}
	b.WriteString(e.keyed(key, fmt.Sprintf("%s per character, from %s%s", durationText(step), timeText(t.Start), note),
		len(key)))
	for i, row := range rows {
		fmt.Fprintf(b, "  %s |%s|\n", phrase.Pad(names[i], longest), row.drawn())
	}
}

// drawn returns a character for each span.
func (r *timelineRow) drawn() string {
	most := slices.Max(r.counts)
	line := make([]byte, len(r.counts))
	for i, n := range r.counts {
		quarter := 0
		if n > 0 {
			quarter = 1 + min(3, int((4*float64(n)-1)/float64(most)))
		}
		if line[i] = densities[quarter]; r.marks != nil && r.marks[i] {
			line[i] = '!'
		}
	}
	return string(line)
}

// halve joins two spans to one.
func (r *timelineRow) halve() {
	counts, marks := make([]int64, (len(r.counts)+1)/2), make([]bool, (len(r.counts)+1)/2)
	for i, n := range r.counts {
		counts[i/2] += n
		marks[i/2] = marks[i/2] || r.marks != nil && r.marks[i]
	}
	r.counts, r.marks = counts, marks
}

// drawInfo draws all topics of a recording.
func (e *env) drawInfo(b *strings.Builder, in *recording.Description) {
	var rows []timelineRow
	for i := range in.Topics {
		if in.Timeline != nil {
			rows = append(rows, timelineRow{name: in.Topics[i].Name, counts: in.Timeline.Counts[i]})
		}
	}
	e.draw(b, in.Timeline, "timeline:     ", "", rows)
}

// drawFindings draws the topics that have findings at a time, and marks these.
func (e *env) drawFindings(b *strings.Builder, out *check.Result) {
	var rows []timelineRow
	for i := range out.Topics {
		var marks []bool
		for _, f := range out.Findings {
			if f.Time == nil || f.Topic != out.Topics[i].Name {
				continue
			}
			if bin, ok := out.Timeline.At(*f.Time); ok {
				if marks == nil {
					marks = make([]bool, out.Timeline.Bins)
				}
				marks[bin] = true
			}
		}
		if marks != nil {
			rows = append(rows, timelineRow{out.Topics[i].Name, out.Timeline.Counts[i], marks})
		}
	}
	e.draw(b, out.Timeline, "timeline:  ", "; ! is a finding", rows)
}
