package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/schema/tree"
	"github.com/bagconv/bagconv/storage"
)

// A definitionJSON is one message definition and the topics that have it.
type definitionJSON struct {
	Topics []string `json:"topics"`
	*mapping.Text
	Tree *tree.Node `json:"tree,omitempty"`
}

// schema prints the definition of a topic, or of all topics.
func (e *env) schema(c *cli.Context) (err error) {
	if c.NArg() < 1 || c.NArg() > 2 {
		return usage("type: bagconv schema IN [TOPIC]", "schema needs a recording and takes one topic at most")
	}
	path, topic := c.Args().Get(0), c.Args().Get(1)
	r, err := e.glance(c.Context, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	known, err := r.Known(c.Context, info)
	if err != nil {
		return err
	}
	defs, err := definitionsOf(info, topic, mapping.New(known.Options()))
	if err != nil {
		return err
	}
	var ended outcome
	for _, d := range defs {
		switch {
		case d.Origin == "none":
			e.say("%s: there is no definition of %s, neither in the file nor among the standard ones; --defs names a place that has it", clean(path), clean(d.Type))
			ended.failed = true
			continue
		case strings.HasPrefix(d.Origin, mapping.Given):
			e.say("%s: no definition of %s in the file; this is that of %s", clean(path), clean(d.Type), clean(d.Origin[len(mapping.Given):]))
		case d.Origin != "file":
			e.say("%s: no definition of %s in the file; this is the standard one of %s", clean(path), clean(d.Type), strings.TrimPrefix(d.Origin, "builtin "))
		}
		if d.Origin == "file" && d.Remarks != nil {
			e.say("%s: %s", clean(path), clean(d.Remarks[0].Message))
		}
		e.sayDoubts(&storage.Topic{Name: strings.Join(d.Topics, ", ")}, d.Remarks)
		if e.set.tree {
			if d.Tree, err = d.Text.Tree(); err != nil {
				e.say("%s: %s", clean(path), explain(err))
				ended.failed = true
			}
		}
	}
	if err := e.writeDefinitions(defs, path, e.set.tree, e.set.json); err != nil {
		return err
	}
	return ended.end()
}

// definitionsOf collects the distinct definitions of the topics called name, of
// all with an empty name, in the order of the recording.
func definitionsOf(info *storage.Info, name string, m *mapping.Mapper) ([]*definitionJSON, error) {
	type key struct{ typ, encoding, text string }
	byKey := map[key]*definitionJSON{}
	var out []*definitionJSON
	var names []string
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if names = append(names, t.Name); name != "" && t.Name != name {
			continue
		}
		d := &definitionJSON{Topics: []string{t.Name}, Text: m.Text(t)}
		k := key{d.Type, d.Encoding, d.Source}
		if old := byKey[k]; old != nil {
			if !slices.Contains(old.Topics, t.Name) {
				old.Topics = append(old.Topics, t.Name)
			}
			continue
		}
		byKey[k] = d
		out = append(out, d)
	}
	if name != "" && len(out) == 0 {
		fail := &failure{path: info.Path, what: fmt.Sprintf("there is no topic %s", clean(name)), hint: "bagconv topics lists them"}
		if near := suggest(name, names); near != "" {
			fail.hint = "did you mean " + clean(near) + "?"
		}
		return nil, fail
	}
	return out, nil
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
			words[i] = clean(words[i])
		}
		b.WriteString(strings.Join(words, "\t") + line[len(strings.TrimSuffix(line, "\n")):])
	}
	return b.String()
}

func (e *env) writeDefinitions(defs []*definitionJSON, path string, tree, asJSON bool) error {
	if asJSON {
		if defs == nil {
			defs = []*definitionJSON{}
		}
		return writeJSON(e.Out, struct {
			SchemaVersion int               `json:"schema_version"`
			Path          string            `json:"path"`
			Definitions   []*definitionJSON `json:"definitions"`
		}{schemaVersion, path, defs})
	}
	var b strings.Builder
	for i, d := range defs {
		if len(defs) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "# %s: %s [%s]\n", clean(strings.Join(d.Topics, ", ")), clean(d.Type), d.Encoding)
		}
		switch {
		case !tree:
			b.WriteString(d.Source)
			if d.Source != "" && !strings.HasSuffix(d.Source, "\n") {
				b.WriteByte('\n')
			}
		case d.Tree != nil:
			writeNode(&b, d.Tree, 0)
		}
	}
	_, err := io.WriteString(e.Out, e.forReader(b.String()))
	return err
}

// writeNode writes one line per field, indented by its depth: "type name", and after it the
// place and size in messages, as far as they are the same in all.
func writeNode(b *strings.Builder, n *tree.Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(clean(n.Type))
	if n.Name != "" {
		b.WriteString(" " + clean(n.Name))
	}
	switch {
	case n.Offset != nil && n.Size != nil:
		fmt.Fprintf(b, "  # at %d, %s", *n.Offset, count(int64(*n.Size), "byte"))
	case n.Offset != nil:
		fmt.Fprintf(b, "  # at %d", *n.Offset)
	case n.Size != nil:
		fmt.Fprintf(b, "  # %s", count(int64(*n.Size), "byte"))
	}
	b.WriteByte('\n')
	for _, f := range n.Fields {
		writeNode(b, f, depth+1)
	}
}
