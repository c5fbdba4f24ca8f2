package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// man is the hidden command man: it prints the manual page, in roff with the
// macros of man(7), made from the help texts.
func (e *env) man() error {
	version, _ := buildVersion()
	intro, general, _ := strings.Cut(e.helpText(""), "USAGE\n")
	var kinds []string
	for _, f := range e.formats.Formats() {
		kinds = append(kinds, f.Help)
	}
	lines := []string{
		fmt.Sprintf(".TH BAGCONV 1 \"\" \"bagconv %s\" \"User Commands\"", roff(version)),
		".SH NAME", "bagconv \\- convert robot recordings: " + roff(strings.Join(kinds, "; ")),
		".SH DESCRIPTION",
	}
	lines = append(lines, manText(".SH", intro)...)
	lines = append(lines, manText(".SH", "USAGE\n"+general)...)
	for _, verb := range verbs {
		call, rest, _ := strings.Cut(e.helpText(verb), "\n")
		lines = append(lines, ".SH BAGCONV "+roff(strings.ToUpper(verb)), ".B "+roff(call))
		lines = append(lines, manText(".SS", rest)...)
	}
	_, err := fmt.Fprintln(e.Out, strings.Join(lines, "\n"))
	return err
}

// manHeading is a heading of a help text, perhaps with an explanation.
var manHeading = regexp.MustCompile(`^[A-Z]+( [A-Z]+)*( \(.*\))?$`)

// manItem is what a help text explains, and the beginning of its explanation.
var manItem = regexp.MustCompile(`^  (\S+(?: \S+)*)(?:  +(.*))?$`)

// manText turns a help text into lines of roff. Lines that begin at the left are
// paragraphs; indented ones are items, "  HEAD  text" with further text below,
// or examples. Two items whose first text ends in a comma or a semicolon are
// explained together.
func manText(heading, text string) (out []string) {
	verbatim, inVerbatim := false, false
	item := -1 // where the text of the last item begins in out
	end := func() {
		if inVerbatim {
			out = append(out, ".EE")
		}
		inVerbatim, item = false, -1
	}
	for _, line := range strings.Split(text, "\n") {
		head := manItem.FindStringSubmatch(line)
		switch {
		case line == "":
			end()
			out = append(out, ".PP")
		case manHeading.MatchString(line):
			end()
			out = append(out, heading+" "+roff(line))
			verbatim = line == "EXAMPLES" || line == "USAGE"
		case verbatim && line[0] == ' ':
			if !inVerbatim {
				out = append(out, ".EX")
			}
			inVerbatim = true
			out = append(out, roff(line))
		case head != nil:
			macro, before := ".TP", []string(nil)
			if last := len(out) - 1; item >= 0 && strings.Trim(out[last][len(out[last])-1:], ",;") == "" {
				macro, before = ".TQ", slices.Clone(out[item:])
				out = out[:item]
			}
			out = append(out, macro, ".B "+roff(head[1]))
			item = len(out)
			out = append(out, before...)
			if head[2] != "" {
				out = append(out, roff(head[2]))
			}
		case line[0] == ' ':
			out = append(out, roff(strings.TrimSpace(line)))
		default:
			end()
			out = append(out, roff(line))
		}
	}
	end()
	return out
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// roff escapes what is special in a line of roff. The text is ASCII.
func roff(line string) string {
	line = roffEscapes.Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
