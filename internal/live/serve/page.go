package serve

import (
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// An Index is what the page lists, and /index.json.
type Index struct {
	SchemaVersion int     `json:"schema_version"`
	Recordings    []Entry `json:"recordings"`
}

// An Entry is a recording of the Index.
type Entry struct {
	Name   string `json:"name"`
	Info   string `json:"info"` // address of what it has inside; "" if nobody can tell
	Format string `json:"format"`
	Size   int64  `json:"size"`  // bytes, of all files
	Files  []Link `json:"files"` // to be downloaded, or opened by their addresses
	As     []Link `json:"as"`    // in another format, made while it is read
	Open   []Link `json:"open"`  // in viewers; empty if no viewer reads the files
	WS     string `json:"ws"`    // WebSocket on which it is played; "" if it is not
	Play   []Link `json:"play"`  // in viewers, on that
}

// A Link is an address with a text.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
	Size int64  `json:"size,omitempty"`
}

//go:embed page.html
var pageText string

//go:embed info.html
var infoText string

//go:embed style.css
var styleText string

var (
	pageTemplate = sync.OnceValue(func() *template.Template { return parsePage("page", pageText) })
	infoTemplate = sync.OnceValue(func() *template.Template { return parsePage("info", infoText) })
)

func parsePage(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"size": sizeText, "bars": barsOf,
		"style": func() template.CSS { return template.CSS(styleText) }}).Parse(text))
}

// page serves the page.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	x, err := s.list(r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	writePage(w, pageTemplate(), x)
}

// index serves the same as JSON.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	x, err := s.list(r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	writeJSON(w, x)
}

// list makes the Index, with addresses as the client has the address of the server.
func (s *Server) list(r *http.Request) (*Index, error) {
	t := s.recordings()
	if t.err != nil {
		return nil, t.err
	}
	ctx, cancel := context.WithTimeout(r.Context(), wholeTime)
	defer cancel()
	base := "http://" + r.Host
	x := &Index{SchemaVersion: 1, Recordings: []Entry{}}
	for i := range t.recordings {
		rec := &t.recordings[i]
		e := Entry{Name: rec.Name, Format: rec.Format.Name, Files: []Link{}, As: []Link{}, Open: []Link{}, Play: []Link{}}
		if s.config.About != nil {
			e.Info = base + "/info/" + escaped(rec.Name)
		}
		single := len(rec.Files) == 1
		for _, f := range rec.Files {
			st, err := s.config.FS.Stat(f.Path)
			if err != nil {
				continue // it is gone
			}
			name := strings.TrimSuffix(rec.Name+"/"+f.Part, "/")
			e.Size += st.Size()
			e.Files = append(e.Files, Link{name, base + "/files/" + escaped(name), st.Size()})
			if single {
				e.Open = s.viewers(e.Files[0].URL)
			}
			if len(e.Open) > 0 && !s.wholes.find(ctx, &s.config, rec, st) {
				e.Open = []Link{}
			}
		}
		if s.config.Sink != nil {
			name := s.outputName(rec)
			e.As = append(e.As, Link{Text: name, URL: base + "/" + escaped(name)})
			if len(e.Open) == 0 {
				e.Open = s.viewers(e.As[0].URL) // which they can always read
			}
		}
		if s.config.Play != nil {
			e.WS = "ws://" + r.Host + "/ws/" + escaped(rec.Name)
			e.Play = s.links(e.WS, func(v *viewer) string { return v.Live })
		}
		x.Recordings = append(x.Recordings, e)
	}
	return x, nil
}

// escaped returns a name as the path of an address.
func escaped(name string) string { return (&url.URL{Path: name}).EscapedPath() }
