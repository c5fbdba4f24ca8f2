package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/tree"
	"github.com/bagconv/bagconv/storage"
)

// showDefinitions prints the definitions of the topics of a recording, or the definition of a type.
func (e *env) showDefinitions(ctx context.Context, words []string) error {
	switch {
	case len(words) == 0:
		return flags.Usage("type: bagconv defs show IN [TOPIC]", "defs show needs a recording, or the name of a type")
	case !e.standsAt(words[0]):
		return e.showType(ctx, words[0], words[1:])
	case len(words) > 2:
		return flags.Usage("type: bagconv defs show IN [TOPIC]", "defs show takes one topic of a recording, not %d",
			len(words)-1)
	}
	return e.showTopics(ctx, words[0], strings.Join(words[1:], ""))
}

// standsAt reports whether anything stands at a path. Then the word names a recording: types have no names of files.
func (e *env) standsAt(path string) bool {
	// a path may be what several files begin with
	if _, err := e.formats.DetectIn(e.fs, path); err == nil || iox.IsURL(path) {
		return true
	}
	_, err := e.fs.Stat(path)
	return err == nil
}

// showTopics prints the definition of a topic, or the definitions of all topics.
func (e *env) showTopics(ctx context.Context, path, topic string) (err error) {
	r, err := e.glance(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	mapper, err := r.Mapper(ctx, r.Info)
	if err != nil {
		return err
	}
	defs := mapper.Texts(r.Info.Topics, topic)
	if topic != "" && len(defs) == 0 {
		hint := nearest.Meant(nearest.Suggest(topic, namesOf(r.Info)), "bagconv info --topics lists them")
		return &failure{path: path, what: "there is no topic " + phrase.Clean(topic), hint: phrase.Clean(hint)}
	}
	var ended outcome
	for _, d := range defs {
		switch {
		case d.Origin == "none":
			e.say("%s: there is no definition of %s, neither in the file nor among the standard ones; --defs names a place "+
				"that has it", phrase.Clean(path), phrase.Clean(d.Type))
			ended.failed = true
			continue
		case strings.HasPrefix(d.Origin, mapping.Given):
			e.say("%s: the file has no definition of %s; this one comes from %s", phrase.Clean(path), phrase.Clean(d.Type),
				phrase.Clean(d.Origin[len(mapping.Given):]))
		case d.Origin != "file":
			e.say("%s: no definition of %s in the file; this is the standard one of %s", phrase.Clean(path),
				phrase.Clean(d.Type), strings.TrimPrefix(d.Origin, "builtin "))
		}
		if d.Origin == "file" && d.Remarks != nil {
			e.say("%s: %s", phrase.Clean(path), phrase.Clean(d.Remarks[0].Message))
		}
		e.sayDoubts(&storage.Topic{Name: strings.Join(d.Topics, ", ")}, d.Remarks)
		if e.set.show.tree {
			if d.Expanded, err = d.Tree(); err != nil {
				e.say("%s: %s", phrase.Clean(path), explain(err))
				ended.failed = true
			}
		}
	}
	if err := e.writeDefinitions(defs, path); err != nil {
		return err
	}
	return ended.end()
}

// showType prints the definition of a type, from the first of the places that has it, else the standard one.
func (e *env) showType(ctx context.Context, name string, places []string) error {
	all, err := e.merged(ctx, places)
	if err != nil {
		return err
	}
	first, others := all.First(name)
	for _, from := range others {
		e.say("%s has another definition, too: %s", phrase.Clean(name), phrase.Clean(from))
	}
	ros1 := strings.Count(name, "/") == 1
	found, err := defset.Find([]*defset.Set{first}, name, ros1, standardTypes(e.set.job.Distro))
	switch {
	case err != nil:
		return err
	case found == nil:
		hint := "ROS 2 types are pkg/msg/Type, ROS 1 types pkg/Type; --defs names a place, and bagconv defs list what it has"
		return &failure{path: name,
			what: "no place defines this type, and it is not a standard one; there is no recording of this name either",
			hint: cmp.Or(e.suggestPath(name), hint)}
	}
	place, _ := first.From(name)
	d := mapping.TextOfType(name, ros1, found, place, e.set.job.Distro)
	if e.set.show.tree {
		if d.Expanded, err = d.Tree(); err != nil {
			return err
		}
	}
	return e.writeDefinitions([]*mapping.TopicsText{d}, "")
}

// forReader returns text of several lines from a file as it is, for a terminal
// with each line made safe.
func (e *env) forReader(text string) string {
	if !e.OutTerminal {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range words {
			words[i] = phrase.Clean(words[i])
		}
		b.WriteString(strings.Join(words, "\t") + line[len(strings.TrimSuffix(line, "\n")):])
	}
	return b.String()
}

// writeDefinitions writes definitions as text, as trees, or as JSON.
func (e *env) writeDefinitions(defs []*mapping.TopicsText, path string) error {
	if e.set.json {
		if defs == nil {
			defs = []*mapping.TopicsText{}
		}
		return writeJSON(e.Out, struct {
			SchemaVersion int                   `json:"schema_version"`
			Path          string                `json:"path"`
			Definitions   []*mapping.TopicsText `json:"definitions"`
		}{schemaVersion, path, defs})
	}
	var b strings.Builder
	for i, d := range defs {
		if len(defs) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "# %s: %s [%s]\n", phrase.Clean(strings.Join(d.Topics, ", ")), phrase.Clean(d.Type), d.Encoding)
		}
		switch {
		case !e.set.show.tree:
			b.WriteString(d.Source)
			if d.Source != "" && !strings.HasSuffix(d.Source, "\n") {
				b.WriteByte('\n')
			}
		case d.Expanded != nil:
			writeNode(&b, d.Expanded, 0)
		}
	}
	_, err := io.WriteString(e.Out, e.forReader(b.String()))
	return err
}

// writeNode writes one line per field, indented by its depth: "type name", and after it the
// place and size in messages, as far as they are the same in all.
func writeNode(b *strings.Builder, n *tree.Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(phrase.Clean(n.Type))
	if n.Name != "" {
		b.WriteString(" " + phrase.Clean(n.Name))
	}
	switch {
	case n.Offset != nil && n.Size != nil:
		fmt.Fprintf(b, "  # at %d, %s", *n.Offset, phrase.Count(int64(*n.Size), "byte"))
	case n.Offset != nil:
		fmt.Fprintf(b, "  # at %d", *n.Offset)
	case n.Size != nil:
		fmt.Fprintf(b, "  # %s", phrase.Count(int64(*n.Size), "byte"))
	}
	b.WriteByte('\n')
	for _, f := range n.Fields {
		writeNode(b, f, depth+1)
	}
}
