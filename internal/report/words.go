package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bagconv/bagconv/storage"
)

// The bounds of a report. Together they keep it below some 1.5 MB, and below 4 MB in the worst case.
const (
	mostTopics       = 1000
	mostBins         = 600 // of a topic
	leastBins        = 48
	maxCells         = 60_000 // bins of all topics
	mostFindings     = 300
	mostSpans        = 20 // gaps or bursts of a topic
	mostTypes        = 200
	maxDefinition    = 16 << 10 // bytes of one
	maxDefinitions   = 200 << 10
	maxGuesses       = 24     // plots that we choose
	mostPlots        = 64     // of --plot
	maxPlotPoints    = 20_000 // of all plots
	mostPlotPoints   = 1500   // of one
	leastPlotPoints  = 200
	maxTracks        = 12
	maxTrackPoints   = 9000
	mostTrackPoints  = 3000
	leastTrackPoints = 500
	maxCameras       = 16
	maxThumbnails    = 32 // of all cameras
	mostThumbnails   = 16 // of one
	leastThumbnails  = 8
	maxJPEG          = 700 << 10 // bytes of all thumbnails
	maxPoints        = 20_000    // of the cloud
	maxFrames        = 1000
	maxEdges         = 10_000 // transforms that are told apart
	maxText          = 300    // bytes of a name
	maxSentence      = 400    // bytes of a message or hint
	mostLines        = 100    // properties, losses, lines of LeftOut
	maxTexts         = 1 << 20
	shortText        = 20 // bytes of each text when there are more than maxTexts in all
)

// text bounds a name, and counts that it is cut.
func (g *gatherer) text(s string) string { return g.cut(s, maxText) }

// sentence bounds a message.
func (g *gatherer) sentence(s string) string { return g.cut(s, maxSentence) }

func (g *gatherer) cut(s string, most int) string {
	if g.written.Load() > maxTexts {
		most = shortText
	}
	if len(s) > most {
		g.texts.Add(1)
		s = cutAt(s, most)
	}
	g.written.Add(weight(s))
	return s
}

// weight returns how many bytes a text may take in a page, where < is \u003c.
func weight(s string) (n int64) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' {
			n += 5
		}
	}
	return n + int64(len(s))
}

// shorten bounds a text that nobody counts.
func shorten(s string) string { return cutAt(s, 60) }

// cutAt cuts a text between two characters.
func cutAt(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// leave counts things of a kind that the report leaves out, as they are too many.
func (g *gatherer) leave(what string, n int) {
	if g.left == nil {
		g.left = map[string]int{}
	}
	g.left[what] += n
}

// note says what else the report leaves out.
func (g *gatherer) note(format string, a ...any) {
	if len(g.rec.LeftOut) < mostLines {
		g.rec.LeftOut = append(g.rec.LeftOut, cutAt(fmt.Sprintf(format, a...), maxSentence))
	}
}

// doubt says the same of something that the reader of the report may miss, so that the command says it, too.
func (g *gatherer) doubt(format string, a ...any) {
	g.note(format, a...)
	if len(g.doubts) < mostLines {
		g.doubts = append(g.doubts, cutAt(fmt.Sprintf(format, a...), maxSentence))
	}
}

// sayLeft says what was counted.
func (g *gatherer) sayLeft() {
	for _, what := range sortedKeys(g.left) {
		n := g.left[what]
		if all := g.all[what]; all > 0 {
			g.note("%s of %s", grouped(int64(n)), plural(int64(all), what))
		} else {
			g.note("%s", plural(int64(n), "more "+what))
		}
	}
	if n := g.texts.Load(); n > 0 {
		g.note("the end of %s", plural(n, "long text"))
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// plural writes "1 topic" or "1,000 topics".
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds returns a time in seconds after the start, to a microsecond.
func (g *gatherer) seconds(t int64) float64 { return secondsOf(less(t, g.start)) }

func secondsOf(ns int64) float64 { return math.Round(float64(ns)/1e3) / 1e6 }

// moment writes a time for people.
func moment(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000000000 UTC")
}

// qosText writes what publishers offer, in words.
func qosText(list []storage.QoS) string {
	var texts []string
	for i := range list {
		q := list[i].Text()
		var words []string
		add := func(policy, word string) {
			if word != "" && word != "unknown" && word != "system_default" && word != "best_available" {
				words = append(words, strings.ReplaceAll(word, "_", " ")+policy)
			}
		}
		add("", q.Reliability)
		add("", q.Durability)
		switch {
		case q.History == "keep_last" && q.Depth > 0:
			words = append(words, "keep last "+grouped(q.Depth))
		default:
			add("", q.History)
		}
		if text := strings.Join(words, ", "); !slices.Contains(texts, text) && text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) > 4 {
		texts = append(texts[:3], fmt.Sprintf("%d others", len(texts)-3))
	}
	return strings.Join(texts, "; ")
}

// lossLines says what damage has cost.
func lossLines(l storage.Lost) (lines []string) {
	if l.Messages > 0 {
		lines = append(lines, plural(l.Messages, "message")+" that an index or a header counts cannot be read")
	}
	if l.Blocks > 0 {
		lines = append(lines, plural(l.Blocks, "chunk or page")+" cannot be read in full")
	}
	if l.Bytes > 0 {
		lines = append(lines, plural(l.Bytes, "byte")+" were skipped or are missing")
	}
	if l.Duration > 0 {
		lines = append(lines, "no message is left in "+time.Duration(l.Duration).String()+" of the recording")
	}
	if l.Uncounted {
		lines = append(lines, "more messages may be missing; nothing counts them")
	}
	return lines
}
