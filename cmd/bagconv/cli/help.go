package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// printHelp runs the command help.
func (e *env) printHelp(c *cli.Context) error {
	if c.NArg() > 1 {
		return usage("type: bagconv help COMMAND", "help takes one command, not %d", c.NArg())
	}
	return e.help(c.Args().First())
}

// help prints the help of a command, that of the program for "".
func (e *env) help(name string) error {
	text := e.helpText(name)
	if text == "" {
		words := []string{"contracts"}
		for _, c := range e.commands() {
			words = append(words, c.name)
		}
		hint := "see: bagconv help"
		if near := nearest(name, words); near != "" {
			hint = "did you mean " + near + "?"
		}
		return usage(hint, "unknown command %q", name)
	}
	_, err := fmt.Fprint(e.Out, text)
	return err
}

// helpText returns the help of a command, that of the program for "", with what the
// formats know of themselves; "" if there is no such command.
func (e *env) helpText(name string) string {
	if name == "contracts" {
		return contractHelp
	}
	commands := e.commands()
	p := textPage{columns: 80}
	if e.OutTerminal && e.OutColumns > 0 {
		p.columns = min(p.columns, max(e.OutColumns, leastColumns))
	}
	if c := commandNamed(commands, name); c != nil {
		p.WriteString(c.usage() + "\n")
		e.describeCommand(&p, c)
	} else if name == "" {
		e.describeProgram(&p, commands)
	}
	return p.String()
}

// A page is a text that is built from its parts: help for a terminal, or a manual page.
type page interface {
	heading(text string)
	gap()                    // between parts
	paragraph(text string)   // of words
	verbatim(lines []string) // as they are
	item(head, text string, column int, listed []candidate)
}

// usage returns how the command is called.
func (c *command) usage() string {
	first, rest, _ := strings.Cut(c.call, " ")
	if slices.ContainsFunc(c.flags, func(f *flag) bool { return f.group != nil }) {
		first += " [FLAGS]"
	}
	return strings.TrimSpace("bagconv " + first + " " + rest)
}

// briefCall returns how the command is called, in the width of the list of commands: words that
// do not fit are left out.
func (c *command) briefCall() string {
	words, room := strings.Fields("bagconv "+c.call), callColumn-3
	if s := strings.Join(words, " "); len(s) <= room {
		return s
	}
	for n := len(words) - 1; ; n-- {
		if s := strings.Join(words[:n], " ") + " ..."; len(s) <= room || n == 1 {
			return s
		}
	}
}

// The columns of the help, from 0, at which explanations begin.
const (
	flagColumn   = 24
	statusColumn = 7
	formatColumn = 13
	callColumn   = 31
)

// describeCommand writes what the help of a command has after its first line.
func (e *env) describeCommand(p page, c *command) {
	e.describe(p, c.about)
	var group *group
	for i, f := range c.flags {
		if f.group == nil {
			continue
		}
		if f.group != group {
			group = f.group
			p.gap()
			p.heading(group.title)
		}
		var listed []candidate
		for _, v := range f.values {
			if v.about != "" {
				listed = append(listed, v)
			}
		}
		head := f.spellings()
		if f.short == "" && f.argument() == "" {
			head = dashed(f.name)
		}
		p.item(strings.TrimSpace(head+" "+f.argument()), e.expand(f.help), flagColumn, listed)
		if i+1 == len(c.flags) || c.flags[i+1].group != group {
			e.describe(p, group.note)
		}
	}
	e.describe(p, c.note)
	e.examples(p, c.examples)
	exits(p, c.exits)
}

// describeProgram writes the help of the program.
func (e *env) describeProgram(p page, commands []*command) {
	p.paragraph("bagconv converts robot recordings between all formats below. It needs neither ROS nor Apollo. Messages are converted, too, so that the tools of the new format can read and play them.")
	p.gap()
	p.heading("USAGE")
	var calls []string
	for _, c := range commands {
		calls = append(calls, fmt.Sprintf("  %-*s%s", callColumn-2, c.briefCall(), c.summary))
	}
	p.verbatim(calls)
	p.gap()
	p.heading("FORMATS")
	for _, f := range e.formats.Formats() {
		p.item(f.Name, f.Help, formatColumn, nil)
	}
	e.examples(p, []string{"bagconv drive{file} drive_ros2/", "bagconv drive_ros2/ back{file} --compression lz4", "bagconv drive{other} drive_ros2/", "bagconv info drive{file}"})
	e.describe(p, `Flags may stand anywhere on the line; after -- everything is a file name. If a file has the name of a command, write it with its folder: ./info

All commands accept --color auto|always|never; auto (default) colours errors and damage on a terminal, unless NO_COLOR is set.`)
	exits(p, []exit{
		{0, "done, nothing lost"}, {1, "failed; no usable output"}, {2, "the command line is wrong"},
		{3, "done, but something is damaged or lost; the report names it"}, {4, "check: there are findings; verify: there are differences"},
		{5, "batch, work, collect: some inputs failed"}, {75, "work, collect: some tasks may succeed if they are tried again"}, {130, "interrupted"},
	})
}

// describe writes paragraphs, with a blank line between them. Lines that are indented
// stay as they are.
func (e *env) describe(p page, text string) {
	if text == "" {
		return
	}
	for _, part := range strings.Split(e.expand(text), "\n\n") {
		p.gap()
		lines := strings.Split(part, "\n")
		for len(lines) > 0 {
			indented := strings.HasPrefix(lines[0], " ")
			n := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, " ") != indented })
			if n < 0 {
				n = len(lines)
			}
			if indented {
				p.verbatim(lines[:n])
			} else {
				p.paragraph(strings.Join(lines[:n], " "))
			}
			lines = lines[n:]
		}
	}
}

func (e *env) examples(p page, lines []string) {
	p.gap()
	p.heading("EXAMPLES")
	var expanded []string
	for _, l := range lines {
		expanded = append(expanded, "  "+e.expand(l))
	}
	p.verbatim(expanded)
}

func exits(p page, list []exit) {
	p.gap()
	p.heading("EXIT STATUS")
	for _, x := range list {
		p.item(fmt.Sprint(x.status), x.when, statusColumn, nil)
	}
}

// A textPage is a page for a terminal.
type textPage struct {
	strings.Builder
	columns int // 80 at most
}

// leastColumns is how narrow a page can be, narrowPage from where on texts stand below their
// heads, and lowIndent their indent there.
const leastColumns, narrowPage, lowIndent = 20, 60, 6

func (p *textPage) heading(text string)   { p.WriteString(wrapAt(text, 0, p.columns) + "\n") }
func (p *textPage) paragraph(text string) { p.WriteString(wrapAt(text, 0, p.columns) + "\n") }

func (p *textPage) verbatim(lines []string) { p.WriteString(strings.Join(lines, "\n") + "\n") }

func (p *textPage) gap() {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
}

func (p *textPage) item(head, text string, column int, listed []candidate) {
	if p.columns < narrowPage {
		p.low(head, text, listed)
		return
	}
	blanks := strings.Repeat(" ", column)
	if head = "  " + head; len(head) > column-2 {
		head += "\n" + blanks
	}
	fmt.Fprintf(p, "%-*s%s\n", column, head, wrap(text, column))
	for _, l := range listed {
		fmt.Fprintf(p, "      %-*s%s\n", column-6, l.value, wrap(l.about, column))
	}
}

// low writes an item with its text below the head.
func (p *textPage) low(head, text string, listed []candidate) {
	blanks := strings.Repeat(" ", lowIndent)
	fmt.Fprintf(p, "  %s\n%s%s\n", wrapAt(head, lowIndent-2, p.columns-2), blanks, wrapAt(text, lowIndent, p.columns))
	for _, l := range listed {
		fmt.Fprintf(p, "%s%s\n", blanks, wrapAt(l.value+": "+l.about, lowIndent+2, p.columns))
	}
}

// expand fills in what a text leaves to the formats:
//
//	{formats}, {folder}  names of those that are written, and of the one that is a folder
//	{file}, {other}      endings of two of them, for examples
//	{attached}           ending of one that has attachments
//	{endings}            a line for each ending
//	{served}             the address of a recording in the format in which serve serves them
//	{appendable}         names of those that can be added to
func (e *env) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	file := e.fileEnding(0)
	return strings.NewReplacer("{endings}", strings.TrimSuffix(e.endingsHelp(), "\n"), "{formats}", orList(e.writable()), "{folder}", e.folderFormat(), "{appendable}", orList(e.appendable()),
		"{file}", file, "{other}", cmp.Or(e.fileEnding(1), file), "{attached}", cmp.Or(e.attachedEnding(), file),
		"{served}", e.servedAddress("NAME")).Replace(text)
}
