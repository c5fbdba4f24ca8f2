package serve

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// A ReportRequest is what somebody wants to see of a recording, for /info/NAME and /info/NAME.json.
type ReportRequest struct {
	Whole bool // all of the recording is to be read; else its index, and samples
	JSON  bool // the data alone; else the page

	// of the page
	Home, JSONAt, WholeAt string
	Messages              string // address, which the escaped name of a topic follows; "": nobody shows messages
	Entry                 Entry  // with the links of the recording
}

// reports keeps what was made, while the files stay as they are. One recording is read at a time by its index, and
// one as a whole.
type reports struct {
	quick, whole chan struct{}

	mu   sync.Mutex
	kept map[string][]byte
}

// maxReports is how many reports are kept: each has some MB at most.
const maxReports = 8

func newReports() *reports {
	return &reports{quick: make(chan struct{}, 1), whole: make(chan struct{}, 1), kept: map[string][]byte{}}
}

// info serves what a recording has inside, as a page or as JSON.
func (s *Server) info(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/info/")
	t := s.recordings()
	rec, o := t.byName[name], ReportRequest{Whole: r.FormValue("whole") != ""}
	if rec == nil {
		name, o.JSON = strings.CutSuffix(name, ".json")
		rec = t.byName[name]
	}
	if rec == nil {
		fail(w, http.StatusNotFound, "There is no such recording here; / lists what there is.")
		return
	}
	address := "/info/" + escaped(rec.Name)
	o.Home, o.JSONAt, o.WholeAt = "/", address+".json", address+"?whole=1"
	if s.config.Messages != nil {
		o.Messages = "/messages/" + escaped(rec.Name) + "?topic="
	}
	if o.Whole {
		o.JSONAt += "?whole=1"
	}
	o.Entry = s.entry(r.Context(), r.Host, &match{rec: rec}, s.obstacles(r))
	text, err := s.report(r.Context(), rec, r.Host, o)
	if err != nil {
		s.refuse(w, err)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if h.Set("Content-Type", "application/json"); !o.JSON {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'") // the page has the rest of it
	}
	_, _ = w.Write(text) // what fails is the connection
}

// report makes a report, or takes the one that was made of the same files for the same links.
func (s *Server) report(ctx context.Context, rec *Recording, host string, o ReportRequest) ([]byte, error) {
	k := s.reports
	slot := k.quick
	if o.Whole {
		slot = k.whole
	}
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-slot }()
	key := s.reportKey(rec, host, o)
	k.mu.Lock()
	text, ok := k.kept[key]
	k.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := s.config.Report(ctx, *rec, o)
	if err != nil || key == "" {
		return text, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) >= maxReports {
		clear(k.kept)
	}
	k.kept[key] = text
	return text, nil
}

// reportKey names a report by the files of its recording; "" if they are not known.
func (s *Server) reportKey(rec *Recording, host string, o ReportRequest) string {
	var key strings.Builder
	for _, f := range rec.Files {
		st, err := s.config.FS.Stat(f.Path)
		if err != nil {
			return ""
		}
		key.WriteString(etag(f.Path, st))
	}
	if key.Len() == 0 {
		return ""
	}
	for _, l := range append(o.Entry.Open, o.Entry.Play...) {
		key.WriteString(" " + l.Text)
	}
	if o.Whole {
		key.WriteString(" whole")
	}
	if o.JSON {
		key.WriteString(" json")
	}
	return key.String() + " " + host + " " + rec.Name
}
