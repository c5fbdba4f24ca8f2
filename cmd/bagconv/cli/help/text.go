package help

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
)

// A textPage is a page for a terminal.
type textPage struct {
	strings.Builder
	columns int // 80 at most
}

// leastColumns is how narrow a page can be, narrowPage from where on texts stand below their
// heads, and lowIndent their indent there.
const leastColumns, narrowPage, lowIndent = 20, 60, 6

func (p *textPage) heading(text string)   { p.WriteString(phrase.WrapAt(text, 0, p.columns) + "\n") }
func (p *textPage) paragraph(text string) { p.WriteString(phrase.WrapAt(text, 0, p.columns) + "\n") }

func (p *textPage) verbatim(lines []string) {
	for _, l := range lines {
		p.WriteString(p.folded(l) + "\n")
	}
}

// folded returns a line that stays as it is if the page is wide enough. A command of a shell goes on behind a \; of two
// columns, the second stands below the first; all else is too wide.
func (p *textPage) folded(line string) string {
	if len(line) <= p.columns {
		return line
	}
	text := strings.TrimLeft(line, " ")
	if strings.HasPrefix(text, "bagconv ") {
		return p.command(text)
	}
	blanks := strings.Repeat(" ", lowIndent)
	if len(line)-len(text) > lowIndent { // more of a second column
		return blanks + phrase.WrapAt(text, lowIndent, p.columns)
	}
	if head, about, ok := strings.Cut(text, "  "); ok {
		return line[:len(line)-len(text)] + head + "\n" + blanks + phrase.WrapAt(about, lowIndent, p.columns)
	}
	return line
}

// command returns a command in several lines, which can be copied into a shell.
func (p *textPage) command(text string) string {
	lines := []string{""}
	quotes := 0
	for _, word := range strings.SplitAfter(text, " ") {
		last := len(lines) - 1
		if quotes%2 == 0 && lines[last] != "" && 2+len(lines[last])+len(word)+1 > p.columns {
			lines, last = append(lines, "  "), last+1
		}
		lines[last] += word
		quotes += strings.Count(word, "'")
	}
	return "  " + strings.Join(lines, "\\\n  ")
}

func (p *textPage) gap() {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
}

func (p *textPage) item(head, text string, column int, listed []flags.Word) {
	if p.columns < narrowPage {
		p.low(head, text, listed)
		return
	}
	blanks := strings.Repeat(" ", column)
	if head = "  " + head; len(head) > column-1 {
		head += "\n" + blanks
	}
	fmt.Fprintf(p, "%-*s%s\n", column, head, phrase.WrapAt(text, column, p.columns))
	for _, l := range listed {
		fmt.Fprintf(p, "      %-*s%s\n", column-6, l.Value, phrase.WrapAt(l.About, column, p.columns))
	}
}

// low writes an item with its text below the head.
func (p *textPage) low(head, text string, listed []flags.Word) {
	blanks := strings.Repeat(" ", lowIndent)
	fmt.Fprintf(p, "  %s\n", phrase.WrapAt(head, lowIndent-2, p.columns-2))
	fmt.Fprintf(p, "%s%s\n", blanks, phrase.WrapAt(text, lowIndent, p.columns))
	for _, l := range listed {
		fmt.Fprintf(p, "%s%s\n", blanks, phrase.WrapAt(l.Value+": "+l.About, lowIndent+2, p.columns))
	}
}
