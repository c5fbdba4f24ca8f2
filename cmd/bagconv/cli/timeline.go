package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/convert/recording"
)

// timelineJSON is how many messages of each topic lie in equal spans of time.
type timelineJSON struct {
	StartNS string    `json:"start_ns"` // of the first span, since 1970
	StepNS  string    `json:"step_ns"`  // from one to the next
	Bins    int       `json:"bins"`
	Counts  [][]int64 `json:"counts"` // of topics[], in their order

	start, step int64
}

// timelineOf joins topics: each group has the numbers of those that make one; nil without
// messages.
func timelineOf[T ~uint32 | ~int](t *recording.Timeline, groups [][]T) *timelineJSON {
	if t.Bins == 0 {
		return nil
	}
	out := &timelineJSON{StartNS: *nsText(t.Start), StepNS: *nsText(t.Step), Bins: t.Bins, start: t.Start, step: t.Step}
	for _, topics := range groups {
		row := make([]int64, t.Bins)
		for _, i := range topics {
			for bin, n := range t.Counts[i] {
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

// A timelineRow is a line of a drawing.
type timelineRow struct {
	name   string
	counts []int64
	marks  []bool // spans with a finding; nil: none
}

// draw writes a drawing: a heading after key, and a line for each row, at most as wide as the
// terminal. Two spans become one until there is room for names beside them. Pipes get none.
func (e *env) draw(b *strings.Builder, t *timelineJSON, key, note string, rows []timelineRow) {
	if t == nil || len(rows) == 0 || !e.OutTerminal || e.set.noTimeline {
		return
	}
	const shortName, frame = 12, 7 // characters of a name, and around it and the drawing
	columns := e.OutColumns
	if columns <= 0 {
		columns = 80
	}
	bins, step := t.Bins, t.step
	for bins+shortName+frame > columns && bins > 1 {
		for i := range rows {
			rows[i].halve()
		}
		bins, step = (bins+1)/2, 2*step
	}
	longest := 0
	for i := range rows {
		rows[i].name = shortened(clean(rows[i].name), max(shortName, columns-frame-bins))
		longest = max(longest, utf8.RuneCountInString(rows[i].name))
	}
	fmt.Fprintf(b, "%s%s per character, from %s%s\n", key, durationText(step), timeText(t.start), note)
	for _, row := range rows {
		fmt.Fprintf(b, "  %-*s |%s|\n", longest, row.name, row.drawn())
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

// shortened leaves out the beginning of a name that is too long.
func shortened(name string, room int) string {
	if n := utf8.RuneCountInString(name); n > room {
		return "..." + string([]rune(name)[n-room+3:])
	}
	return name
}

// drawInfo draws all topics of a recording.
func (e *env) drawInfo(b *strings.Builder, in *infoJSON) {
	var rows []timelineRow
	for i := range in.Topics {
		if in.Timeline != nil {
			rows = append(rows, timelineRow{name: in.Topics[i].Name, counts: in.Timeline.Counts[i]})
		}
	}
	e.draw(b, in.Timeline, "timeline:     ", "", rows)
}

// drawFindings draws the topics that have findings at a time, and marks these.
func (e *env) drawFindings(b *strings.Builder, out *checkJSON, line *recording.Timeline) {
	var rows []timelineRow
	for i := range out.Topics {
		var marks []bool
		for _, f := range out.Findings {
			if f.TimeNS == nil || f.Topic != out.Topics[i].Name {
				continue
			}
			if bin, ok := line.At(nsOf(*f.TimeNS)); ok {
				if marks == nil {
					marks = make([]bool, line.Bins)
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
