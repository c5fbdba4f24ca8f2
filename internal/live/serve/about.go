package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
)

// An About is what a recording has inside, for /info/NAME and /info/NAME.json.
type About struct {
	SchemaVersion int      `json:"schema_version"`
	Name          string   `json:"name"`
	Format        string   `json:"format"`
	Messages      int64    `json:"messages"`
	StartNS       string   `json:"start_ns"` // since 1970; "" without messages, as end_ns
	EndNS         string   `json:"end_ns"`
	TimelineNS    string   `json:"timeline_ns"` // of the first bin
	StepNS        string   `json:"step_ns"`     // of a bin of the timeline; "" if not all messages were read
	Topics        []Topic  `json:"topics"`
	Damage        []string `json:"damage"`

	Start, End, Duration, Step string `json:"-"` // for people
}

// A Topic is a topic of a recording.
type Topic struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Encoding string  `json:"encoding"`
	Messages int64   `json:"messages"`
	Bins     []int64 `json:"bins"` // messages in equal spans of time from timeline_ns on
}

// abouts keeps what was found a moment ago: one recording is read at a time.
type abouts struct {
	slot chan struct{}
	kept map[string]keptAbout
}

type keptAbout struct {
	about *About
	at    time.Time
}

// aboutTime is how long it is kept, and maxAbouts how many are.
const (
	aboutTime = 10 * time.Second
	maxAbouts = 64
)

// find describes a recording.
func (k *abouts) find(ctx context.Context, config *Config, rec *Recording) (*About, error) {
	select {
	case k.slot <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-k.slot }()
	if old, ok := k.kept[rec.Name]; ok && time.Since(old.at) < aboutTime {
		return old.about, nil
	}
	a, err := config.About(ctx, *rec)
	if err != nil {
		return nil, err
	}
	if len(k.kept) >= maxAbouts {
		clear(k.kept)
	}
	k.kept[rec.Name] = keptAbout{a, time.Now()}
	return a, nil
}

// info serves what a recording has inside, as a page or as JSON.
func (s *Server) info(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/info/")
	t := s.recordings()
	rec, text := t.byName[name], false
	if rec == nil {
		name, text = strings.CutSuffix(name, ".json")
		rec = t.byName[name]
	}
	if rec == nil {
		fail(w, http.StatusNotFound, "There is no such recording here; / lists what there is.")
		return
	}
	a, err := s.abouts.find(r.Context(), &s.config, rec)
	if err != nil {
		s.refuse(w, err)
		return
	}
	if text {
		writeJSON(w, a)
		return
	}
	writePage(w, infoTemplate(), a)
}

// writePage answers with a page that loads and runs nothing.
func writePage(w http.ResponseWriter, page *template.Template, data any) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri "+
		"'none'; form-action 'self'; img-src data:")
	_ = page.Execute(w, data) // what fails is the connection
}

func writeJSON(w http.ResponseWriter, data any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(data) // what fails is the connection
}

// A bar is a bin of a timeline, as the page draws it.
type bar struct {
	At      int
	Opacity string
}

// barsOf returns the bins with messages, the fullest of the topic the darkest.
func barsOf(bins []int64) (bars []bar) {
	most := int64(1)
	for _, n := range bins {
		most = max(most, n)
	}
	for i, n := range bins {
		if n > 0 {
			bars = append(bars, bar{i, fmt.Sprintf("%.2f", 0.25+0.75*float64(n)/float64(most))})
		}
	}
	return bars
}
