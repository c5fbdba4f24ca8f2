package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/complete"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/storage"
)

// completionCommand is the command completion.
func (e *env) completionCommand() flags.Command {
	return flags.Command{
		Name: "completion", Call: "completion SHELL", Summary: "print a script for completion with the tab key",
		About: `Prints a script for completion with the tab key: commands, flags and their values,
files, and the topics, types and fields of the recording on the command line. Add one of
the lines below to a start-up file of your shell. SHELL is
` + phrase.OrList(complete.Shells) + `.`,
		Examples: []string{
			"source <(bagconv completion bash)",
			"source <(bagconv completion zsh)",
			"bagconv completion fish | source",
			"bagconv completion powershell | Out-String | Invoke-Expression",
		},
		Exits:    flags.Exits{0: "done"},
		Operands: []flags.Flag{{Kind: flags.OneWord, Values: flags.Words(complete.Shells...)}, {}},
		Run:      e.completion,
	}
}

// completion prints the script for a shell.
func (e *env) completion(context.Context) error {
	if len(e.words) != 1 {
		return flags.Usage("type for example: bagconv completion bash", "completion needs the name of a shell: %s",
			phrase.OrList(complete.Shells))
	}
	if err := flags.OneOf("completion", e.words[0], complete.Shells...); err != nil {
		return err
	}
	_, err := fmt.Fprint(e.Out, complete.Scripts[e.words[0]])
	return err
}

// asker returns what completion asks.
func (e *env) asker() *complete.Asker {
	return &complete.Asker{Commands: e.commands(), Choices: e.optionChoices, Names: e.namesIn,
		Fields: e.fieldsIn}
}

// namesIn returns the topics and the types of a recording, as far as its index has them.
func (e *env) namesIn(ctx context.Context, path string) (topics, types []flags.Word) {
	r, err := e.glance(ctx, path)
	if err != nil {
		return nil, nil
	}
	defer func() { _ = r.Close() }() // it was only read
	for _, t := range r.Info.Topics {
		topics = append(topics, flags.Word{Value: t.Name, About: phrase.Clean(t.Type)})
		types = append(types, flags.Word{Value: t.Type})
	}
	return topics, types
}

// fieldsIn returns the fields of a topic within one of them, as far as the recording has its definition.
func (e *env) fieldsIn(ctx context.Context, path, topic, within string) (list []flags.Word) {
	r, err := e.glance(ctx, path)
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }() // it was only read
	at := slices.IndexFunc(r.Info.Topics, func(t storage.TopicInfo) bool { return t.Name == topic })
	if at < 0 {
		return nil
	}
	mapper, err := r.Mapper(ctx, r.Info)
	if err != nil {
		return nil
	}
	typ, _, err := mapper.Type(&r.Info.Topics[at].Topic)
	if err != nil {
		return nil
	}
	for name := range strings.SplitSeq(within, ".") {
		name, _, _ = strings.Cut(name, "[")
		if name == "" {
			continue
		}
		f := typ.Find(name)
		if f == nil || f.Type == nil {
			return nil
		}
		typ = f.Type
	}
	for _, name := range typ.Names() {
		about := ""
		f := typ.Find(name)
		if f.Type != nil {
			about = f.Type.Name
		}
		if f.List {
			about += "[]"
		}
		list = append(list, flags.Word{Value: name, About: phrase.Clean(about)})
	}
	return list
}
