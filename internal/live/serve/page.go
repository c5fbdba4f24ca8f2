package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
)

// An Index is what the page lists, and /index.json.
type Index struct {
	SchemaVersion int        `json:"schema_version"`
	Recordings    []Entry    `json:"recordings"`
	Obstacles     []Obstacle `json:"obstacles"` // why viewers have no links

	// for the page
	Query                    string `json:"-"`
	All, Found, Unread, From int    `json:"-"`
}

// pageSize is how many recordings the page shows at once.
const pageSize = 100

// More is the address of the next part of the list; "" if there is no such part.
func (x *Index) More() string {
	next := x.From + len(x.Recordings)
	if next >= x.Found {
		return ""
	}
	return "/?" + url.Values{"q": {x.Query}, "from": {strconv.Itoa(next)}}.Encode()
}

// An Entry is a recording of the Index.
type Entry struct {
	Name   string   `json:"name"`
	Info   string   `json:"info"` // address of what it has inside; "" if nobody can tell
	Format string   `json:"format"`
	Size   int64    `json:"size"`             // bytes, of all files
	Files  []Link   `json:"files"`            // to be downloaded, or opened by their addresses
	As     []Link   `json:"as"`               // in another format, made while it is read
	Open   []Link   `json:"open"`             // in viewers; empty if no viewer reads the files
	WS     string   `json:"ws"`               // WebSocket on which it is played; "" if it is not
	Make   []Link   `json:"make"`             // in other formats, converted for the download
	Play   []Link   `json:"play"`             // in viewers, on that
	Topics []string `json:"topics,omitempty"` // that a search has found, with their types
}

// A Link is an address with a text.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
	Size int64  `json:"size,omitempty"`
}

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

var pageTemplate = sync.OnceValue(func() *template.Template { return parsePage("page", pageText) })

func parsePage(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"size": sizeText, "parts": namePartsOf,
		"base":  path.Base,
		"style": func() template.CSS { return template.CSS(styleText) }}).Parse(text))
}

// namePartsOf cuts a name where it may go on in the next line.
func namePartsOf(name string) []string {
	marked := strings.NewReplacer("/", "/\x00", "_", "_\x00").Replace(name)
	return strings.FieldsFunc(marked, func(r rune) bool { return r == 0 })
}

// page serves the page.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	x, err := s.list(r, pageSize)
	if err != nil {
		s.refuse(w, err)
		return
	}
	writePage(w, pageTemplate(), x)
}

// index serves the same as JSON.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	x, err := s.list(r, 0)
	if err != nil {
		s.refuse(w, err)
		return
	}
	writeJSON(w, x)
}

// list makes the Index, with addresses as the client has the address of the server. most is how many recordings it
// has; 0: all.
func (s *Server) list(r *http.Request, most int) (*Index, error) {
	t := s.recordings()
	if t.err != nil {
		return nil, t.err
	}
	x := &Index{SchemaVersion: 1, Recordings: []Entry{}, Obstacles: []Obstacle{}, All: len(t.recordings),
		Query: strings.TrimSpace(r.FormValue("q"))}
	found, unread := s.search(r.Context(), t.recordings, x.Query)
	x.Found, x.Unread = len(found), unread
	if most > 0 {
		x.From, _ = strconv.Atoi(r.FormValue("from"))
		x.From = max(0, min(x.From, len(found)))
		found = found[x.From:min(len(found), x.From+most)]
	}
	obstacles := s.obstacles(r)
	for i, why := range obstacles {
		if why != "" {
			x.Obstacles = append(x.Obstacles, Obstacle{viewers()[i].Name, why})
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), wholeTime)
	defer cancel()
	for _, m := range found {
		x.Recordings = append(x.Recordings, s.entry(ctx, r.Host, &m, obstacles))
	}
	return x, nil
}

// entry describes one recording of the Index.
func (s *Server) entry(ctx context.Context, host string, m *match, obstacles []string) Entry {
	base, rec := "http://"+host, m.rec
	e := Entry{Name: rec.Name, Format: rec.Format.Name, Files: []Link{}, As: []Link{}, Open: []Link{}, Make: []Link{},
		Play:   []Link{},
		Topics: m.topics}
	if s.config.Report != nil {
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
			e.Open = readers(e.Files[0].URL, obstacles)
		}
		if len(e.Open) > 0 && !s.wholes.find(ctx, &s.config, rec, st) {
			e.Open = []Link{}
		}
	}
	if s.config.Sink != nil {
		name := s.outputName(rec)
		e.As = append(e.As, Link{Text: name, URL: base + "/" + escaped(name)})
		if len(e.Open) == 0 {
			e.Open = readers(e.As[0].URL, obstacles) // which they can always read
		}
	}
	for _, f := range s.config.Formats {
		e.Make = append(e.Make, Link{Text: f, URL: base + "/as/" + f + "/" + escaped(rec.Name)})
	}
	if s.config.Play != nil {
		e.WS = "ws://" + host + "/ws/" + escaped(rec.Name)
		e.Play = links(e.WS, obstacles, func(v *viewer) string { return v.Live })
	}
	return e
}

// escaped returns a name as the path of an address.
func escaped(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// writePage answers with a page that loads and runs nothing.
func writePage(w http.ResponseWriter, page *template.Template, data any) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "+
		"frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
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
