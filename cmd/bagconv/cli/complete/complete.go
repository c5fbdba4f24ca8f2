// Package complete finds what may stand at the end of a command line that is being typed, and has the scripts by which
// shells ask for it. It is made from the tables of package flags.
package complete

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
)

// The scripts hand the line over to "bagconv __complete", and know nothing about commands and flags themselves; so
// they need not be made again for a new build.
var (
	//go:embed scripts/bash
	bash string
	//go:embed scripts/zsh
	zsh string
	//go:embed scripts/fish
	fish string
	//go:embed scripts/powershell
	powershell string
)

// Scripts are the scripts by the names of their shells.
var Scripts = map[string]string{"bash": bash, "zsh": zsh, "fish": fish, "powershell": powershell}

// Shells lists the names of shells.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// An Asker is what the answers are made from.
type Asker struct {
	Commands []*flags.Command
	// Choices returns the values of a flag that depend on the output; nil: they are not known.
	Choices func(l *flags.Line, flag string) []string
	// Names returns the topics and types of a recording. It may be slow.
	Names func(ctx context.Context, path string) (topics, types []flags.Word)
	// Fields returns the fields of a topic of a recording within one of them; "": of the messages. It may be slow.
	Fields func(ctx context.Context, path, topic, within string) []flags.Word
}

// candidates is what may stand in one place.
type candidates struct {
	words   []flags.Word
	typed   string // what is typed of the word already
	head    string // what stands before it in the same word: "--flag="
	files   bool   // any file may
	noSpace bool   // more must follow in the same word
}

// Complete answers the scripts, which call the hidden command __complete. Its arguments are the words before
// the cursor, the last of them with a dot before it, as shells lose empty words.
// It prints a line for each word that may stand there, with a tab and an
// explanation, and a last line ":" with "files" when files may and "nospace"
// when no space belongs after the word. It prints no errors.
func (a *Asker) Complete(ctx context.Context, w io.Writer, args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !strings.HasPrefix(args[len(args)-1], ".") {
		return flags.Usage("the scripts of bagconv completion call it",
			"__complete takes the words of a line, the last one after a dot")
	}
	found := a.candidates(ctx, args[:len(args)-1], args[len(args)-1][1:])
	var out strings.Builder
	for _, w := range found.words {
		if !strings.HasPrefix(w.Value, found.typed) || w.Value != phrase.Clean(w.Value) || strings.HasPrefix(w.Value, ":") {
			continue // a name with control characters cannot be typed
		}
		out.WriteString(found.head + w.Value)
		if w.About != "" {
			out.WriteString("\t" + w.About)
		}
		out.WriteByte('\n')
	}
	var last []string
	if found.files {
		last = append(last, "files")
	}
	if found.noSpace {
		last = append(last, "nospace")
	}
	_, err := fmt.Fprintf(w, "%s:%s\n", out.String(), strings.Join(last, " "))
	return err
}

// candidates finds what may stand at the end of a line whose last word is being typed.
func (a *Asker) candidates(ctx context.Context, args []string, word string) candidates {
	l, _ := flags.Parse(a.Commands, args) // what is wrong in it may become right
	c := l.Command
	if c == nil {
		c = flags.Named(a.Commands, flags.DefaultCommand)
	}
	if l.Open != nil {
		return a.valueCandidates(ctx, &l, l.Open, candidates{typed: word})
	}
	if name, value, ok := strings.Cut(word, "="); ok && !l.Ended && strings.HasPrefix(word, "--") {
		if f := c.Flag(name[2:]); f != nil && f.Kind != flags.OnOff {
			return a.valueCandidates(ctx, &l, f, candidates{typed: value, head: name + "="})
		}
	}
	found := candidates{typed: word}
	switch {
	case strings.HasPrefix(word, "-") && !l.Ended:
		found.words = flagCandidates(c, &l)
		return found
	case len(l.Words) == 0 && !l.Named && !l.Ended:
		found.words, found.files = a.commandCandidates(), true
		return found
	}
	return a.valueCandidates(ctx, &l, &c.Operands[min(len(l.Words), len(c.Operands)-1)], found)
}

// flagCandidates returns the flags of a command that are not on the line yet.
func flagCandidates(c *flags.Command, l *flags.Line) (names []flags.Word) {
	for _, f := range c.Flags {
		present := slices.ContainsFunc(l.Settings, func(s flags.Setting) bool { return s.Flag == f })
		if present && !f.Several {
			continue
		}
		if f.Short != "" {
			names = append(names, flags.Word{Value: flags.Dashed(f.Short), About: f.Summary()})
		}
		names = append(names, flags.Word{Value: flags.Dashed(f.Name), About: f.Summary()})
	}
	return names
}

// valueCandidates adds the values of a flag, or of a word of the line.
func (a *Asker) valueCandidates(ctx context.Context, l *flags.Line, f *flags.Flag, found candidates) candidates {
	found.words = f.Values
	switch f.Kind {
	case flags.OneWord:
		if choices := a.Choices(l, f.Name); f.ByOutput && choices != nil {
			found.words = flags.Words(choices...)
		}
	case flags.SomeWords:
		before := found.typed[:strings.LastIndexByte(found.typed, ',')+1]
		found.head, found.typed, found.noSpace = found.head+before, found.typed[len(before):], true
	case flags.File:
		found.files = true
	case flags.Field:
		if f.SecondAfter == "" || l.Text(f.Name) == f.SecondAfter {
			return a.fieldCandidates(ctx, l, f, found)
		}
	case flags.Topic, flags.Type:
		paths := recordings(l, f)
		if f.Name == "" {
			found.files = f.Several
		}
		topics, types := a.names(ctx, paths)
		if f.Kind == flags.Type {
			topics = types
		}
		found.words = slices.Concat(f.Values, topics)
	case flags.Input:
		found.words = flags.Words(l.Words...)
	case flags.Name:
		found.words = a.commandCandidates()
	}
	if f.Suffix != "" {
		found.words, found.noSpace = suffixed(found.words, f.Suffix), true
	}
	return found
}

func suffixed(list []flags.Word, suffix string) []flags.Word {
	for i := range list {
		list[i].Value += suffix
	}
	return list
}

// commandCandidates returns the commands, with what each does.
func (a *Asker) commandCandidates() (list []flags.Word) {
	for _, c := range a.Commands {
		list = append(list, flags.Word{Value: c.Name, About: c.Summary})
	}
	return list
}

// completionTime is how long a key press may take.
const completionTime = 2 * time.Second

// names returns the topics and the types of the recordings among the words of a line, if their indexes can be read in
// time.
func (a *Asker) names(ctx context.Context, paths []string) (topics, types []flags.Word) {
	type names struct{ topics, types []flags.Word }
	all := inTime(ctx, func(ctx context.Context) (all names) {
		for _, path := range paths {
			topics, types := a.Names(ctx, expandHome(path))
			all.topics, all.types = append(all.topics, topics...), append(all.types, types...)
		}
		byValue := func(a, b flags.Word) int { return strings.Compare(a.Value, b.Value) }
		same := func(a, b flags.Word) bool { return a.Value == b.Value }
		for _, list := range []*[]flags.Word{&all.topics, &all.types} {
			slices.SortStableFunc(*list, byValue)
			*list = slices.CompactFunc(*list, same)
		}
		return all
	})
	return all.topics, all.types
}

// inTime returns what look finds, or nothing if that takes longer than a key press may.
func inTime[T any](ctx context.Context, look func(context.Context) T) (found T) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	done := make(chan T, 1)
	go func() { done <- look(ctx) }()
	select {
	case found = <-done:
	case <-ctx.Done():
	}
	return found
}

// expandHome returns a path without a ~ at its start, which no shell has opened yet.
func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// recordings returns the words of a line that may be recordings with the topics of a flag or a word.
func recordings(l *flags.Line, f *flags.Flag) []string {
	if f.Name != "" {
		return l.Words
	}
	at := slices.IndexFunc(l.Command.Operands, func(o flags.Flag) bool { return o.Kind == flags.File })
	return l.Words[min(len(l.Words), at):min(len(l.Words), at+1)] // it stands first, topics follow
}
