package help

import (
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// Man returns all pages as one manual page, in roff with the macros of man(7). about follows the name of the program.
func (b *Book) Man(version, about string) string {
	p := &manPage{section: ".SH"}
	p.add(".TH BAGCONV 1 \"\" \"bagconv " + roff(version) + "\" \"User Commands\"")
	p.add(".SH NAME", "bagconv \\- "+roff(about), ".SH DESCRIPTION")
	b.program(p)
	p.section = ".SS"
	for _, c := range b.Commands {
		p.add(".SH BAGCONV "+roff(strings.ToUpper(c.Name)), ".B "+roff(c.Usage()))
		b.command(p, c, Own)
	}
	for _, t := range b.Topics {
		p.add(".SH " + roff(strings.ToUpper(t.Name)))
		b.topic(p, t)
	}
	return strings.Join(p.lines, "\n") + "\n"
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

func (p *manPage) item(head, text string, _ int, listed []flags.Word) {
	p.add(`.IP "\fB`+roff(head)+`\fR" 4`, roff(text))
	for _, l := range listed {
		p.add(".br", roff(l.Value+": "+l.About))
	}
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`,
	`"`, `\(dq`)

// roff escapes what is special in a line of roff. The text is ASCII.
func roff(line string) string {
	line = roffEscapes.Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
