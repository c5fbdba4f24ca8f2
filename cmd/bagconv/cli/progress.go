package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/iox"
)

// A progress shows how far a run is. update is called from one goroutine; stop
// is called after the last update, and removes what may be overwritten.
type progress interface {
	update(convert.Progress)
	stop()
}

// newProgress returns the display of --progress, which shows nothing with --quiet.
func (e *env) newProgress() progress {
	if e.set.quiet {
		return noProgress{}
	}
	return newProgress(e.set.progress, e.Stdio, e.meter)
}

// newProgress returns the display of a mode of --progress; meter counts what the run reads and writes.
func newProgress(mode string, stdio Stdio, meter *iox.Meter) progress {
	switch mode {
	case "auto":
		if stdio.Terminal {
			return &barProgress{out: stdio.Err}
		}
		return &plainProgress{out: stdio.Err}
	case "bar":
		return &barProgress{out: stdio.Err}
	case "plain":
		return &plainProgress{out: stdio.Err}
	case "json":
		return &jsonProgress{out: stdio.Err, meter: meter}
	}
	return noProgress{}
}

type noProgress struct{}

func (noProgress) update(convert.Progress) {}
func (noProgress) stop()                   {}

// barDelay keeps short runs free of a bar that only flashes.
const barDelay = 300 * time.Millisecond

// A barProgress is a line on a terminal that is written again and again. The
// cursor stays at its beginning, so that the ^C of an interruption lands in the
// line, and goes with it. It needs no escape sequences.
type barProgress struct {
	out   io.Writer
	drawn int    // columns of what stands there
	of    string // before the text: which of several inputs, as "2 of 6, "
}

func (p *barProgress) update(now convert.Progress) {
	if now.Elapsed >= barDelay {
		p.draw(func(room int) string { return barText(p.of+progressText(now), now, room) })
	}
}

func (p *barProgress) stop() {
	if p.drawn > 0 {
		p.draw(func(int) string { return "" })
	}
}

func (p *barProgress) draw(text func(room int) string) {
	room := columns(p.out) - 1 // the last column would wrap
	line := text(room)
	fmt.Fprintf(p.out, "\r%-*s\r", min(p.drawn, room), line)
	p.drawn = len(line)
}

// barText returns a bar with the text after it, or what fits of the text.
func barText(text string, now convert.Progress, room int) string {
	const length = 22
	done := 0
	if now.Total > 0 {
		done = int(min(length*now.Bytes/now.Total, length-1))
	}
	if line := fmt.Sprintf("[%-*s] %s", length, strings.Repeat("=", done)+">", text); len(line) <= room {
		return line
	}
	return text[:max(min(room, len(text)), 0)]
}

// progressText reports how far a run is, how fast it is, and how long it will take.
func progressText(p convert.Progress) string {
	s := fmt.Sprintf("%s of %s, %.0f MB/s", sizeText(p.Bytes), sizeText(p.Total), rate(p.Bytes, p.Elapsed))
	if left, ok := timeLeft(p); ok {
		s += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return s
}

func timeLeft(p convert.Progress) (time.Duration, bool) {
	if p.Bytes <= 0 || p.Total < p.Bytes {
		return 0, false
	}
	seconds := p.Elapsed.Seconds() * float64(p.Total-p.Bytes) / float64(p.Bytes)
	if seconds > 1e6 { // not known at the beginning
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// A plainProgress is a line now and then, for logs.
type plainProgress struct {
	out  io.Writer
	next time.Duration
}

const plainInterval = 5 * time.Second

func (p *plainProgress) update(now convert.Progress) {
	if p.next == 0 {
		p.next = plainInterval
	}
	if now.Elapsed < p.next {
		return
	}
	p.next = now.Elapsed + plainInterval
	percent := 0.0
	if now.Total > 0 {
		percent = 100 * float64(now.Bytes) / float64(now.Total)
	}
	fmt.Fprintf(p.out, "%3.0f%%  %s, %s\n", percent, progressText(now), phrase.Count(now.Messages, "message"))
}

func (p *plainProgress) stop() {}

// A jsonProgress is an object per second and line, for programs.
type jsonProgress struct {
	out   io.Writer
	meter *iox.Meter
	next  time.Duration
}

type progressEvent struct {
	Bytes    int64    `json:"bytes"`
	Total    int64    `json:"total"`
	Messages int64    `json:"messages"`
	MBPerS   float64  `json:"mb_per_s"`
	ETA      *float64 `json:"eta_s"` // null if not known

	Elapsed float64    `json:"elapsed_s"`
	IO      iox.Counts `json:"io"`
}

func (p *jsonProgress) update(now convert.Progress) {
	if p.next == 0 {
		p.next = time.Second
	}
	if now.Elapsed < p.next {
		return
	}
	p.next = now.Elapsed + time.Second
	event := progressEvent{Bytes: now.Bytes, Total: now.Total, Messages: now.Messages,
		MBPerS: round1(rate(now.Bytes, now.Elapsed)), Elapsed: round1(now.Elapsed.Seconds()), IO: p.meter.Counts()}
	if left, ok := timeLeft(now); ok {
		s := round1(left.Seconds())
		event.ETA = &s
	}
	writeEvent(p.out, "progress", event)
}

func (p *jsonProgress) stop() {}

// writeEvent writes one line of JSON: the name of an event, and the keys of it.
func writeEvent(w io.Writer, name string, event any) {
	line, err := json.Marshal(event)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	// a lost progress line is no reason to stop
	_, _ = fmt.Fprintf(w, "{\"event\":%q,%s\n", name, iox.ShowAll(string(line[1:])))
}

func round1(f float64) float64 { return math.Round(f*10) / 10 }
