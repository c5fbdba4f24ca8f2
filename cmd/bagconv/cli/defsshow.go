package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/defset"
)

// defsWords are what defs does.
var defsWords = []string{"changes", "list", "pack", "show", "which"}

// defsFlags returns the flags of defs alone.
func (s *settings) defsFlags() []flags.Flag {
	return flags.AllIn(readGroup, "defs",
		flags.Flag{Name: "output", Short: "o", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.output),
			Help: "file to write (pack: the .zip archive; changes: the rules, which go to standard output without the flag), " +
				"which must not exist, or is a pack that --force replaces"},
		s.forceFlag("replace FILE if it is a pack (pack)"),
		flags.Flag{Name: "tree", Kind: flags.OnOff, Set: flags.Put(&s.show.tree), Help: "expand all fields (show), with " +
			"their types and array bounds; also with the size of fields of fixed size, and their offset in ROS 1 and CDR " +
			"messages if it is the same in all messages"},
		s.jsonFlag().In(nil, "print JSON (list, show, which)", ""),
	)
}

// defs lists, shows, explains, compares and packs definitions.
func (e *env) defs(ctx context.Context) error {
	word, rest := e.wordAt(0), e.words[min(1, len(e.words)):]
	if word == "" {
		return flags.Usage("type: bagconv defs which IN", "defs needs one of the words %s", phrase.OrList(defsWords))
	}
	if word == "collect" { // its name of before
		word = "pack"
	}
	if err := flags.OneOf("defs", word, defsWords...); err != nil {
		return err
	}
	for name, of := range map[string][]string{"output": {"changes", "pack"}, "types-to": {"changes"}, "force": {"pack"},
		"tree": {"show"}, "from": {"changes", "show", "which"}, "json": {"list", "show", "which"}} {
		if e.command.IsSet(name) && !slices.Contains(of, word) {
			return flags.Usage("omit it", "--%s has no effect with defs %s", name, word)
		}
	}
	switch word {
	case "changes":
		return e.draftRules(ctx, rest)
	case "pack":
		return e.collect(ctx, rest)
	case "list":
		return e.listDefinitions(ctx, rest)
	case "show":
		return e.showDefinitions(ctx, rest)
	}
	if len(rest) != 1 {
		return flags.Usage("type: bagconv defs which IN", "defs which takes one recording, not %d", len(rest))
	}
	return e.whichDefinitions(ctx, rest[0])
}

// defsJSON is what defs list and defs which print.
type defsJSON struct {
	SchemaVersion int             `json:"schema_version"`
	Path          string          `json:"path"`        // of which; "" of list
	Definitions   []defset.Entry  `json:"definitions"` // of list
	Topics        []mapping.Which `json:"topics"`      // of which
}

// listDefinitions lists what places define.
func (e *env) listDefinitions(ctx context.Context, paths []string) error {
	if len(paths)+len(e.set.job.Definitions) == 0 {
		return flags.Usage("type: bagconv defs list PLACE...", "no input given")
	}
	set, err := e.merged(ctx, paths)
	if err != nil {
		return err
	}
	entries := set.Entries(standardTypes(e.set.job.Distro))
	if e.set.json {
		return writeJSON(e.Out, defsJSON{SchemaVersion: schemaVersion, Definitions: entries, Topics: []mapping.Which{}})
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "type\tkind\tlayout\tmd5sum\ttype hash\tfrom")
	for _, d := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", phrase.Clean(d.Type), d.Kind, short(d.Layout), short(d.MD5),
			short(strings.TrimPrefix(d.RIHS01, "RIHS01_")), phrase.Clean(d.File))
	}
	return w.Flush()
}

// short returns the beginning of a sum, "-" for no sum.
func short(sum string) string {
	if sum == "" {
		return "-"
	}
	return sum[:min(len(sum), 12)]
}

// whichDefinitions explains which definitions a recording's topics have.
func (e *env) whichDefinitions(ctx context.Context, path string) (err error) {
	r, err := e.open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	known, err := r.Known(ctx, info)
	if err != nil {
		return err
	}
	mapper := mapping.New(known.Options())
	out := defsJSON{SchemaVersion: schemaVersion, Path: path, Definitions: []defset.Entry{}, Topics: []mapping.Which{}}
	var ended outcome
	for i := range info.Topics {
		w := mapper.Which(known.Evidence, &info.Topics[i].Topic)
		ended.lossy = ended.lossy || w.Definition == "none"
		out.Topics = append(out.Topics, w)
	}
	if e.set.json {
		err = writeJSON(e.Out, out)
	} else {
		err = e.writeWhich(out.Topics)
	}
	if err != nil {
		return err
	}
	return ended.end()
}

func (e *env) writeWhich(topics []mapping.Which) error {
	var b strings.Builder
	for _, t := range topics {
		fmt.Fprintf(&b, "%s  %s [%s]  %s\n", phrase.Clean(t.Name), phrase.Clean(t.Type), phrase.Clean(t.Encoding),
			phrase.Clean(t.Definition))
		for _, why := range t.Why {
			fmt.Fprintf(&b, "    %s\n", phrase.Clean(why))
		}
		for _, c := range t.Candidates {
			mark, text := "-", "does not fit: "+c.Broke
			switch {
			case c.Fits && c.Doubt == "":
				mark, text = "+", "fits"
			case c.Fits:
				mark, text = "?", "fits, but: "+c.Doubt
			}
			fmt.Fprintf(&b, "  %s %s: %s\n", mark, phrase.Clean(c.Place), phrase.Clean(text))
		}
	}
	_, err := io.WriteString(e.Out, b.String())
	return err
}
