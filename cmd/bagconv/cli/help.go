package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/help"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/nearest"
)

// helpCommand is the command help.
func (e *env) helpCommand() flags.Command {
	return flags.Command{
		Name: "help", Call: "help [COMMAND|TOPIC]", Summary: "explain a command, or what commands have in common",
		About: `Prints the help of a command, of the program, or of a topic:
{topics}
bagconv COMMAND --help also has the flags that it shares with other commands.`,
		Examples: []string{
			"bagconv help convert",
			"bagconv convert --help",
			"bagconv help selection",
		},
		Exits: flags.Exits{
			0: "done",
			2: "there is no such command or topic",
		},
		Operands: []flags.Flag{{Kind: flags.Name}, {}},
		Run:      e.printHelp,
	}
}

// manCommand is the command man.
func (e *env) manCommand() flags.Command {
	return flags.Command{
		Name: "man", Call: "man", Summary: "print all help as a manual page",
		About: `Prints the help of the program, of all commands and of all topics as one manual
page, in roff.`,
		Examples: []string{
			"bagconv man > bagconv.1",
			"man -l bagconv.1",
		},
		Exits:    flags.Exits{0: "done"},
		Operands: []flags.Flag{{}},
		Run:      e.printMan,
	}
}

// topics are the pages of help that are not about a command.
var topics = []help.Topic{
	{Name: "selection", Summary: "topics, types and times"},
	{Name: "changes", Summary: "names, rates and times"},
	{Name: "output", Summary: "format, compression, segments, attachments"},
	{Name: "messages", Summary: "encodings, types, definitions, order"},
	{Name: "apollo", Summary: "axes, descriptors and segments of records"},
	{Name: "urls", Summary: "files elsewhere, keys, damaged beginnings"},
	{Name: "exits", Summary: "exit statuses", Text: exitsHelp},
	{Name: "contracts", Summary: "the file of check --spec", Text: contractHelp},
}

// exitsHelp lists what exit statuses mean in all commands.
const exitsHelp = `EXIT STATUS
  0    done, nothing lost
  1    failed; no usable output
  2    the command line is wrong
  3    done, but something is damaged or lost; the report names it
  4    check: there are findings; verify: there are differences
  5    batch, index, work, collect: some inputs failed
  75   work, collect: some tasks may succeed if they are tried again
  130  interrupted

The help of each command explains its own.`

// book returns what all help is made from.
func (e *env) book() *help.Book {
	var names []string
	for _, t := range topics {
		names = append(names, t.Name)
	}
	return &help.Book{
		Intro: `bagconv IN OUT converts a robot recording into any format that bagconv formats
lists, with its messages. It needs neither ROS nor Apollo.`,
		Closing: `bagconv COMMAND -h explains a command, bagconv COMMAND --help all its flags, and
bagconv help TOPIC ` + strings.Join(names, ", ") + `. More commands: formats, completion, man, version.
--color auto|always|never colours errors. After -- each word is a file, as ./info is.`,
		Parts:    []string{convertPart, lookPart, repairPart, exportPart, livePart, manyPart, codePart},
		Commands: e.commands(), Topics: topics, Expand: e.expand,
	}
}

// depth returns how much a line asks for.
func depth(l *flags.Line) help.Depth {
	if l.Help == "--help" {
		return help.All
	}
	return help.Brief
}

// printHelp runs the command help.
func (e *env) printHelp(context.Context) error {
	if len(e.words) > 1 {
		return flags.Usage("type: bagconv help COMMAND", "help takes one command, not %d", len(e.words))
	}
	return e.help(e.wordAt(0), help.Brief)
}

// help prints the page of a command or a topic, or of the program for "", at a depth.
func (e *env) help(name string, d help.Depth) error {
	text := e.helpText(name, d)
	if text == "" {
		instead := cmp.Or(foreignPages[name], foreignVerbs[name], nearest.Meant(nearest.Word(name, e.book().Names()),
			"see: bagconv help"))
		return flags.Usage(instead, "unknown command %q", name)
	}
	_, err := fmt.Fprint(e.Out, text)
	return err
}

// helpText returns the page, "" if there is no such command or topic.
func (e *env) helpText(name string, d help.Depth) string {
	columns := 80
	if e.OutTerminal && e.OutColumns > 0 {
		columns = e.OutColumns
	}
	return e.book().Text(name, columns, d)
}

// printMan runs the command man.
func (e *env) printMan(context.Context) error {
	if len(e.words) > 0 {
		return flags.Usage("type: bagconv man", "man takes no file")
	}
	version, _ := buildVersion()
	var kinds []string
	for _, f := range e.formats.Formats() {
		kinds = append(kinds, f.Help)
	}
	_, err := fmt.Fprint(e.Out, e.book().Man(version, "convert robot recordings: "+strings.Join(kinds, "; ")))
	return err
}

// expand fills in what a text leaves to the formats:
//
//	{formats}, {folder}  names of the formats that are written, and of the one that is a folder
//	{file}, {other}      endings of two of them, for examples
//	{attached}           ending of one that has attachments
//	{endings}            a line for each ending
//	{topics}             a line for each topic
//	{served}             the address of a recording in the format in which serve serves them
//	{appendable}         names of the formats that can be added to
func (e *env) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	file := e.fileEnding(0)
	return strings.NewReplacer("{endings}", strings.TrimSuffix(e.endingsHelp(), "\n"), "{formats}",
		phrase.OrList(e.writable()), "{folder}", e.folderFormat(), "{appendable}", phrase.OrList(e.appendable()),
		"{topics}", topicsHelp(), "{file}", file, "{other}", cmp.Or(e.fileEnding(1), file), "{attached}",
		cmp.Or(e.attachedEnding(), file),
		"{served}", e.servedAddress("NAME")).Replace(text)
}

// topicsHelp lists the topics.
func topicsHelp() string {
	var lines []string
	for _, t := range topics {
		lines = append(lines, fmt.Sprintf("  %-12s %s", t.Name, t.Summary))
	}
	return strings.Join(lines, "\n")
}
