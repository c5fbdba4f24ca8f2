// Package help writes what people read about the command line: the page of the program, of each command and of what
// commands have in common, for terminals, and all of them as one manual page. It is made from the tables of package
// flags. A Book may be read concurrently.
package help

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
)

// A Book is what the pages are made from.
type Book struct {
	Intro    string           // paragraphs about the program
	Closing  string           // paragraphs below the list of commands
	Parts    []string         // of the list of commands, in their order
	Commands []*flags.Command // in their order
	Topics   []Topic          // what commands have in common, in its order
	Expand   func(string) string
}

// A Topic is a page on what commands have in common: the flags of the groups that name it, or a text.
type Topic struct {
	Name, Summary string
	Text          string // as it is
}

// A Depth is how much of a command a page has.
type Depth int

const (
	Brief Depth = iota // a line for each flag of its own, and the names of the pages with the other flags
	Own                // its own flags in full, and exit statuses
	All                // all of its flags in full
)

// A page is a text that is built from its parts: help for a terminal, or a manual page.
type page interface {
	heading(text string)
	gap()                    // between parts
	paragraph(text string)   // of words
	verbatim(lines []string) // as they are
	item(head, text string, column int, listed []flags.Word)
}

// The columns of the help, from 0, at which explanations begin.
const (
	commandColumn = 13
	flagColumn    = 24
	statusColumn  = 7
)

// Text returns the page of a command or a topic, the page of the program for "", in so many
// columns; "" if there is no such page.
func (b *Book) Text(name string, columns int, d Depth) string {
	p := &textPage{columns: min(80, max(columns, leastColumns))}
	if name == "" {
		b.program(p)
		return p.String()
	}
	if c := flags.Named(b.Commands, name); c != nil {
		p.WriteString(phrase.WrapAt(c.Usage(), 2, p.columns) + "\n")
		b.command(p, c, d)
		return p.String()
	}
	for _, t := range b.Topics {
		if t.Name == name {
			b.topic(p, t)
		}
	}
	return p.String()
}

// Names lists the pages, without the page of the program.
func (b *Book) Names() (names []string) {
	for _, c := range b.Commands {
		names = append(names, c.Name)
	}
	for _, t := range b.Topics {
		names = append(names, t.Name)
	}
	return names
}

// program writes the page of the program.
func (b *Book) program(p page) {
	b.describe(p, b.Intro)
	p.gap()
	for _, part := range b.Parts {
		p.heading(part)
		for _, c := range b.Commands {
			if c.Part == part {
				p.item(c.Name, c.Summary, commandColumn, nil)
			}
		}
	}
	b.describe(p, b.Closing)
}

// shared returns the topic that has a flag of a command, "" if the page of the command has it.
func shared(c *flags.Command, f *flags.Flag) string {
	if t := f.Group.Topic; t != c.Name {
		return t
	}
	return ""
}

// command writes what the page of a command has after its first line.
func (b *Book) command(p page, c *flags.Command, d Depth) {
	b.describe(p, c.About)
	b.examples(p, c.Examples)
	var group *flags.Group
	for i, f := range c.Flags {
		if f.Group == nil || shared(c, f) != "" && d != All {
			continue
		}
		if f.Group != group {
			group = f.Group
			p.gap()
			p.heading(group.Title)
		}
		if d == Brief {
			p.item(b.head(f), b.Expand(f.Summary()), flagColumn, nil)
			continue
		}
		b.flag(p, f, f.Help)
		if i+1 == len(c.Flags) || c.Flags[i+1].Group != group {
			b.describe(p, group.Note)
		}
	}
	if d != All {
		b.pointers(p, c)
	}
	if d != Brief {
		b.describe(p, c.Note)
		exits(p, c.Exits)
	}
}

// pointers names the pages that have the flags which a command shares with others.
func (b *Book) pointers(p page, c *flags.Command) {
	names := map[string]bool{}
	for _, f := range c.Flags {
		if f.Group != nil && shared(c, f) != "" {
			names[shared(c, f)] = true
		}
	}
	if len(names) > 0 {
		p.gap()
		p.paragraph("More: bagconv help " + strings.Join(b.order(names), ", "))
	}
}

// order returns the topics of names in their order; pages of commands that have flags for others come last.
func (b *Book) order(names map[string]bool) (list []string) {
	for _, name := range slices.Concat(topicNames(b.Topics), slices.Sorted(maps.Keys(names))) {
		if names[name] && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func topicNames(topics []Topic) (names []string) {
	for _, t := range topics {
		names = append(names, t.Name)
	}
	return names
}

// topic writes the page of a topic: its text, or the flags of its groups, each help of a flag once.
func (b *Book) topic(p page, t Topic) {
	if t.Text != "" {
		b.describe(p, t.Text)
		return
	}
	var groups []*flags.Group
	members := map[*flags.Group][]*flags.Flag{}
	for _, c := range b.Commands {
		for _, f := range c.Flags {
			if g := f.Group; g != nil && g.Topic == t.Name {
				if members[g] == nil {
					groups = append(groups, g)
				}
				if !slices.Contains(members[g], f) {
					members[g] = append(members[g], f)
				}
			}
		}
	}
	for _, g := range groups {
		p.gap()
		p.heading(g.Title)
		told := map[string]bool{} // what was said of a flag
		for _, f := range members[g] {
			text := f.Help
			if told[f.Name] && !told[f.Name+f.Help] {
				text = strings.Join(f.Commands(), ", ") + ": " + text
			}
			if !told[f.Name+f.Help] {
				b.flag(p, f, text)
			}
			told[f.Name], told[f.Name+f.Help] = true, true
		}
		b.describe(p, g.Note)
	}
}

// flag writes a flag.
func (b *Book) flag(p page, f *flags.Flag, help string) {
	var listed []flags.Word
	for _, v := range f.Values {
		if v.About != "" {
			listed = append(listed, v)
		}
	}
	p.item(b.head(f), b.Expand(help), flagColumn, listed)
}

// head returns how a flag is written, with its value.
func (b *Book) head(f *flags.Flag) string {
	return strings.TrimSpace(f.Spellings() + " " + f.Argument())
}

// describe writes paragraphs, with a blank line between them. Lines that are indented stay as they are.
func (b *Book) describe(p page, text string) {
	if text == "" {
		return
	}
	for _, part := range strings.Split(b.Expand(text), "\n\n") {
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

func (b *Book) examples(p page, lines []string) {
	p.gap()
	p.heading("EXAMPLES")
	var expanded []string
	for _, l := range lines {
		expanded = append(expanded, "  "+b.Expand(l))
	}
	p.verbatim(expanded)
}

func exits(p page, list flags.Exits) {
	p.gap()
	p.heading("EXIT STATUS")
	for _, status := range slices.Sorted(maps.Keys(list)) {
		p.item(fmt.Sprint(status), list[status], statusColumn, nil)
	}
}
