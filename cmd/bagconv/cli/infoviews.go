package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/recording"
)

// An infoPart is what --topics or --sizes shows of a recording.
type infoPart struct {
	json  any
	lines []string // the same as text
}

// partOfInfo returns what --topics or --sizes shows of a recording; nil without these flags.
func (e *env) partOfInfo(in *recording.Description) *infoPart {
	switch {
	case e.set.info.topics:
		rows, last := make([][]string, len(in.Topics)), make([]string, len(in.Topics))
		for i, t := range in.Topics {
			t.Connections = 1 // this list is not about connections
			rows[i], last[i] = []string{phrase.Clean(t.Name), estimateText(in, t.Count)}, phrase.Clean(t.Type)+" ["+
				phrase.Clean(t.Encoding)+"]"+remarks(&t, false, true)
		}
		return &infoPart{in.TopicList(), fitted(rows, last, e.columns())}
	case e.set.info.sizes:
		sizes := in.Sizes()
		lines := sizeLines(sizes)
		for i := range lines {
			if width := e.columns(); width > 0 {
				lines[i] = phrase.Fold(lines[i], 4, width)
			}
		}
		return &infoPart{sizes, lines}
	}
	return nil
}

// sizeLines returns a heading, a line for each topic, one for all, and one for what is no message.
func sizeLines(s *recording.Sizes) []string {
	rows, last := [][]string{{"", "stored", "raw", "%", "messages"}}, []string{"topic"}
	add := func(what string, stored *int64, cells ...string) {
		size := "-"
		if stored != nil {
			size = sizeText(*stored)
		}
		rows, last = append(rows, append([]string{"", size}, cells...)), append(last, what)
	}
	for _, t := range s.Topics {
		share := "-"
		if s.Raw > 0 {
			share = fmt.Sprintf("%.1f", 100*float64(t.Raw)/float64(s.Raw))
		}
		add(phrase.Clean(t.Name)+"  "+phrase.Clean(t.Type), t.Stored, sizeText(t.Raw), share, phrase.Grouped(t.Messages))
	}
	add("all topics", s.Stored, sizeText(s.Raw), "", phrase.Grouped(s.Messages))
	if s.Stored != nil {
		rest := s.Size - *s.Stored
		add("the rest of "+sizeText(s.Size), &rest, "", "", "")
	}
	lines := table(rows, last)
	for i := range lines {
		lines[i] = lines[i][2:] // after the empty column
	}
	return lines
}

// writeLinesOf writes lines, below the name of their recording if there are several.
func writeLinesOf(w io.Writer, path string, several bool, lines []string) error {
	if several {
		lines = slices.Concat([]string{phrase.Clean(path) + ":"}, lines)
	}
	_, err := io.WriteString(w, strings.Join(append(lines, ""), "\n"))
	return err
}
