package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// defsWords are what defs does.
var defsWords = []string{"collect", "list", "show", "which"}

// defsCommands are the commands about definitions.
func (e *env) defsCommands() []command {
	return []command{{
		name: "defs", call: "defs WHAT ...", summary: "collect, list, show or explain definitions",
		about: `Shows which definitions there are, and which of them a conversion uses. WHAT is
  collect IN... -o pack.zip  gather the definitions of recordings, workspaces
               and archives in one archive, a file for each type, with an index
               of their hashes. --defs pack.zip then needs nothing else
  list IN...   list the types that are defined there, with md5sum, type hash and
               a fingerprint of the layout: types with the same fingerprint are
               read alike
  show TYPE [IN]...  print the definition of a type, from the first place that
               has it, or else the standard one
  which IN     tell for each topic of a recording which definition is used, from
               where, why, and which others fit its messages
A place IN is what --defs takes; the places of --defs come behind those of the line.`,
		note: `docs/definitions.md has the rules by which a definition is chosen.`,
		examples: []string{
			"bagconv defs collect src/ drive{file} -o pack.zip",
			"bagconv defs which drive{file} --defs pack.zip",
			"bagconv defs show sensor_msgs/msg/Imu --tree --distro jazzy",
			"bagconv defs list pack.zip --json | jq -r '.definitions[].type'",
		},
		exits: []exit{
			{0, "done"},
			{1, "a recording or an output cannot be read or written, or a type is not defined"},
			{3, "which: a topic has no definition that can be used"},
		},
		operands: []flag{{kind: oneWord, values: words(defsWords...)}, {kind: aFile}},
		run:      e.defs,
	}}
}

// defsFlags are those of defs alone.
func (s *settings) defsFlags() []flag {
	return allIn(readGroup, []string{"defs"},
		flag{name: "output", short: "o", arg: "PACK", kind: aFile, set: put(&s.output), help: "collect: the .zip archive to write"},
		s.forceFlag("collect: replace PACK if it is a pack"),
		flag{name: "tree", kind: onOff, set: put(&s.tree), help: "show: expand all fields, as schema --tree does"},
		s.jsonFlag().in(nil, "list, which: print JSON"),
	)
}

// defs collects, lists, shows and explains definitions.
func (e *env) defs(c *cli.Context) error {
	word, rest := c.Args().First(), c.Args().Tail()
	if word == "" {
		return usage("type: bagconv defs which IN", "defs needs one of the words %s", orList(defsWords))
	}
	if err := oneOf("defs", word, defsWords...); err != nil {
		return err
	}
	for name, of := range map[string][]string{"output": {"collect"}, "force": {"collect"}, "tree": {"show"}, "json": {"list", "which"}} {
		if c.IsSet(name) && !slices.Contains(of, word) {
			return usage("omit it", "--%s has no effect with defs %s", name, word)
		}
	}
	switch word {
	case "collect":
		return e.collect(c.Context, rest)
	case "list":
		return e.listDefinitions(c.Context, rest)
	case "show":
		if len(rest) == 0 {
			return usage("type: bagconv defs show TYPE", "defs show needs the name of a type")
		}
		return e.showDefinition(c.Context, rest[0], rest[1:])
	}
	if len(rest) != 1 {
		return usage("type: bagconv defs which IN", "defs which takes one recording, not %d", len(rest))
	}
	return e.whichDefinitions(c.Context, rest[0])
}

// defsJSON is what defs list and defs which print.
type defsJSON struct {
	SchemaVersion int            `json:"schema_version"`
	Path          string         `json:"path"`        // of which; "" of list
	Definitions   []defset.Entry `json:"definitions"` // of list
	Topics        []whichJSON    `json:"topics"`      // of which
}

// whichJSON is the definition of a topic.
type whichJSON struct {
	Name       string    `json:"name"`
	Type       string    `json:"type"`
	Encoding   string    `json:"encoding"`
	Definition string    `json:"definition"` // "file", "builtin humble", "given PATH", "none"
	Layout     string    `json:"layout"`     // schema.Layout; "" if it is no ROS type
	Why        []string  `json:"why"`
	Tried      int       `json:"tried_messages"`
	Candidates []tryJSON `json:"candidates"` // that were tried on messages, in the order of preference
}

type tryJSON struct {
	Place   string `json:"place"`
	Layout  string `json:"layout"`
	Fits    bool   `json:"fits"`
	Misfits int    `json:"misfits"` // messages that it does not fit
	Broke   string `json:"broke"`   // where it did not fit first
	Doubt   string `json:"doubt"`   // what was odd first
	Used    bool   `json:"used"`
}

// listDefinitions lists what places define.
func (e *env) listDefinitions(ctx context.Context, paths []string) error {
	if len(paths)+len(e.set.job.Definitions) == 0 {
		return usage("type: bagconv defs list IN...", "no input given")
	}
	set, err := e.merged(ctx, paths)
	if err != nil {
		return err
	}
	entries := set.Entries(standardTypes(e.set.job.Distro))
	if e.set.json {
		return writeJSON(e.Out, defsJSON{SchemaVersion: schemaVersion, Definitions: entries, Topics: []whichJSON{}})
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "type\tkind\tlayout\tmd5sum\ttype hash\tfrom")
	for _, d := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", clean(d.Type), d.Kind, short(d.Layout), short(d.MD5), short(strings.TrimPrefix(d.RIHS01, "RIHS01_")), clean(d.File))
	}
	return w.Flush()
}

// short returns the beginning of a sum, "-" if there is none.
func short(sum string) string {
	if sum == "" {
		return "-"
	}
	return sum[:min(len(sum), 12)]
}

// showDefinition prints the definition of a type.
func (e *env) showDefinition(ctx context.Context, name string, paths []string) error {
	all, err := e.merged(ctx, paths)
	if err != nil {
		return err
	}
	first, others := all.First(name)
	for _, from := range others {
		e.say("%s has another definition, too: %s", clean(name), clean(from))
	}
	found, err := defset.Find([]*defset.Set{first}, name, strings.Count(name, "/") == 1, standardTypes(e.set.job.Distro))
	switch {
	case err != nil:
		return err
	case found == nil:
		return &failure{path: name, what: "no place defines this type, and it is not a standard one", hint: "ROS 2 types are pkg/msg/Type, ROS 1 types pkg/Type; --defs names a place, and bagconv defs list what it has"}
	case !e.set.tree:
		_, err = io.WriteString(e.Out, e.forReader(found.Text()))
		return err
	}
	fields, err := found.Tree()
	if err != nil {
		return err
	}
	var b strings.Builder
	writeNode(&b, fields, 0)
	_, err = io.WriteString(e.Out, e.forReader(b.String()))
	return err
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
	out := defsJSON{SchemaVersion: schemaVersion, Path: path, Definitions: []defset.Entry{}, Topics: []whichJSON{}}
	var ended outcome
	for i := range info.Topics {
		w := whichOf(mapper, known.Evidence, &info.Topics[i].Topic)
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

func whichOf(mapper *mapping.Mapper, evidence *mapping.Evidence, t *storage.Topic) whichJSON {
	w := whichJSON{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Definition: "none", Why: []string{}, Candidates: []tryJSON{}}
	tries, n := evidence.Tries(t)
	w.Tried = n
	for _, x := range tries {
		w.Candidates = append(w.Candidates, tryJSON{Place: x.Place, Layout: x.Layout, Fits: x.Misfits == 0, Misfits: x.Misfits, Broke: x.Broke, Doubt: x.Doubt, Used: x.Used})
	}
	d, err := mapper.Define(t)
	if err != nil {
		w.Why = append(w.Why, err.Error())
		return w
	}
	if w.Definition = d.Origin; d.ROS != nil {
		w.Layout = schema.Layout(d.ROS)
	}
	for _, m := range d.Remarks {
		w.Why = append(w.Why, m.Message)
	}
	if len(w.Why) == 0 {
		w.Why = append(w.Why, ownReason(t))
	}
	return w
}

// ownReason explains why a recording's own definition is used.
func ownReason(t *storage.Topic) string {
	sum := t.Metadata[storage.MetaMD5Sum]
	switch {
	case t.Encoding == "cdr" && strings.HasPrefix(t.Metadata[storage.MetaTypeHash], "RIHS01_"):
		return "the recording's own, which has the type hash of the topic"
	case t.Encoding == "ros1" && sum != "" && sum != "*":
		return "the recording's own, which has the md5sum of the topic"
	case t.Encoding == "ros1" || t.Encoding == "cdr":
		return "the recording's own; it has no sum to compare with"
	}
	return "the recording's own"
}

func (e *env) writeWhich(topics []whichJSON) error {
	var b strings.Builder
	for _, t := range topics {
		fmt.Fprintf(&b, "%s  %s [%s]  %s\n", clean(t.Name), clean(t.Type), clean(t.Encoding), clean(t.Definition))
		for _, why := range t.Why {
			fmt.Fprintf(&b, "    %s\n", clean(why))
		}
		for _, c := range t.Candidates {
			mark, text := "-", "does not fit: "+c.Broke
			switch {
			case c.Fits && c.Doubt == "":
				mark, text = "+", "fits"
			case c.Fits:
				mark, text = "?", "fits, but: "+c.Doubt
			}
			fmt.Fprintf(&b, "  %s %s: %s\n", mark, clean(c.Place), clean(text))
		}
	}
	_, err := io.WriteString(e.Out, b.String())
	return err
}
