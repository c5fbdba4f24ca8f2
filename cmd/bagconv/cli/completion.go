package cli

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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

func (e *env) completionCommand() *cli.Command {
	return &cli.Command{Name: "completion", Action: e.completion}
}

// completion prints the script for a shell.
func (e *env) completion(c *cli.Context) error {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}
	if c.NArg() != 1 {
		return usage("type for example: bagconv completion bash", "completion takes the name of a shell: %s", orList(shells))
	}
	if err := oneOf("completion", c.Args().First(), shells...); err != nil {
		return err
	}
	_, err := fmt.Fprint(e.Out, scripts[c.Args().First()])
	return err
}

// A typed is a line that is not finished.
type typed struct {
	verb  *cli.Command      // that of a conversion when none is named
	named bool              // the line names verb
	rest  []string          // what is no flag, without the command
	given map[string]string // the flags by their first name, with their values
	flag  cli.Flag          // whose value is typed; nil: none
	ended bool              // after --
	word  string            // what is typed of the last word; of the value, in --flag=value
	head  string            // "--flag=" before word
}

// A candidate is a word that may stand there.
type candidate struct{ value, about string }

// candidates is what may stand in one place.
type candidates struct {
	words   []candidate
	files   bool // any file may
	noSpace bool // more must follow in the same word
}

// complete is the hidden command __complete. Its arguments are the words before
// the cursor, the last of them with a dot before it, as shells lose empty words.
// It prints a line for each word that may stand there, with a tab and an
// explanation, and a last line ":" with "files" when files may and "nospace"
// when no space belongs behind the word. It says nothing about errors.
func (e *env) complete(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !strings.HasPrefix(args[len(args)-1], ".") {
		return usage("the scripts of bagconv completion call it", "__complete takes the words of a line, the last one after a dot")
	}
	t := e.typedLine(args[:len(args)-1], args[len(args)-1][1:])
	found := e.candidates(ctx, t)
	var out strings.Builder
	for _, w := range found.words {
		if !strings.HasPrefix(w.value, t.word) || w.value != clean(w.value) || strings.HasPrefix(w.value, ":") {
			continue // a name with control characters cannot be typed
		}
		out.WriteString(t.head + w.value)
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

// typedLine reads a line up to its last word, as arrange does.
func (e *env) typedLine(words []string, word string) *typed {
	commands := e.commands()
	t := &typed{given: map[string]string{}, word: word}
	for i, w := range words { // the command, which may stand behind flags
		if !strings.HasPrefix(w, "-") && (i == 0 || !takesValue(commands, words[i-1])) {
			if at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(w) }); at >= 0 {
				t.verb, t.named = commands[at], true
				words = slices.Delete(slices.Clone(words), i, i+1)
			}
			break
		}
	}
	if t.verb == nil {
		t.verb = commands[slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == defaultVerb })]
	}
	for _, w := range words {
		if t.flag != nil {
			t.given[t.flag.Names()[0]] = w
			t.flag = nil
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case t.ended || len(w) < 2 || w[0] != '-':
			t.rest = append(t.rest, w)
		case w == "--":
			t.ended = true
		default:
			f := flagOf(t.verb, name)
			if f == nil {
				continue
			}
			t.given[f.Names()[0]] = value
			if f.(cli.DocGenerationFlag).TakesValue() && !hasValue {
				t.flag = f
			}
		}
	}
	if name, value, ok := strings.Cut(word, "="); ok && t.flag == nil && !t.ended && strings.HasPrefix(word, "--") {
		if f := flagOf(t.verb, name[2:]); f != nil && f.(cli.DocGenerationFlag).TakesValue() {
			t.flag, t.head, t.word = f, name+"=", value
		}
	}
	return t
}

func flagOf(c *cli.Command, name string) cli.Flag {
	if name == colorFlag.Name {
		return colorFlag
	}
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// takesValue tells whether a word is a flag of any command whose value is the
// next word.
func takesValue(commands []*cli.Command, word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	for _, c := range commands {
		if f := flagOf(c, strings.TrimLeft(word, "-")); f != nil {
			return f.(cli.DocGenerationFlag).TakesValue()
		}
	}
	return false
}

// candidates finds what may stand at the end of a line.
func (e *env) candidates(ctx context.Context, t *typed) candidates {
	switch {
	case t.flag != nil:
		return e.flagCandidates(ctx, t)
	case strings.HasPrefix(t.word, "-") && !t.ended:
		return candidates{words: flagNames(t)}
	case len(t.rest) == 0 && !t.named && !t.ended:
		return candidates{words: verbSummaries(), files: true}
	}
	switch name := t.verb.Name; {
	case name == "help" && len(t.rest) == 0:
		return candidates{words: verbSummaries()}
	case name == "list" && len(t.rest) == 0:
		return candidates{words: words(listed)}
	case name == "completion" && len(t.rest) == 0:
		return candidates{words: words(shells)}
	case name == "help", name == "completion", name == "formats", name == "version":
		return candidates{}
	case name == "schema" && len(t.rest) == 1, name == "cat" && len(t.rest) > 0:
		topics, _ := e.namesIn(ctx, t.rest[:1])
		return candidates{words: topics}
	}
	return candidates{files: true}
}

// flagNames are the flags of a command that are not on the line yet.
func flagNames(t *typed) (names []candidate) {
	for _, f := range append(slices.Clone(t.verb.Flags), colorFlag) {
		about := f.(cli.DocGenerationFlag).GetUsage()
		_, several := f.(*cli.StringSliceFlag)
		if _, given := t.given[f.Names()[0]]; given && !several {
			continue
		}
		for _, name := range f.Names() {
			names = append(names, candidate{dashed(name), about})
		}
	}
	return append(names, candidate{"--help", "what the command does"})
}

// flagCandidates finds the values of a flag. What a flag takes is told by its
// Usage: a list of words is the list of its values.
func (e *env) flagCandidates(ctx context.Context, t *typed) candidates {
	about := t.flag.(cli.DocGenerationFlag).GetUsage()
	names := func(which func(topics, types []candidate) []candidate) []candidate {
		return which(e.namesIn(ctx, t.rest))
	}
	topics := func(topics, _ []candidate) []candidate { return topics }
	is := func(prefix string) bool { return strings.HasPrefix(about, prefix) }
	name := t.flag.Names()[0]
	switch {
	case slices.ContainsFunc(e.formatOptions(), func(o formatOption) bool { return o.name == name }):
		return candidates{words: words(e.optionChoices(t, name))}
	case is("a file"), is("a folder"), is("the output,"):
		return candidates{files: true}
	case is("a topic"):
		return candidates{words: names(topics)}
	case is("auto, none, or a topic"):
		return candidates{words: append(words([]string{"auto", "none"}), names(topics)...)}
	case is("a message type"):
		return candidates{words: names(func(_, types []candidate) []candidate { return types })}
	case is("TOPIC="):
		return candidates{words: suffixed(names(topics), "="), noSpace: true}
	case is("OLD:=NEW"):
		return candidates{words: suffixed(names(topics), ":="), noSpace: true}
	case is("IN="):
		return candidates{words: suffixed(words(t.rest), "="), noSpace: true}
	case is("a ROS 2 distribution"):
		return candidates{words: words(distros())}
	case is("a path into the JSON"):
		return candidates{words: words(jsonNames(reflect.TypeFor[infoJSON]()))}
	case is("words with commas"):
		before := t.word[:strings.LastIndexByte(t.word, ',')+1]
		t.head, t.word = t.head+before, t.word[len(before):]
		return candidates{words: words(choices(about)), noSpace: true}
	}
	return candidates{words: words(choices(about))}
}

// choices returns the values that a Usage lists: "time or file", "auto, always
// or never", also behind a colon. nil when it describes the value instead.
func choices(usage string) (list []string) {
	if at := strings.LastIndex(usage, ": "); at >= 0 {
		usage = usage[at+2:]
	}
	for _, part := range strings.Split(strings.NewReplacer(", or ", ", ", " or ", ", ").Replace(usage), ", ") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return nil
		}
		list = append(list, part)
	}
	return list
}

func words(values []string) (list []candidate) {
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

// completionTime is how long a key press may take.
const completionTime = 2 * time.Second

// namesIn returns the topics and the types of the recordings among the words of
// a line, as far as their indexes tell them in time.
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
			if info, err := r.Info(); err == nil {
				for _, t := range info.Topics {
					all.topics = append(all.topics, candidate{t.Name, clean(t.Type)})
					all.types = append(all.types, candidate{value: t.Type})
				}
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

// verbSummaries are the commands with what the help says about each.
func verbSummaries() (list []candidate) {
	for _, verb := range verbs {
		about := ""
		for _, line := range strings.Split(helpText, "\n") {
			call, text, ok := strings.Cut(strings.TrimPrefix(line, "  bagconv "), "  ")
			if first, _, _ := strings.Cut(call, " "); ok && strings.HasPrefix(line, "  bagconv ") && strings.Trim(first, "[]") == verb {
				about = strings.TrimSpace(text)
				break
			}
		}
		list = append(list, candidate{verb, about})
	}
	return list
}
