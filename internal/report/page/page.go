package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/report"
)

//go:embed page.html *.css *.js uplot.LICENSE
var files embed.FS

// scripts are one script, in this order.
var scripts = []string{"base.js", "look.js", "time.js", "head.js", "timeline.js", "plots.js", "cameras.js", "track.js",
	"cloud.js", "lists.js", "main.js"}

// A frame is what all pages have in common.
type frame struct {
	page            *template.Template
	policy          string
	style           template.CSS
	library, script template.JS
}

var common = sync.OnceValue(func() frame {
	text := func(name string) string {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return strings.ReplaceAll(string(b), "\r\n", "\n") // as the browser reads it: the sums below are of that
	}
	style := text("uplot.css") + text("style.css")
	library := "/*\n" + text("uplot.LICENSE") + "*/\n" + text("uplot.js")
	var script strings.Builder
	script.WriteString("(() => {\n'use strict';\n")
	for _, name := range scripts {
		script.WriteString(text(name))
	}
	script.WriteString("})();\n")
	return frame{
		page: template.Must(template.New("page").Parse(text("page.html"))),
		policy: fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s %s; base-uri 'none'; "+
			"form-action 'none'", sum(style), sum(library), sum(script.String())),
		style: template.CSS(style), library: template.JS(library), script: template.JS(script.String()),
	}
})

// sum names a text in a Content-Security-Policy.
func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
}

// A Live is what the page of a report has besides, where a server makes it.
type Live struct {
	Home     string // address of the list of recordings
	Whole    string // of the report that reads all of the recording; "": this one does
	JSON     string // of the data of the report
	Messages string // of the first messages of a topic, whose escaped name follows; "": nobody shows them
	Links    []Links
}

// Links are addresses under a title.
type Links struct {
	Title string
	Links []Link
}

// A Link is an address with a text.
type Link struct{ Text, URL string }

// Write writes the page of a report.
func Write(w io.Writer, r *report.Report) error { return WriteLive(w, r, nil) }

// WriteLive writes the page of a report that a server makes; live may be nil.
func WriteLive(w io.Writer, r *report.Report, live *Live) error {
	data, err := json.Marshal(r) // which escapes <, > and &: the data cannot end its element
	if err != nil {
		return fmt.Errorf("the report is no JSON: %w", err)
	}
	c := common()
	var names []string
	for i := range r.Recordings {
		names = append(names, r.Recordings[i].Name)
	}
	return c.page.Execute(w, map[string]any{
		"Title": strings.Join(names, " and "), "Program": r.Program, "Recordings": r.Recordings, "Live": live,
		"Policy": c.policy, "Style": c.style, "Library": c.library, "Script": c.script, "Data": template.JS(data),
	})
}
