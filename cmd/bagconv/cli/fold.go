package cli

import (
	"strings"
	"unicode/utf8"
)

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
