package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// printMan runs the command man.
func (e *env) printMan(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("type: bagconv man", "man takes no file")
	}
	return e.man()
}

// man prints the manual page, in roff with the macros of man(7), made from what the help is
// made from.
func (e *env) man() error {
	version, _ := buildVersion()
	var kinds []string
	for _, f := range e.formats.Formats() {
		kinds = append(kinds, f.Help)
	}
	p := &manPage{section: ".SH"}
	p.lines = []string{
		fmt.Sprintf(".TH BAGCONV 1 \"\" \"bagconv %s\" \"User Commands\"", roff(version)),
		".SH NAME", "bagconv \\- convert robot recordings: " + roff(strings.Join(kinds, "; ")),
		".SH DESCRIPTION",
	}
	commands := e.commands()
	e.describeProgram(p, commands)
	p.section = ".SS"
	for _, c := range commands {
		p.lines = append(p.lines, ".SH BAGCONV "+roff(strings.ToUpper(c.name)), ".B "+roff(c.usage()))
		e.describeCommand(p, c)
	}
	_, err := fmt.Fprintln(e.Out, strings.Join(p.lines, "\n"))
	return err
}

// A manPage is a page in roff.
type manPage struct {
	section string // the macro of a heading
	lines   []string
}

func (p *manPage) add(lines ...string)   { p.lines = append(p.lines, lines...) }
func (p *manPage) gap()                  { p.add(".PP") }
func (p *manPage) heading(text string)   { p.add(p.section + " " + roff(text)) }
func (p *manPage) paragraph(text string) { p.add(roff(text)) }

func (p *manPage) verbatim(lines []string) {
	p.add(".EX")
	for _, l := range lines {
		p.add(roff(l))
	}
	p.add(".EE")
}

func (p *manPage) item(head, text string, _ int, listed []candidate) {
	p.add(".TP", ".B "+roff(head), roff(text))
	for _, l := range listed {
		p.add(".br", roff(l.value+": "+l.about))
	}
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
