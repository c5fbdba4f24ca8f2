package serve

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// A Table is the first messages of a topic: a column for each field.
type Table struct {
	Columns []string
	Rows    [][]string
	Notes   []string // about values that the table lacks
}

// FirstMessages is how many messages a table has.
const FirstMessages = 50

// maxColumns is how many columns a page shows, and maxCell how many bytes of a value.
const (
	maxColumns = 80
	maxCell    = 200
)

//go:embed messages.html
var messagesText string

var messagesTemplate = sync.OnceValue(func() *template.Template { return parsePage("messages", messagesText) })

// messages serves the first messages of a topic as a table.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	rec, topic := s.recordings().byName[strings.TrimPrefix(r.URL.Path, "/messages/")], r.FormValue("topic")
	if rec == nil || topic == "" {
		fail(w, http.StatusNotFound, "There is no such recording here, or no ?topic=NAME; / lists what there is.")
		return
	}
	select {
	case s.tables <- struct{}{}:
		defer func() { <-s.tables }()
	case <-r.Context().Done():
		return
	}
	t, err := s.config.Messages(r.Context(), *rec, topic)
	if err != nil {
		s.refuse(w, err)
		return
	}
	hidden := max(0, len(t.Columns)-maxColumns)
	t.Columns = t.Columns[:len(t.Columns)-hidden]
	for i, row := range t.Rows {
		row = row[:min(len(row), maxColumns)]
		for k, cell := range row {
			if len(cell) > maxCell {
				row[k] = strings.ToValidUTF8(cell[:maxCell], "") + "..."
			}
		}
		t.Rows[i] = row
	}
	writePage(w, messagesTemplate(), struct {
		*Table
		Name, Info, Topic string
		Hidden            int
		More              bool
	}{t, rec.Name, "/info/" + escaped(rec.Name), topic, hidden, len(t.Rows) == FirstMessages})
}
