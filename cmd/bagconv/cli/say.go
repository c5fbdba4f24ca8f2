package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// The escape sequences (ECMA-48, SGR).
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// colors are the beginnings of lines that are coloured, without their colon.
var colors = map[string]string{"bagconv": red, "damaged": red, "lost": red, "warning": yellow}

// colorAs sets the colours by a value of --color: the beginnings of lines on standard error, red
// for errors, "damaged:" and "lost:", yellow for "warning:". Without a value, a terminal gets
// colours unless NO_COLOR is set to anything (no-color.org). Windows gets no colours: its consoles
// may show the sequences as they are. Standard output has no colours.
func (e *env) colorAs(mode string) {
	auto := mode == "" || mode == "auto"
	e.color = mode == "always" || auto && e.Terminal && os.Getenv("NO_COLOR") == "" && runtime.GOOS != "windows"
}

// painted is "word:" in the colour of the word.
func (e *env) painted(word string) string {
	if code := colors[word]; code != "" && e.color {
		return code + word + ":" + plain
	}
	return word + ":"
}

// say writes one line to Err.
func (e *env) say(format string, a ...any) {
	fmt.Fprintf(e.Err, "bagconv: %s\n", e.foldMessage("bagconv", fmt.Sprintf(format, a...)))
}

// sayError writes an error to Err.
func (e *env) sayError(text string) {
	fmt.Fprintf(e.Err, "%s %s\n", e.painted("bagconv"), e.foldMessage("bagconv", text))
}

// foldIndent begins the further rows of a folded line.
const foldIndent = "  "

// fold joins the parts of a line for standard error. If a terminal is too narrow for the line,
// it is broken between parts, and never within one: so a path stays one word that can be
// copied, also if the terminal has to wrap it. Pipes and files always get one line.
func (e *env) fold(parts ...string) string {
	if !e.Terminal {
		return strings.Join(parts, " ")
	}
	var b strings.Builder
	column, room := 0, columns(e.Err)-1
	for i, part := range parts {
		width := utf8.RuneCountInString(part)
		switch {
		case i == 0:
		case column+1+width > room:
			b.WriteString("\n" + foldIndent)
			column = len(foldIndent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(part)
		column += width
	}
	return b.String()
}

// clauses cuts a message after each semicolon: the cause, and the next step.
func clauses(text string) []string {
	parts := strings.SplitAfter(text, "; ")
	for i := range parts {
		parts[i] = strings.TrimSuffix(parts[i], " ")
	}
	return parts
}

// foldMessage folds a message that follows "what:" on its line.
func (e *env) foldMessage(what, text string) string {
	parts := clauses(text)
	parts[0] = what + ": " + parts[0]
	return strings.TrimPrefix(e.fold(parts...), what+": ")
}

// columns returns the width of a terminal.
func columns(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 80
}
