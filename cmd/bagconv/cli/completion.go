package cli

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// The scripts hand the line over to "bagconv __complete", and know nothing about
// commands and flags themselves; so they need not be made again for a new build.
var (
	//go:embed completion/bash
	bashCompletion string
	//go:embed completion/zsh
	zshCompletion string
	//go:embed completion/fish
	fishCompletion string
	//go:embed completion/powershell
	powershellCompletion string

	shells = []string{"bash", "zsh", "fish", "powershell"}
)

// completion prints the script for a shell.
func (e *env) completion(c *cli.Context) error {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}
	if c.NArg() != 1 {
		return usage("type for example: bagconv completion bash", "completion needs the name of a shell: %s", orList(shells))
	}
	if err := oneOf("completion", c.Args().First(), shells...); err != nil {
		return err
	}
	_, err := fmt.Fprint(e.Out, scripts[c.Args().First()])
	return err
}

// A candidate is a word that may stand there.
type candidate struct{ value, about string }

// candidates is what may stand in one place.
type candidates struct {
	words   []candidate
	typed   string // what is typed of the word already
	head    string // what stands before it in the same word: "--flag="
	files   bool   // any file may
	noSpace bool   // more must follow in the same word
}

// complete runs the hidden command __complete. Its arguments are the words before
// the cursor, the last of them with a dot before it, as shells lose empty words.
// It prints a line for each word that may stand there, with a tab and an
// explanation, and a last line ":" with "files" when files may and "nospace"
// when no space belongs after the word. It prints no errors.
func (e *env) complete(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !strings.HasPrefix(args[len(args)-1], ".") {
		return usage("the scripts of bagconv completion call it", "__complete takes the words of a line, the last one after a dot")
	}
	found := e.candidates(ctx, args[:len(args)-1], args[len(args)-1][1:])
	var out strings.Builder
	for _, w := range found.words {
		if !strings.HasPrefix(w.value, found.typed) || w.value != clean(w.value) || strings.HasPrefix(w.value, ":") {
			continue // a name with control characters cannot be typed
		}
		out.WriteString(found.head + w.value)
		if w.about != "" {
			out.WriteString("\t" + w.about)
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
	_, err := fmt.Fprintf(e.Out, "%s:%s\n", out.String(), strings.Join(last, " "))
	return err
}

// candidates finds what may stand at the end of a line whose last word is being typed.
func (e *env) candidates(ctx context.Context, args []string, word string) candidates {
	l, _ := e.parse(args) // what is wrong in it may become right
	commands := e.commands()
	c := l.command
	if c == nil {
		c = commandNamed(commands, defaultCommand)
	}
	if l.open != nil {
		return e.valueCandidates(ctx, &l, l.open, candidates{typed: word})
	}
	if name, value, ok := strings.Cut(word, "="); ok && !l.ended && strings.HasPrefix(word, "--") {
		if f := c.flag(name[2:]); f != nil && f.kind != onOff {
			return e.valueCandidates(ctx, &l, f, candidates{typed: value, head: name + "="})
		}
	}
	found := candidates{typed: word}
	switch {
	case strings.HasPrefix(word, "-") && !l.ended:
		found.words = flagCandidates(c, &l)
		return found
	case len(l.words) == 0 && !l.named && !l.ended:
		found.words, found.files = commandCandidates(commands), true
		return found
	}
	return e.valueCandidates(ctx, &l, &c.operands[min(len(l.words), len(c.operands)-1)], found)
}

// flagCandidates returns the flags of a command that are not on the line yet.
func flagCandidates(c *command, l *line) (names []candidate) {
	for _, f := range c.flags {
		present := slices.ContainsFunc(l.flags, func(s setting) bool { return s.flag == f })
		if present && !f.several {
			continue
		}
		if f.short != "" {
			names = append(names, candidate{dashed(f.short), f.summary()})
		}
		names = append(names, candidate{dashed(f.name), f.summary()})
	}
	return names
}

// valueCandidates adds the values of a flag, or of a word of the line.
func (e *env) valueCandidates(ctx context.Context, l *line, f *flag, found candidates) candidates {
	found.words = f.values
	switch f.kind {
	case oneWord:
		if choices := e.optionChoices(l, f.name); f.byOutput && choices != nil {
			found.words = words(choices...)
		}
	case someWords:
		before := found.typed[:strings.LastIndexByte(found.typed, ',')+1]
		found.head, found.typed, found.noSpace = found.head+before, found.typed[len(before):], true
	case aFile:
		found.files = true
	case aTopic, aType:
		paths := l.words
		if f.name == "" {
			paths = paths[:min(len(paths), 1)] // the recording stands first, topics follow
		}
		topics, types := e.namesIn(ctx, paths)
		if f.kind == aType {
			topics = types
		}
		found.words = slices.Concat(f.values, topics)
	case anInput:
		found.words = words(l.words...)
	case aCommand:
		found.words = commandCandidates(e.commands())
	}
	if f.suffix != "" {
		found.words, found.noSpace = suffixed(found.words, f.suffix), true
	}
	return found
}

func words(values ...string) (list []candidate) {
	for _, v := range values {
		list = append(list, candidate{value: v})
	}
	return list
}

func suffixed(list []candidate, suffix string) []candidate {
	for i := range list {
		list[i].value += suffix
	}
	return list
}

// commandCandidates returns the commands, with what each does.
func commandCandidates(commands []*command) (list []candidate) {
	for _, c := range commands {
		list = append(list, candidate{c.name, c.summary})
	}
	return list
}

// completionTime is how long a key press may take.
const completionTime = 2 * time.Second

// namesIn returns the topics and the types of the recordings among the words of
// a line, if their indexes can be read in time.
func (e *env) namesIn(ctx context.Context, paths []string) (topics, types []candidate) {
	type names struct{ topics, types []candidate }
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	done := make(chan names, 1)
	go func() {
		var all names
		for _, path := range paths {
			if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
				if home, err := os.UserHomeDir(); err == nil {
					path = filepath.Join(home, rest) // no shell has opened it yet
				}
			}
			r, err := e.glance(ctx, path)
			if err != nil {
				continue
			}
			for _, t := range r.Info.Topics {
				all.topics = append(all.topics, candidate{t.Name, clean(t.Type)})
				all.types = append(all.types, candidate{value: t.Type})
			}
			_ = r.Close() // it was only read
		}
		byValue := func(a, b candidate) int { return strings.Compare(a.value, b.value) }
		same := func(a, b candidate) bool { return a.value == b.value }
		for _, list := range []*[]candidate{&all.topics, &all.types} {
			slices.SortStableFunc(*list, byValue)
			*list = slices.CompactFunc(*list, same)
		}
		done <- all
	}()
	select {
	case all := <-done:
		return all.topics, all.types
	case <-ctx.Done():
		return nil, nil
	}
}
